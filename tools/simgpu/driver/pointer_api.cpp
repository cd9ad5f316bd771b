// cuPointer*: what is known of an address.
#include <cstring>

#include "tools/simgpu/driver/allocation.h"
#include "tools/simgpu/driver/driver.h"

namespace simgpu::driver {
namespace {

template <class T>
void answer(void* data, T value) {
  std::memcpy(data, &value, sizeof value);
}

/// What an address is of: a block, or memory of the host that the program registered.
struct Place {
  const Block* block = nullptr;
  const std::pair<const std::uint64_t, Registration>* registration = nullptr;
  bool is_host() const { return registration != nullptr || block->is_host; }
  CUdeviceptr first() const { return block != nullptr ? block->address : registration->first; }
  std::size_t bytes() const { return block != nullptr ? block->bytes : registration->second.bytes; }
};

void answer_of(void* data, CUpointer_attribute attribute, CUdeviceptr address, const Place& place) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return answer(data, place.block != nullptr && place.block->context
                              ? place.block->context->handle
                              : CUcontext{});
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return answer(
          data, static_cast<unsigned>(place.is_host() ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE));
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return answer(data, address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER: require(place.is_host()); return answer(data, address);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      require(place.block != nullptr);
      return answer(data, static_cast<unsigned long long>(place.block->id));
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: return answer(data, false);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: return answer(data, false);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return answer(data, 0);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: return answer(data, place.first());
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: return answer(data, place.bytes());
    case CU_POINTER_ATTRIBUTE_MAPPED: return answer(data, true);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: return answer(data, false);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: return answer(data, 0ull);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return answer(data, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return answer(data, place.block != nullptr && place.block->pool ? place.block->pool->handle
                                                                      : CUmemoryPool{});
    default: refuse(CUDA_ERROR_INVALID_VALUE);
  }
}

Place place_of(CUdeviceptr address) {
  return {block_at(address), registration_at(reinterpret_cast<const void*>(address), 1)};
}

}  // namespace

namespace api {

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  require(data != nullptr);
  current_context();
  const Place place = place_of(address);
  require(place.block != nullptr || place.registration != nullptr);
  answer_of(data, attribute, address, place);
  return CUDA_SUCCESS;
}

/// An attribute that the address does not have is null, which is no error.
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** data,
                                CUdeviceptr address) {
  require(count != 0 && attributes != nullptr && data != nullptr);
  current_context();
  const Place place = place_of(address);
  for (unsigned i = 0; i < count; ++i) {
    const bool is_known = place.block != nullptr || place.registration != nullptr;
    const bool has_none =
        !is_known || (attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER && !place.is_host());
    if (!has_none) answer_of(data[i], attributes[i], address, place);
    else if (attributes[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE) answer(data[i], 0u);
    else if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) answer(data[i], -2);
    else if (attributes[i] == CU_POINTER_ATTRIBUTE_IS_MANAGED) answer(data[i], false);
    else answer(data[i], std::uint64_t{0});
  }
  return CUDA_SUCCESS;
}

}  // namespace api
}  // namespace simgpu::driver
