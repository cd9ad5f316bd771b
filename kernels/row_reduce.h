/// \file
/// Reductions of a row whose terms are computed as the row is walked, in the order of
/// kernels/reduce.h: the form that generated kernels use, where one walk feeds any number of
/// reductions. Only for files compiled for each instruction set.
#pragma once

#include "kernels/block_totals.h"
#include "kernels/fold.h"
#include "kernels/row_loops.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {

/// Columns of a row, one for each lane: the last vector of a row may have lanes beyond it.
struct Columns {
  std::ptrdiff_t first, left;  ///< of the row, from `first` on

  SINTER_INLINE bool is_whole() const { return left >= vector_size; }
  SINTER_INLINE std::ptrdiff_t count() const { return is_whole() ? vector_size : left; }
};

/// The 64 lanes of one block. Its vectors must come in order. The four vectors of lanes move round
/// as terms come, so that the loop around needs no unrolling: `next` is the one that the next term
/// belongs to.
template <class F, class C>
class LaneReduction {
 public:
  SINTER_INLINE void add(const Vec<C>& term, const Columns& at) {
    Vec<C> sum = F::of(next_, term);
    if (!at.is_whole()) [[unlikely]]
      sum = select(Vec<C>::iota() < Vec<C>(static_cast<C>(at.left)), sum, next_);
    next_ = second_;
    second_ = third_;
    third_ = last_;
    last_ = sum;
  }

  /// Of a block of `count` elements, all of which have come.
  SINTER_INLINE C result(std::ptrdiff_t count) {
    const std::ptrdiff_t vectors = (count + vector_size - 1) / vector_size;
    for (std::ptrdiff_t turned = vectors % 4; turned != 0; turned = (turned + 1) % 4) {
      const Vec<C> first = next_;
      next_ = second_;
      second_ = third_;
      third_ = last_;
      last_ = first;
    }
    return folded<F>(F::of(F::of(next_, third_), F::of(second_, last_)));
  }

 private:
  Vec<C> next_{F::template neutral<C>}, second_ = next_, third_ = next_, last_ = next_;
};

/// That of the largest or smallest float, for which no order of the elements makes a difference.
/// NaN and the sign of zero are looked after apart: comparing alone drops both.
template <class F, class C>
requires(F::has_quick&& C(0.5f) != C(0)) class LaneReduction<F, C> {
 public:
  SINTER_INLINE void add(const Vec<C>& term, const Columns& at) {
    Vec<C> x = term;
    if (!at.is_whole()) [[unlikely]]
      x = select(Vec<C>::iota() < Vec<C>(static_cast<C>(at.left)), x, Vec<C>(neutral));
    const Vec<C> best = F::Quick::of(next_, x);
    next_ = last_;
    last_ = best;
    not_number_ = select(x == x, not_number_, x);
    signs_ = F::Zeros::of(signs_, as_int(x));
  }

  SINTER_INLINE C result(std::ptrdiff_t) {
    const C best = folded<typename F::Quick>(F::Quick::of(next_, last_));
    if (any(not_number_ != not_number_)) [[unlikely]]
      return folded<Sum>(not_number_);
    if (best == C(0)) [[unlikely]]
      return folded<typename F::Zeros>(signs_) < 0 ? C(-0.0) : C(0);
    return best;
  }

 private:
  static constexpr C neutral = F::template neutral<C>;
  Vec<C> next_{neutral}, last_ = next_, not_number_{C(0)};
  Vec<Bits<C>> signs_ = as_int(next_);
};

/// A reduction of a row: what its blocks gave. Most rows are one block.
template <class F, class C>
class RowReduction {
 public:
  using Lanes = LaneReduction<F, C>;

  SINTER_INLINE explicit RowReduction(std::ptrdiff_t n) : single_(n <= row_block) {}
  SINTER_INLINE void add_block(C block) {
    if (single_) only_ = block;
    else many_.add(block);
  }
  SINTER_INLINE C result() { return single_ ? only_ : many_.total(); }

 private:
  bool single_;
  C only_ = F::template identity<C>;
  BlockTotals<F, C> many_;
};

/// body(at) for the columns [begin, begin + n), a vector of them at a time. The last vector goes
/// through the same code as the others, so that there is half as much to compile.
template <class Body>
SINTER_INLINE void each_columns(std::ptrdiff_t begin, std::ptrdiff_t n, Body body) {
  for (std::ptrdiff_t left = n; left > 0; left -= vector_size, begin += vector_size)
    body(Columns{begin, left});
}

/// body(at, lanes...) for each vector of a row of n elements, where `lanes` takes the terms of
/// each reduction.
template <class Body, class... Reductions>
SINTER_INLINE void reduce_row(std::ptrdiff_t n, Body body, Reductions&... reductions) {
  for (std::ptrdiff_t begin = 0; begin < n; begin += row_block) {
    const std::ptrdiff_t count = n - begin < row_block ? n - begin : row_block;
    [&](typename Reductions::Lanes... lanes) SINTER_LOOP_BODY {
      each_columns(begin, count, [&](const Columns& at) SINTER_LOOP_BODY { body(at, lanes...); });
      (reductions.add_block(lanes.result(count)), ...);
    }(typename Reductions::Lanes()...);
  }
}

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
