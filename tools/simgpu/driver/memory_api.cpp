// cuMem*: allocation, and what is known of pointers.
#include <algorithm>

#include "tools/simgpu/driver/allocation.h"
#include "tools/simgpu/driver/capture.h"
#include "tools/simgpu/driver/driver.h"
#include "tools/simgpu/driver/stream.h"

namespace simgpu::driver {
namespace {

constexpr unsigned host_flags =
    CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
constexpr unsigned register_flags =
    CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_READ_ONLY;

CUdeviceptr address_of(const void* host) { return reinterpret_cast<CUdeviceptr>(host); }

/// A block that begins at an address, for its end.
Block& block_to_free(CUdeviceptr address, bool is_host) {
  Block* block = block_at(address);
  if (block == nullptr || block->address != address || block->is_host != is_host)
    refuse(CUDA_ERROR_INVALID_VALUE, "not what was allocated: " + describe(address));
  return *block;
}

/// As the driver does, so that no work loses its memory.
void free_now(const Block& block) {
  const CUdeviceptr address = block.address;
  forbid_in_capture();
  if (block.context) {
    const auto context = block.context;
    synchronise(context);
    require(block_at(address) != nullptr);  // another thread may have been quicker
  }
  release(address, Call::current().origin().text());
}

}  // namespace

namespace api {

CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  require(free != nullptr && total != nullptr);
  current_context();
  *total = driver().memory->capacity();
  *free = *total - std::min(*total, driver().memory->bytes_in_use() - host_bytes());
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
  require(address != nullptr);
  const auto context = current_context();
  forbid_in_capture();
  *address = allocate(bytes, context).address;
  return CUDA_SUCCESS;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* address, std::size_t* pitch, std::size_t width,
                            std::size_t height, unsigned element) {
  constexpr std::size_t unit = 512;
  require(address != nullptr && pitch != nullptr && width != 0 && height != 0);
  require(element == 4 || element == 8 || element == 16);
  require(width <= 0x7fff'ffff);
  const std::size_t row = (width + unit - 1) / unit * unit;
  require(height <= SIZE_MAX / row, CUDA_ERROR_OUT_OF_MEMORY);
  const CUresult result = api::cuMemAlloc_v2(address, row * height);
  *pitch = row;
  return result;
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  if (address == 0) return CUDA_SUCCESS;
  current_context();
  free_now(block_to_free(address, false));
  return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr address) {
  current_context();
  const Block* block = block_at(address);
  require(block != nullptr, CUDA_ERROR_NOT_FOUND);
  if (base != nullptr) *base = block->address;
  if (bytes != nullptr) *bytes = block->bytes;
  return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void** host, std::size_t bytes, unsigned flags) {
  require(host != nullptr && (flags & ~host_flags) == 0);
  const auto context = current_context();
  forbid_in_capture();
  Block& block = allocate(bytes, context, true);
  block.flags = flags | CU_MEMHOSTALLOC_DEVICEMAP;
  *host = reinterpret_cast<void*>(block.address);
  return CUDA_SUCCESS;
}

CUresult cuMemAllocHost_v2(void** host, std::size_t bytes) {
  return api::cuMemHostAlloc(host, bytes, 0);
}

CUresult cuMemFreeHost(void* host) {
  if (host == nullptr) return CUDA_SUCCESS;
  current_context();
  free_now(block_to_free(address_of(host), true));
  return CUDA_SUCCESS;
}

CUresult cuMemHostRegister_v2(void* host, std::size_t bytes, unsigned flags) {
  require(host != nullptr && bytes != 0);
  if ((flags & ~register_flags) != 0)
    refuse(CUDA_ERROR_NOT_SUPPORTED, "the simulated GPU registers no memory of devices");
  const auto context = current_context();
  forbid_in_capture();
  const CUdeviceptr address = address_of(host);
  require(address + bytes > address);
  for (const auto& [first, registration] : registrations())
    require(address + bytes <= first || first + registration.bytes <= address,
            CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  require(!driver().memory->holds(address, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  registrations()[address] = {bytes, flags, context};
  driver().memory->host().open({address, bytes, (flags & CU_MEMHOSTREGISTER_READ_ONLY) != 0,
                                Call::current().origin().text(), ""});
  return CUDA_SUCCESS;
}
CUresult cuMemHostRegister(void* host, std::size_t bytes, unsigned flags) {
  return api::cuMemHostRegister_v2(host, bytes, flags);
}

CUresult cuMemHostUnregister(void* host) {
  const auto context = current_context();
  require(registrations().contains(address_of(host)), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  forbid_in_capture();
  synchronise(context);
  registrations().erase(address_of(host));
  driver().memory->host().close(address_of(host), Call::current().origin().text());
  return CUDA_SUCCESS;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* host, unsigned flags) {
  require(address != nullptr && flags == 0);
  current_context();
  const Block* block = block_at(address_of(host));
  require(registration_at(host, 1) != nullptr || (block != nullptr && block->is_host));
  *address = address_of(host);
  return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags(unsigned* flags, void* host) {
  require(flags != nullptr);
  current_context();
  const Block* block = block_at(address_of(host));
  const auto* registration = registration_at(host, 1);
  require((block != nullptr && block->is_host) || registration != nullptr);
  *flags = registration != nullptr ? registration->second.flags : block->flags;
  return CUDA_SUCCESS;
}

CUresult cuMemAllocManaged(CUdeviceptr*, std::size_t, unsigned) {
  refuse(CUDA_ERROR_NOT_SUPPORTED, "the simulated GPU has no managed memory");
}

}  // namespace api
}  // namespace simgpu::driver
