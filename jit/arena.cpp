#include "jit/arena.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "runtime/memory.h"

namespace sinter::jit {
namespace {

constexpr auto alignment = static_cast<std::int64_t>(buffer_alignment);

std::int64_t aligned(std::int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

bool meet(const BlockUse& a, const BlockUse& b) { return a.first <= b.last && b.first <= a.last; }

/// The most that is in use at once.
std::int64_t most_live(std::span<const BlockUse> blocks) {
  std::map<std::uint32_t, std::int64_t> changes;
  for (const BlockUse& block : blocks) {
    changes[block.first] += block.bytes;
    changes[block.last + 1] -= block.bytes;
  }
  std::int64_t now = 0, most = 0;
  for (const auto& [operation, bytes] : changes) most = std::max(most, now += bytes);
  return most;
}

}  // namespace

Arena arrange(std::span<const BlockUse> blocks) {
  Arena arena;
  arena.offsets.resize(blocks.size());
  arena.live = most_live(blocks);
  std::vector<std::size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return blocks[a].bytes > blocks[b].bytes; });
  std::multimap<std::int64_t, std::size_t> placed;  // by offset
  for (const std::size_t i : order) {
    const std::int64_t bytes = aligned(blocks[i].bytes);
    std::int64_t offset = 0;
    for (const auto& [start, other] : placed) {
      if (!meet(blocks[i], blocks[other])) continue;
      if (start - offset >= bytes) break;
      offset = std::max(offset, start + aligned(blocks[other].bytes));
    }
    arena.offsets[i] = offset;
    arena.bytes = std::max(arena.bytes, offset + bytes);
    if (bytes > 0) placed.emplace(offset, i);
  }
  return arena;
}

}  // namespace sinter::jit
