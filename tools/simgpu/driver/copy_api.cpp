// cuMemcpy*, cuMemset*, as the asynchronous forms; the others are those, waited for.
#include "tools/simgpu/driver/copy.h"

namespace simgpu::driver::api {
namespace {

constexpr CUmemorytype host = CU_MEMORYTYPE_HOST, device = CU_MEMORYTYPE_DEVICE,
                       unified = CU_MEMORYTYPE_UNIFIED;

CUDA_MEMCPY3D line(CUmemorytype to, CUmemorytype from, std::size_t bytes) {
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = from;
  copy.dstMemoryType = to;
  copy.WidthInBytes = bytes;
  copy.Height = copy.Depth = 1;
  return copy;
}

void copy_line(CUstream stream, CUmemorytype to_type, CUdeviceptr to, CUmemorytype from_type,
               CUdeviceptr from, std::size_t bytes) {
  CUDA_MEMCPY3D copy = line(to_type, from_type, bytes);
  copy.srcDevice = from;
  copy.dstDevice = to;
  copy.srcHost = reinterpret_cast<const void*>(from);
  copy.dstHost = reinterpret_cast<void*>(to);
  submit_copy(stream_of(stream), copy);
}

void set(CUstream stream, const CUDA_MEMSET_NODE_PARAMS& set) {
  submit_set(stream_of(stream), set);
}

CUdeviceptr address_of(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

}  // namespace

void cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  copy_line(stream, unified, to, unified, from, bytes);
}
void cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  copy_line(stream, device, to, host, address_of(from), bytes);
}
void cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  copy_line(stream, host, address_of(to), device, from, bytes);
}
void cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  copy_line(stream, device, to, device, from, bytes);
}
void cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                       CUcontext from_context, std::size_t bytes, CUstream stream) {
  get<Context>(to_context);
  get<Context>(from_context);
  copy_line(stream, device, to, device, from, bytes);
}
void cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* two, CUstream stream) {
  require(two != nullptr);
  CUDA_MEMCPY3D copy = line(two->dstMemoryType, two->srcMemoryType, two->WidthInBytes);
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
  submit_copy(stream_of(stream), copy);
}
void cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* copy, CUstream stream) {
  require(copy != nullptr);
  submit_copy(stream_of(stream), *copy);
}

void cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
  set(stream, {to, 0, value, 1, count, 1});
}
void cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count, CUstream stream) {
  set(stream, {to, 0, value, 2, count, 1});
}
void cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream) {
  set(stream, {to, 0, value, 4, count, 1});
}
void cuMemsetD2D8Async(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                       std::size_t height, CUstream stream) {
  set(stream, {to, pitch, value, 1, width, height});
}
void cuMemsetD2D16Async(CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t width,
                        std::size_t height, CUstream stream) {
  set(stream, {to, pitch, value, 2, width, height});
}
void cuMemsetD2D32Async(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                        std::size_t height, CUstream stream) {
  set(stream, {to, pitch, value, 4, width, height});
}

}  // namespace simgpu::driver::api
