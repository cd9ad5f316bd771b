/* For libraries that stand in for others on the simulated GPU (a cuBLASLt, an NCCL): how they put
 * work of the host into a stream as if it were the device's. C, with nothing to link: the functions
 * are found through cuGetExportTable of the libcuda.so.1 that the process has.
 *
 *     const struct simgpu_seam *seam;
 *     if (cuGetExportTable((const void **)&seam, &simgpu_seam_id) != CUDA_SUCCESS) ...
 *
 * Work that is enqueued runs in stream order on a thread of its own, so that it may wait for the
 * work of other streams; a stream that captures makes a node of its graph of it, which runs at each
 * launch. What it reads and writes of the device it says first: that is checked as a kernel's
 * accesses are. Neither it nor `release` makes calls of the Driver API. Whether a stream captures,
 * cuStreamGetCaptureInfo says.
 */
#pragma once

#include <cuda.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

static const CUuuid simgpu_seam_id = {
    {'s', 'i', 'm', 'g', 'p', 'u', ' ', 's', 'e', 'a', 'm', ' ', 'n', 'o', ' ', '1'}};

struct simgpu_seam { /* NOLINT(readability-identifier-naming): C's names are of one kind */
  size_t size;       /* of this structure, in bytes: later versions only add to its end */

  /* `name` is what people are told. `run` gives CUDA_SUCCESS or the error that its context is left
   * with. `release`, which may be null, is called once, when `data` is no longer needed: after the
   * work, or when the last graph with it is gone. Errors are those of cuLaunchHostFunc; then
   * nothing was enqueued, and `release` is not called. */
  CUresult (*enqueue)(CUstream stream, const char* name, CUresult (*run)(void* data), void* data,
                      void (*release)(void* data));

  /* Of work while it runs, and of calls before: whether all of the range is in one allocation, and
   * for reads, whether all of it was written. CUDA_ERROR_ILLEGAL_ADDRESS, or
   * CUDA_ERROR_LAUNCH_FAILED for what nobody wrote; people are told why. */
  CUresult (*check_read)(CUdeviceptr address, size_t bytes, const char* what);
  CUresult (*check_write)(CUdeviceptr address, size_t bytes, const char* what);
  /* Of work that has written: the range is initialised. */
  void (*wrote)(CUdeviceptr address, size_t bytes);
};

#ifdef __cplusplus
}
#endif
