// cuMem*: allocation; cuPointer*: what is known of an address.
#include <algorithm>
#include <cstring>
#include <tuple>

#include "tools/simgpu/code/round_up.h"
#include "tools/simgpu/driver/allocation.h"
#include "tools/simgpu/driver/capture.h"
#include "tools/simgpu/driver/driver.h"
#include "tools/simgpu/driver/stream.h"

namespace simgpu::driver::api {
namespace {

constexpr unsigned host_flags =
    CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
constexpr unsigned register_flags =
    CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_READ_ONLY;

CUdeviceptr address_of(const void* host) { return reinterpret_cast<CUdeviceptr>(host); }

const MemoryBlock& host_block(const void* host) {
  current_context();
  const MemoryBlock* block = block_at(address_of(host));
  require(block != nullptr && block->is_host());
  return *block;
}

/// As the driver does, so that no work loses its memory.
void free_now(const MemoryBlock& block) {
  // Another thread may free the block meanwhile.
  const auto [address, id, context] = std::tuple(block.address, block.id, block.context);
  forbid_in_capture();
  quiesce(context);
  require(is_there(address, id));
  release(address, Call::current().origin().text());
}

template <class T>
void answer(void* data, T value) {
  std::memcpy(data, &value, sizeof value);
}

void answer_of(void* data, CUpointer_attribute attribute, CUdeviceptr address,
               const MemoryBlock& block) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return answer(data, block.context ? block.context->handle : CUcontext{});
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return answer(
          data, static_cast<unsigned>(block.is_host() ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE));
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return answer(data, address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER: require(block.is_host()); return answer(data, address);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: return answer(data, block.id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: return answer(data, false);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return answer(data, 0);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: return answer(data, block.address);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: return answer(data, block.bytes);
    case CU_POINTER_ATTRIBUTE_MAPPED: return answer(data, true);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: return answer(data, 0ull);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return answer(data, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return answer(data, block.pool ? block.pool->handle : CUmemoryPool{});
    default: refuse(CUDA_ERROR_INVALID_VALUE);
  }
}

/// Of an attribute that the address does not have: null, which is no error.
void answer_none(void* data, CUpointer_attribute attribute) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: return answer(data, 0u);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return answer(data, -2);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: return answer(data, false);
    default: return answer(data, std::uint64_t{0});
  }
}

}  // namespace

void cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  require(free != nullptr && total != nullptr);
  current_context();
  *total = driver().memory->capacity();
  *free = *total - std::min(*total, driver().memory->bytes_in_use() - host_bytes());
}

CUdeviceptr cuMemAlloc_v2(std::size_t bytes) {
  const auto context = current_context();
  forbid_in_capture();
  return allocate(bytes, context).address;
}

void cuMemAllocPitch_v2(CUdeviceptr* address, std::size_t* pitch, std::size_t width,
                        std::size_t height, unsigned element) {
  constexpr std::size_t unit = 512;
  require(address != nullptr && pitch != nullptr && width != 0 && height != 0);
  require(element == 4 || element == 8 || element == 16);
  require(width <= 0x7fff'ffff);
  *pitch = round_up(width, unit);
  require(height <= SIZE_MAX / *pitch, CUDA_ERROR_OUT_OF_MEMORY);
  *address = api::cuMemAlloc_v2(*pitch * height);
}

void cuMemFree_v2(CUdeviceptr address) {
  if (address == 0) return;
  current_context();
  free_now(block_to_free(address, MemoryKind::device));
}

void cuMemGetAddressRange_v2(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr address) {
  current_context();
  const MemoryBlock* block = block_at(address);
  require(block != nullptr && block->kind != MemoryKind::registered, CUDA_ERROR_NOT_FOUND);
  if (base != nullptr) *base = block->address;
  if (bytes != nullptr) *bytes = block->bytes;
}

void* cuMemHostAlloc(std::size_t bytes, unsigned flags) {
  require((flags & ~host_flags) == 0);
  const auto context = current_context();
  forbid_in_capture();
  MemoryBlock& block = allocate(bytes, context, MemoryKind::pinned);
  block.flags = flags | CU_MEMHOSTALLOC_DEVICEMAP;
  return reinterpret_cast<void*>(block.address);
}

void cuMemFreeHost(void* host) {
  if (host == nullptr) return;
  current_context();
  free_now(block_to_free(address_of(host), MemoryKind::pinned));
}

void cuMemHostRegister_v2(void* host, std::size_t bytes, unsigned flags) {
  require(host != nullptr && bytes != 0);
  if ((flags & ~register_flags) != 0)
    refuse(CUDA_ERROR_NOT_SUPPORTED, "the simulated GPU registers no memory of devices");
  const auto context = current_context();
  forbid_in_capture();
  require(address_of(host) + bytes > address_of(host));
  register_host(address_of(host), bytes, flags, context);
}

void cuMemHostUnregister(void* host) {
  current_context();
  free_now(block_to_free(address_of(host), MemoryKind::registered,
                         CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED));
}

CUdeviceptr cuMemHostGetDevicePointer_v2(void* host, unsigned flags) {
  require(flags == 0);
  host_block(host);
  return address_of(host);
}

unsigned cuMemHostGetFlags(void* host) { return host_block(host).flags; }

CUdeviceptr cuMemAllocManaged(std::size_t, unsigned) {
  refuse(CUDA_ERROR_NOT_SUPPORTED, "the simulated GPU has no managed memory");
}

void cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  require(data != nullptr);
  current_context();
  const MemoryBlock* block = block_at(address);
  require(block != nullptr);
  answer_of(data, attribute, address, *block);
}

void cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** data,
                            CUdeviceptr address) {
  require(count != 0 && attributes != nullptr && data != nullptr);
  current_context();
  const MemoryBlock* block = block_at(address);
  for (unsigned i = 0; i < count; ++i) {
    const bool has_it = block != nullptr &&
                        (block->is_host() || attributes[i] != CU_POINTER_ATTRIBUTE_HOST_POINTER);
    if (has_it) answer_of(data[i], attributes[i], address, *block);
    else answer_none(data[i], attributes[i]);
  }
}

}  // namespace simgpu::driver::api
