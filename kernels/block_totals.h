/// \file
/// How the results of a row's blocks become one. Only for files compiled for each instruction set.
#pragma once

#include <cstddef>

#include "kernels/combine.h"
#include "kernels/sum_blocks.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {

/// The results of blocks, combined as they come by the rule for a row: each level is a row of the
/// results of the level below.
template <class F, class C>
class BlockTotals {
 public:
  [[gnu::noinline]] void add(C term, int level = 0) {
    for (; level < levels - 1 && count_[level] == row_block; ++level) {
      const C folded = fold_level(level);
      count_[level] = 0;
      put(level, term);
      term = folded;
    }
    put(level, term);
  }
  [[gnu::noinline]] C total() {
    int top = levels - 1;
    while (count_[top] == 0) --top;
    for (int level = 0; level < top; ++level) {
      if (count_[level] != 0) add(fold_level(level), level + 1);
      if (level + 1 == top && top < levels - 1 && count_[top + 1] != 0) ++top;
    }
    return fold_level(top);
  }

 private:
  static constexpr int levels = 4;

  void put(int level, C term) {
    C& lane = lane_[level][count_[level] % row_lanes];
    lane = count_[level] < row_lanes ? term : F::of(lane, term);
    ++count_[level];
  }
  C fold_level(int level) const {
    C a[row_lanes];
    const std::ptrdiff_t filled = count_[level] < row_lanes ? count_[level] : row_lanes;
    for (std::ptrdiff_t i = 0; i < row_lanes; ++i) {
      // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): put has set what is filled
      a[i] = i < filled ? lane_[level][i] : F::template neutral<C>;
    }
    for (std::ptrdiff_t half = row_lanes / 2; half > 0; half /= 2)
      for (std::ptrdiff_t i = 0; i < half; ++i) a[i] = F::of(a[i], a[i + half]);
    return a[0];
  }

  C lane_[levels][row_lanes];
  std::ptrdiff_t count_[levels] = {};
};

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
