// cuMemPool*, cuMemAllocAsync, cuMemFreeAsync.
#include <cstring>

#include "tools/simgpu/driver/allocation.h"
#include "tools/simgpu/driver/capture.h"
#include "tools/simgpu/driver/driver.h"
#include "tools/simgpu/driver/stream.h"

namespace simgpu::driver {
namespace {

std::shared_ptr<Pool>& current_pool() {
  static auto& pool = *new std::shared_ptr<Pool>(default_pool());
  return pool;
}

CUresult allocate_from(const std::shared_ptr<Pool>& pool, CUdeviceptr* address, std::size_t bytes,
                       CUstream handle) {
  require(address != nullptr && bytes != 0);
  const auto stream = stream_of(handle);
  forbid_memory_node(*stream);
  if (pool->most != 0 && pool->used + bytes > pool->most) refuse(CUDA_ERROR_OUT_OF_MEMORY);
  Block& block = allocate(bytes, stream->context);
  block.pool = pool;
  pool->take(bytes);
  *address = block.address;
  return CUDA_SUCCESS;
}

/// Attributes that are counts of bytes; of the highest, programs may only write 0.
std::uint64_t* count_of(Pool& pool, CUmemPool_attribute attribute) {
  switch (attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: return &pool.release_threshold;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: return &pool.reserved;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: return &pool.reserved_high;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: return &pool.used;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: return &pool.used_high;
    default: return nullptr;
  }
}

bool is_reuse(CUmemPool_attribute attribute) {
  return attribute == CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES ||
         attribute == CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC ||
         attribute == CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

bool is_here(const CUmemLocation& location) {
  return location.type == CU_MEM_LOCATION_TYPE_DEVICE && location.id == 0;
}

}  // namespace

namespace api {

CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  return allocate_from(current_pool(), address, bytes, stream);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t bytes, CUmemoryPool pool,
                                 CUstream stream) {
  return allocate_from(get<Pool>(pool), address, bytes, stream);
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
  const auto stream = stream_of(handle);
  forbid_memory_node(*stream);
  Block* block = block_at(address);
  if (block == nullptr || block->address != address || block->is_host || block->is_being_freed)
    refuse(CUDA_ERROR_INVALID_VALUE, "not what was allocated: " + describe(address));
  block->is_being_freed = true;
  submit(stream, FreeWork{address, Call::current().origin().text()});
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  require_device(device);
  require(pool != nullptr);
  *pool = current_pool()->handle;
  return CUDA_SUCCESS;
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  require_device(device);
  current_pool() = get<Pool>(pool);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  require(pool != nullptr && properties != nullptr);
  require(properties->allocType == CU_MEM_ALLOCATION_TYPE_PINNED && is_here(properties->location));
  if (properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE)
    refuse(CUDA_ERROR_NOT_SUPPORTED, "the simulated GPU shares no memory between processes");
  auto made = std::make_shared<Pool>();
  made->most = properties->maxSize;
  *pool = table<Pool>().add(made);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool handle) {
  const auto pool = get<Pool>(handle);
  require(!pool->is_default);
  if (current_pool() == pool) current_pool() = default_pool();
  table<Pool>().remove(handle);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, std::size_t keep) {
  get<Pool>(pool)->trim(keep);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  require(value != nullptr);
  const auto pool = get<Pool>(handle);
  if (const std::uint64_t* count = count_of(*pool, attribute)) {
    std::memcpy(value, count, sizeof *count);
    return CUDA_SUCCESS;
  }
  require(is_reuse(attribute));
  const int is_on = pool->reuse.contains(attribute) ? 0 : 1;
  std::memcpy(value, &is_on, sizeof is_on);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  require(value != nullptr);
  const auto pool = get<Pool>(handle);
  if (is_reuse(attribute)) {
    int is_on = 0;
    std::memcpy(&is_on, value, sizeof is_on);
    if (is_on != 0) pool->reuse.erase(attribute);
    else pool->reuse.insert(attribute);
    return CUDA_SUCCESS;
  }
  cuuint64_t wanted = 0;
  std::memcpy(&wanted, value, sizeof wanted);
  switch (attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: pool->release_threshold = wanted; break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      require(wanted == 0);
      pool->reserved_high = pool->reserved;
      break;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      require(wanted == 0);
      pool->used_high = pool->used;
      break;
    default: refuse(CUDA_ERROR_INVALID_VALUE);
  }
  return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* access, std::size_t count) {
  get<Pool>(pool);
  require(access != nullptr || count == 0);
  for (std::size_t i = 0; i < count; ++i)
    require(is_here(access[i].location) && access[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* location) {
  require(flags != nullptr && location != nullptr);
  get<Pool>(pool);
  require(is_here(*location));
  *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return CUDA_SUCCESS;
}

}  // namespace api
}  // namespace simgpu::driver
