/// \file
/// Arena: one piece of memory for blocks that are in use at different times.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sinter::jit {

/// A block, and from which operation to which it is in use.
struct BlockUse {
  std::uint32_t first, last;
  std::int64_t bytes;
};

struct Arena {
  std::vector<std::int64_t> offsets;  ///< of each block, multiples of buffer_alignment
  std::int64_t bytes = 0;             ///< of all
  std::int64_t live = 0;              ///< the most that is in use at once; no arena is smaller
};

/// Places the blocks so that none shares memory with another while both are in use: the largest
/// first, each as low as it fits (the greedy by size of Pisarchyk and Lee, "Efficient Memory
/// Management for Deep Neural Net Inference", 2020). The time grows with the square of their
/// number.
Arena arrange(std::span<const BlockUse> blocks);

}  // namespace sinter::jit
