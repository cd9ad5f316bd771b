#include "tools/simgpu/driver/allocation.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/simgpu/driver/driver.h"

namespace simgpu::driver {
namespace {

using Blocks = std::map<CUdeviceptr, Block>;
Blocks& blocks() {
  static auto& never_destroyed = *new Blocks;
  return never_destroyed;
}

/// The last entry that begins at or before an address.
template <class Map>
auto* entry_before(Map& map, std::uint64_t address) {
  auto after = map.upper_bound(address);
  return after == map.begin() ? nullptr : &*std::prev(after);
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
    made->is_default = true;
    table<Pool>().add(made);
    return made;
  }());
  return pool;
}

void trim_pools() {
  for (const auto& [handle, pool] : table<Pool>().objects()) pool->trim(pool->release_threshold);
}

Block& allocate(std::size_t bytes, const std::shared_ptr<Context>& context, bool is_host) {
  static std::uint64_t blocks_made = 0;
  require(bytes != 0);
  require(bytes <= driver().memory->capacity(), CUDA_ERROR_OUT_OF_MEMORY);
  const auto address = driver().memory->allocate(bytes, Call::current().origin().text());
  if (!address) refuse(CUDA_ERROR_OUT_OF_MEMORY);
  // The host writes to its memory without saying so.
  if (is_host) driver().memory->set_initialised(*address, bytes);
  Block block;
  block.address = *address;
  block.bytes = bytes;
  block.is_host = is_host;
  block.id = ++blocks_made;
  block.context = context;
  return blocks()[*address] = std::move(block);
}

void release(CUdeviceptr address, const std::string& freer) {
  const auto found = blocks().find(address);
  if (found->second.pool) found->second.pool->give_back(found->second.bytes);
  driver().memory->free(address, freer);
  blocks().erase(found);
}

void release_all_of(const Context& context) {
  std::vector<CUdeviceptr> addresses;
  for (const auto& [address, block] : blocks())
    if (block.context.get() == &context) addresses.push_back(address);
  for (const CUdeviceptr address : addresses) {
    tell(describe(address) + " is freed with its context");
    release(address, Call::current().name());
  }
  std::erase_if(registrations(), [&](const auto& entry) {
    if (entry.second.context.get() != &context) return false;
    driver().memory->host().close(entry.first, Call::current().name());
    return true;
  });
}

Block* block_at(CUdeviceptr address) {
  auto* entry = entry_before(blocks(), address);
  return entry != nullptr && address - entry->first < entry->second.bytes ? &entry->second
                                                                          : nullptr;
}

Block& require_range(CUdeviceptr address, std::size_t bytes, const char* what) {
  Block* block = block_at(address);
  if (block == nullptr || bytes > block->bytes - (address - block->address))
    refuse(CUDA_ERROR_INVALID_VALUE,
           fmt::format("{}: {} bytes at {:#x}: {}", what, bytes, address, describe(address)));
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

std::size_t host_bytes() {
  std::size_t bytes = 0;
  for (const auto& [address, block] : blocks())
    if (block.is_host) bytes += block.bytes;
  return bytes;
}

std::map<std::uint64_t, Registration>& registrations() {
  static auto& never_destroyed = *new std::map<std::uint64_t, Registration>;
  return never_destroyed;
}

const std::pair<const std::uint64_t, Registration>* registration_at(const void* host,
                                                                    std::size_t bytes) {
  const auto address = reinterpret_cast<std::uint64_t>(host);
  const auto* entry = entry_before(registrations(), address);
  const bool holds = entry != nullptr && address - entry->first <= entry->second.bytes &&
                     bytes <= entry->second.bytes - (address - entry->first);
  return holds ? entry : nullptr;
}

bool is_pinned(const void* host, std::size_t bytes) {
  const Block* block = block_at(reinterpret_cast<CUdeviceptr>(host));
  return (block != nullptr && block->is_host) || registration_at(host, bytes) != nullptr;
}

void tell_leaks() {
  std::string text;
  std::size_t bytes = 0, count = 0;
  for (const auto& [address, block] : blocks()) {
    if (!block.context) continue;
    text += "\n  " + describe(address);
    bytes += block.bytes;
    ++count;
  }
  if (count != 0)
    tell(fmt::format("{} bytes in {} allocations were never freed:{}", bytes, count, text));
}

}  // namespace simgpu::driver
