// cuGetExportTable: the seam for other libraries.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "tools/simgpu/driver/allocation.h"
#include "tools/simgpu/driver/driver.h"
#include "tools/simgpu/driver/seam.h"
#include "tools/simgpu/driver/stream.h"
#include "tools/simgpu/machine/shadow.h"

namespace simgpu::driver::api {
namespace {

CUresult enqueue_work(CUstream stream, const char* name, CUresult (*run)(void* data), void* data,
                      void (*release)(void* data)) {
  return enter("simgpu_seam.enqueue", {}, [&] {
    require(name != nullptr && run != nullptr);
    HostWork work{.name = name, .run = [run, data] { return run(data); }};
    const auto to = stream_of(stream);
    // Held here too until it is known whether the stream has taken it.
    const auto is_taken = std::make_shared<std::atomic<bool>>(false);
    if (release != nullptr)
      work.keep = std::shared_ptr<void>(data, [release, is_taken](void* last) {
        if (*is_taken) release(last);
      });
    const std::shared_ptr<void> held = work.keep;
    submit(to, std::move(work));
    *is_taken = true;
  });
}

CUresult check_range(CUdeviceptr address, std::size_t bytes, const char* what) {
  if (bytes == 0 || driver().memory->is_allocated(address, bytes)) return CUDA_SUCCESS;
  tell(describe_access(address, bytes, what));
  return CUDA_ERROR_ILLEGAL_ADDRESS;
}

CUresult check_written(CUdeviceptr address, std::size_t bytes, const char* what) {
  const CUresult result = check_range(address, bytes, what);
  if (result != CUDA_SUCCESS || bytes == 0) return result;
  const std::uint8_t* states = driver().memory->shadow(address);
  const auto* first = std::find_if(
      states, states + bytes, [](std::uint8_t state) { return (state & state_initialised) == 0; });
  if (first == states + bytes) return CUDA_SUCCESS;
  tell(fmt::format("{}: byte {} of {} at {:#x} was never written: {}", what, first - states, bytes,
                   address, describe(address)));
  return CUDA_ERROR_LAUNCH_FAILED;
}

void set_written(CUdeviceptr address, std::size_t bytes) {
  if (bytes != 0) driver().memory->set_initialised(address, bytes);
}

constexpr simgpu_seam seam{sizeof(simgpu_seam), enqueue_work, check_written, check_range,
                           set_written};

}  // namespace

void cuGetExportTable(const void** exported, const CUuuid* id) {
  require(exported != nullptr && id != nullptr);
  *exported = nullptr;
  require(std::memcmp(id->bytes, simgpu_seam_id.bytes, sizeof id->bytes) == 0,
          CUDA_ERROR_NOT_FOUND);
  *exported = &seam;
}

}  // namespace simgpu::driver::api
