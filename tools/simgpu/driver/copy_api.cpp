// cuMemcpy*, cuMemset*.
#include "tools/simgpu/driver/allocation.h"
#include "tools/simgpu/driver/copy.h"

namespace simgpu::driver {
namespace {

constexpr CUmemorytype host = CU_MEMORYTYPE_HOST, device = CU_MEMORYTYPE_DEVICE,
                       unified = CU_MEMORYTYPE_UNIFIED;

CUDA_MEMCPY3D device_line(CUmemorytype from, CUdeviceptr source, CUmemorytype to,
                          CUdeviceptr destination, std::size_t bytes) {
  CUDA_MEMCPY3D copy = line(from, to, bytes);
  copy.srcDevice = source;
  copy.dstDevice = destination;
  copy.srcHost = reinterpret_cast<const void*>(source);
  copy.dstHost = reinterpret_cast<void*>(destination);
  return copy;
}

CUresult run(const CUDA_MEMCPY3D& copy, Manner manner, CUstream stream = nullptr) {
  submit_copy(stream_of(stream), copy, manner);
  return CUDA_SUCCESS;
}

CUDA_MEMCPY3D in_three(const CUDA_MEMCPY2D* two) {
  require(two != nullptr);
  CUDA_MEMCPY3D copy = line(two->srcMemoryType, two->dstMemoryType, two->WidthInBytes);
  copy.Height = two->Height;
  copy.srcXInBytes = two->srcXInBytes;
  copy.srcY = two->srcY;
  copy.srcHost = two->srcHost;
  copy.srcDevice = two->srcDevice;
  copy.srcPitch = two->srcPitch;
  copy.dstXInBytes = two->dstXInBytes;
  copy.dstY = two->dstY;
  copy.dstHost = two->dstHost;
  copy.dstDevice = two->dstDevice;
  copy.dstPitch = two->dstPitch;
  return copy;
}

CUDA_MEMSET_NODE_PARAMS row(CUdeviceptr to, unsigned value, unsigned element, std::size_t count) {
  return {to, 0, value, element, count, 1};
}

CUresult set(const CUDA_MEMSET_NODE_PARAMS& set, Manner manner, CUstream handle = nullptr) {
  const auto stream = stream_of(handle);
  check_set(set);
  if (set.width == 0 || set.height == 0) return CUDA_SUCCESS;
  const Block* block = block_at(set.dst);  // none of registered memory
  const bool waits = manner == Manner::synchronous && (block == nullptr || block->is_host);
  if (waits && !stream->capture) {
    wait_for({enqueue(stream, SetWork{set})});
    require_no_error(*stream->context);
  } else {
    submit(stream, SetWork{set});
  }
  return CUDA_SUCCESS;
}

CUdeviceptr address_of(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

}  // namespace

namespace api {

using enum Manner;

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return run(device_line(unified, from, unified, to, bytes), synchronous);
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes) {
  return run(device_line(host, address_of(from), device, to, bytes), synchronous);
}
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  return run(device_line(device, from, host, address_of(to), bytes), synchronous);
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return run(device_line(device, from, device, to, bytes), synchronous);
}
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, std::size_t bytes) {
  return api::cuMemcpyDtoD_v2(to, from, bytes);
}
CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* copy) { return run(in_three(copy), synchronous); }
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* copy) { return api::cuMemcpy2D_v2(copy); }
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* copy) {
  require(copy != nullptr);
  return run(*copy, synchronous);
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return run(device_line(unified, from, unified, to, bytes), asynchronous, stream);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes,
                              CUstream stream) {
  return run(device_line(host, address_of(from), device, to, bytes), asynchronous, stream);
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return run(device_line(device, from, host, address_of(to), bytes), asynchronous, stream);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                              CUstream stream) {
  return run(device_line(device, from, device, to, bytes), asynchronous, stream);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext,
                           std::size_t bytes, CUstream stream) {
  return api::cuMemcpyDtoDAsync_v2(to, from, bytes, stream);
}
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return run(in_three(copy), asynchronous, stream);
}
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* copy, CUstream stream) {
  require(copy != nullptr);
  return run(*copy, asynchronous, stream);
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, std::size_t count) {
  return set(row(to, value, 1, count), synchronous);
}
CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, std::size_t count) {
  return set(row(to, value, 2, count), synchronous);
}
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, std::size_t count) {
  return set(row(to, value, 4, count), synchronous);
}
CUresult cuMemsetD2D8_v2(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                         std::size_t height) {
  return set({to, pitch, value, 1, width, height}, synchronous);
}
CUresult cuMemsetD2D16_v2(CUdeviceptr to, std::size_t pitch, unsigned short value,
                          std::size_t width, std::size_t height) {
  return set({to, pitch, value, 2, width, height}, synchronous);
}
CUresult cuMemsetD2D32_v2(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                          std::size_t height) {
  return set({to, pitch, value, 4, width, height}, synchronous);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
  return set(row(to, value, 1, count), asynchronous, stream);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count,
                          CUstream stream) {
  return set(row(to, value, 2, count), asynchronous, stream);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream) {
  return set(row(to, value, 4, count), asynchronous, stream);
}
CUresult cuMemsetD2D8Async(CUdeviceptr to, std::size_t pitch, unsigned char value,
                           std::size_t width, std::size_t height, CUstream stream) {
  return set({to, pitch, value, 1, width, height}, asynchronous, stream);
}
CUresult cuMemsetD2D16Async(CUdeviceptr to, std::size_t pitch, unsigned short value,
                            std::size_t width, std::size_t height, CUstream stream) {
  return set({to, pitch, value, 2, width, height}, asynchronous, stream);
}
CUresult cuMemsetD2D32Async(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                            std::size_t height, CUstream stream) {
  return set({to, pitch, value, 4, width, height}, asynchronous, stream);
}

}  // namespace api
}  // namespace simgpu::driver
