#include "tools/simgpu/driver/allocation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tools/simgpu/driver/driver.h"

namespace simgpu::driver {
namespace {

using Blocks = std::map<CUdeviceptr, MemoryBlock>;
Blocks& blocks() {
  static auto& never_destroyed = *new Blocks;
  return never_destroyed;
}

MemoryBlock& add(MemoryBlock block) {
  static std::uint64_t blocks_made = 0;
  block.id = ++blocks_made;
  return blocks()[block.address] = std::move(block);
}

/// Of what is still there. After an error that stays, a program has no means to free anything.
bool is_leak(const MemoryBlock& block) {
  return block.context && block.kind != MemoryKind::registered &&
         block.context->sticky == CUDA_SUCCESS;
}

}  // namespace

void Pool::take(std::uint64_t bytes) {
  used += bytes;
  used_high = std::max(used_high, used);
  reserved = std::max(reserved, used);
  reserved_high = std::max(reserved_high, reserved);
}

void Pool::trim(std::uint64_t keep) { reserved = std::max(used, std::min(reserved, keep)); }

const std::shared_ptr<Pool>& default_pool() {
  static const auto& pool = *new std::shared_ptr<Pool>([] {
    auto made = std::make_shared<Pool>();
    table<Pool>().add(made);
    return made;
  }());
  return pool;
}

void trim_pools() {
  for (const auto& [handle, pool] : table<Pool>().objects()) pool->trim(pool->release_threshold);
}

MemoryBlock& allocate(std::size_t bytes, const std::shared_ptr<Context>& context, MemoryKind kind) {
  require(bytes != 0);
  require(bytes <= driver().memory->capacity(), CUDA_ERROR_OUT_OF_MEMORY);
  const auto address = driver().memory->allocate(bytes, Call::current().origin().text());
  if (!address) refuse(CUDA_ERROR_OUT_OF_MEMORY);
  // The host writes to its memory without saying so.
  if (kind == MemoryKind::pinned) driver().memory->set_initialised(*address, bytes);
  return add({.address = *address, .bytes = bytes, .kind = kind, .context = context});
}

void register_host(CUdeviceptr address, std::size_t bytes, unsigned flags,
                   const std::shared_ptr<Context>& context) {
  const auto after = blocks().lower_bound(address);
  const bool is_free = block_at(address) == nullptr && !driver().memory->holds(address, 0) &&
                       (after == blocks().end() || after->first - address >= bytes);
  require(is_free, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  add({.address = address,
       .bytes = bytes,
       .kind = MemoryKind::registered,
       .flags = flags,
       .context = context});
  driver().memory->host().open({address, bytes, (flags & CU_MEMHOSTREGISTER_READ_ONLY) != 0,
                                Call::current().origin().text(), ""});
}

void release(CUdeviceptr address, const std::string& freer) {
  const auto found = blocks().find(address);
  const MemoryBlock& block = found->second;
  if (block.pool) block.pool->give_back(block.bytes);
  if (block.kind == MemoryKind::registered) driver().memory->host().close(address, freer);
  else driver().memory->free(address, freer);
  blocks().erase(found);
}

void release_all_of(const Context& context) {
  std::vector<MemoryBlock> its;
  for (const auto& [address, block] : blocks())
    if (block.context.get() == &context) its.push_back(block);
  for (const MemoryBlock& block : its) {
    if (is_leak(block))
      tell(describe(block.address) + " was never freed, and goes with its context");
    release(block.address, Call::current().name());
  }
}

MemoryBlock* block_at(CUdeviceptr address) {
  const auto after = blocks().upper_bound(address);
  if (after == blocks().begin()) return nullptr;
  MemoryBlock& before = std::prev(after)->second;
  return before.holds(1, address) ? &before : nullptr;
}

bool is_there(CUdeviceptr address, std::uint64_t id) {
  const auto found = blocks().find(address);
  return found != blocks().end() && found->second.id == id;
}

MemoryBlock& block_to_free(CUdeviceptr address, MemoryKind kind, CUresult code) {
  MemoryBlock* block = block_at(address);
  if (block == nullptr || block->address != address || block->kind != kind)
    refuse(code, "nothing of that kind begins there: " + describe(address));
  if (block->is_being_freed) refuse(code, "it is being freed: " + describe(address));
  return *block;
}

MemoryBlock& require_range(CUdeviceptr address, std::size_t bytes, const char* what) {
  MemoryBlock* block = block_at(address);
  if (block == nullptr || !block->holds(bytes, address))
    refuse(CUDA_ERROR_INVALID_VALUE, describe_access(address, bytes, what));
  return *block;
}

std::string describe(CUdeviceptr address) {
  const auto found = driver().memory->find(address);
  if (!found) return "no memory of the device";
  std::string text = fmt::format("{} bytes at {:#x} (allocation {}, by {})", found->bytes,
                                 found->address, found->number, found->maker);
  if (found->freed) text += ", freed by " + found->freer;
  return text;
}

std::string describe_access(CUdeviceptr address, std::size_t bytes, const char* what) {
  return fmt::format("{}: {} bytes at {:#x}: {}", what, bytes, address, describe(address));
}

std::size_t host_bytes() {
  std::size_t bytes = 0;
  for (const auto& [address, block] : blocks())
    if (block.kind == MemoryKind::pinned) bytes += block.bytes;
  return bytes;
}

void tell_leaks() {
  std::string text;
  std::size_t bytes = 0, count = 0;
  for (const auto& [address, block] : blocks()) {
    if (!is_leak(block)) continue;
    text += "\n  " + describe(address);
    bytes += block.bytes;
    ++count;
  }
  if (count != 0)
    tell(fmt::format("{} bytes in {} allocations were never freed:{}", bytes, count, text));
}

}  // namespace simgpu::driver
