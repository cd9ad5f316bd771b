// Blocks in an arena: none that are in use together share memory, and little is lost between them.
#include "jit/arena.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "runtime/memory.h"

namespace sinter::jit {
namespace {

constexpr auto alignment = static_cast<std::int64_t>(buffer_alignment);

void check_apart(const std::vector<BlockUse>& blocks, const Arena& arena) {
  REQUIRE(arena.offsets.size() == blocks.size());
  for (std::size_t a = 0; a < blocks.size(); ++a) {
    CHECK(arena.offsets[a] >= 0);
    CHECK(arena.offsets[a] % alignment == 0);
    CHECK(arena.offsets[a] + blocks[a].bytes <= arena.bytes);
    for (std::size_t b = 0; b < a; ++b) {
      const bool together = blocks[a].first <= blocks[b].last && blocks[b].first <= blocks[a].last;
      const bool overlap = arena.offsets[a] < arena.offsets[b] + blocks[b].bytes &&
                           arena.offsets[b] < arena.offsets[a] + blocks[a].bytes;
      CHECK_FALSE((together && overlap));
    }
  }
}

std::vector<BlockUse> random_blocks(std::uint32_t seed, std::size_t count) {
  std::minstd_rand draw(seed);
  std::vector<BlockUse> blocks;
  for (std::size_t i = 0; i < count; ++i) {
    const auto first = static_cast<std::uint32_t>(draw() % count);
    const auto last = first + static_cast<std::uint32_t>(draw() % (1 + draw() % count));
    blocks.push_back({first, last, static_cast<std::int64_t>(draw() % (1 + draw() % 100000))});
  }
  return blocks;
}

}  // namespace

TEST_CASE("arena: without blocks it is empty") {
  const Arena arena = arrange({});
  CHECK(arena.bytes == 0);
  CHECK(arena.live == 0);
}

TEST_CASE("arena: one after the other in the same place, together side by side") {
  const std::vector<BlockUse> blocks{{0, 0, 64}, {1, 1, 64}, {1, 2, 64}, {2, 2, 64}};
  const Arena arena = arrange(blocks);
  check_apart(blocks, arena);
  CHECK(arena.live == 128);
  CHECK(arena.bytes == 128);
}

TEST_CASE("arena: what a forward pass keeps for a backward pass is stacked without loss") {
  std::vector<BlockUse> blocks;
  for (std::uint32_t i = 0; i < 50; ++i) {
    blocks.push_back({i, 100 - i, 64 * (1 + i % 7)});       // kept
    blocks.push_back({i, i + 1, 64 * (1 + i % 3)});         // of the forward pass alone
    blocks.push_back({99 - i, 100 - i, 64 * (1 + i % 2)});  // of the backward pass alone
  }
  const Arena arena = arrange(blocks);
  check_apart(blocks, arena);
  CHECK(10 * arena.bytes <= 11 * arena.live);
}

TEST_CASE("arena: blocks of any size and time, and of no bytes") {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    const std::vector<BlockUse> blocks = random_blocks(seed, 1 + seed * 3);
    const Arena arena = arrange(blocks);
    check_apart(blocks, arena);
    CHECK(arena.bytes >= arena.live);
  }
}

}  // namespace sinter::jit
