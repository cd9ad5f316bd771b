// cuMemPool*, cuMemAllocAsync, cuMemFreeAsync.
#include <cstring>

#include "tools/simgpu/driver/allocation.h"
#include "tools/simgpu/driver/capture.h"
#include "tools/simgpu/driver/stream.h"

namespace simgpu::driver::api {
namespace {

std::shared_ptr<Pool>& current_pool() {
  static auto& pool = *new std::shared_ptr<Pool>(default_pool());
  return pool;
}

CUdeviceptr allocate_from(const std::shared_ptr<Pool>& pool, std::size_t bytes, CUstream handle) {
  const auto stream = stream_of(handle);
  forbid_memory_node(*stream);
  if (bytes == 0) return 0;
  if (pool->most != 0 && pool->used + bytes > pool->most) refuse(CUDA_ERROR_OUT_OF_MEMORY);
  MemoryBlock& block = allocate(bytes, stream->context);
  block.pool = pool;
  pool->take(bytes);
  return block.address;
}

/// Attributes that are counts of bytes.
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

CUdeviceptr cuMemAllocAsync(std::size_t bytes, CUstream stream) {
  return allocate_from(current_pool(), bytes, stream);
}

CUdeviceptr cuMemAllocFromPoolAsync(std::size_t bytes, CUmemoryPool pool, CUstream stream) {
  return allocate_from(get<Pool>(pool), bytes, stream);
}

void cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
  const auto stream = stream_of(handle);
  forbid_memory_node(*stream);
  if (address == 0) return;
  MemoryBlock& block = block_to_free(address, MemoryKind::device);
  block.is_being_freed = true;
  submit(stream, FreeWork{address, block.id, Call::current().origin().text()});
}

CUmemoryPool cuDeviceGetDefaultMemPool() { return default_pool()->handle; }

CUmemoryPool cuDeviceGetMemPool() { return current_pool()->handle; }

void cuDeviceSetMemPool(CUmemoryPool pool) { current_pool() = get<Pool>(pool); }

CUmemoryPool cuMemPoolCreate(const CUmemPoolProps* properties) {
  require(properties != nullptr);
  require(properties->allocType == CU_MEM_ALLOCATION_TYPE_PINNED && is_here(properties->location));
  if (properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE)
    refuse(CUDA_ERROR_NOT_SUPPORTED, "the simulated GPU shares no memory between processes");
  auto made = std::make_shared<Pool>();
  made->most = properties->maxSize;
  return table<Pool>().add(made);
}

void cuMemPoolDestroy(CUmemoryPool handle) {
  const auto pool = get<Pool>(handle);
  require(pool != default_pool());
  if (current_pool() == pool) current_pool() = default_pool();
  table<Pool>().remove(handle);
}

void cuMemPoolTrimTo(CUmemoryPool pool, std::size_t keep) { get<Pool>(pool)->trim(keep); }

void cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  require(value != nullptr);
  const auto pool = get<Pool>(handle);
  if (const std::uint64_t* count = count_of(*pool, attribute)) {
    std::memcpy(value, count, sizeof *count);
    return;
  }
  require(is_reuse(attribute));
  const int is_on = pool->forbidden.contains(attribute) ? 0 : 1;
  std::memcpy(value, &is_on, sizeof is_on);
}

void cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  require(value != nullptr);
  const auto pool = get<Pool>(handle);
  if (is_reuse(attribute)) {
    int is_on = 0;
    std::memcpy(&is_on, value, sizeof is_on);
    if (is_on != 0) pool->forbidden.erase(attribute);
    else pool->forbidden.insert(attribute);
    return;
  }
  cuuint64_t wanted = 0;
  std::memcpy(&wanted, value, sizeof wanted);
  if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) {
    pool->release_threshold = wanted;
    return;
  }
  // Of the highest counts, programs may only write 0.
  require(wanted == 0);
  if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH) pool->reserved_high = pool->reserved;
  else if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH) pool->used_high = pool->used;
  else refuse(CUDA_ERROR_INVALID_VALUE);
}

void cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* access, std::size_t count) {
  get<Pool>(pool);
  require(access != nullptr || count == 0);
  for (std::size_t i = 0; i < count; ++i)
    require(is_here(access[i].location) && access[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}

CUmemAccess_flags cuMemPoolGetAccess(CUmemoryPool pool, CUmemLocation* location) {
  require(location != nullptr);
  get<Pool>(pool);
  require(is_here(*location));
  return CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

}  // namespace simgpu::driver::api
