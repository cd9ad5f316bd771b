/// \file
/// Loops along a row of elements in a compute type, sixteen at a time, and sums along it in the
/// order of kernels/reduce.h. Only for files compiled for each instruction set.
///
/// Bodies get the position of the first of their elements and a Whole or a Part, through which they
/// load and store.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/block_totals.h"
#include "kernels/math.h"
#include "kernels/register_part.h"
#include "kernels/sum_blocks.h"
#include "kernels/vector.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {

#define SINTER_LOOP_BODY __attribute__((always_inline))

/// A constant as a value.
template <int n>
struct Number {
  constexpr int operator()() const { return n; }
};

/// The lanes of a vector combined by halves: lane i with lane i + lanes / 2, and so on down. The
/// halves are shuffles of constant lanes.
template <class V, class Op>
SINTER_INLINE auto fold_lanes(V x, Op op) {
  constexpr int lanes = static_cast<int>(sizeof(V) / sizeof(x[0]));
  if constexpr (lanes == 16)
    return fold_lanes(op(__builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7),
                         __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15)),
                      op);
  else if constexpr (lanes == 8)
    return fold_lanes(
        op(__builtin_shufflevector(x, x, 0, 1, 2, 3), __builtin_shufflevector(x, x, 4, 5, 6, 7)),
        op);
  else if constexpr (lanes == 4)
    return fold_lanes(op(__builtin_shufflevector(x, x, 0, 1), __builtin_shufflevector(x, x, 2, 3)),
                      op);
  else return op(x[0], x[1]);
}

/// The lanes of `count` registers combined likewise.
template <class C, int count, class Op>
SINTER_INLINE C fold_registers(const typename Vec<C>::Register* part, Op op) {
  using R = typename Vec<C>::Register;
  if constexpr (count == 8) {
    const R half[4] = {op(part[0], part[4]), op(part[1], part[5]), op(part[2], part[6]),
                       op(part[3], part[7])};
    return fold_registers<C, 4>(half, op);
  } else if constexpr (count == 4) {
    const R half[2] = {op(part[0], part[2]), op(part[1], part[3])};
    return fold_registers<C, 2>(half, op);
  } else if constexpr (count == 2) {
    const R half = op(part[0], part[1]);
    return fold_registers<C, 1>(&half, op);
  } else {
    return fold_lanes(part[0], op);
  }
}

/// The sum of the lanes: lane i with lane i + 8, then i + 4, i + 2, i + 1.
template <class C>
SINTER_INLINE C fold_sum(const Vec<C>& x) {
  return fold_registers<C, Vec<C>::parts>(x.part,
                                          [](auto a, auto b) SINTER_LOOP_BODY { return a + b; });
}
/// The largest lane that is not NaN.
template <class C>
SINTER_INLINE C fold_max(const Vec<C>& x) {
  return fold_registers<C, Vec<C>::parts>(
      x.part, [](auto a, auto b) SINTER_LOOP_BODY { return a < b ? b : a; });
}

/// A vector all of whose lanes are elements of the row.
struct Whole {
  static constexpr std::ptrdiff_t size() { return vector_size; }
  template <class C>
  SINTER_INLINE Vec<C> load(const C* from, C) const {
    return Vec<C>::load(from);
  }
  template <class C>
  SINTER_INLINE void store(const Vec<C>& x, C* to) const {
    x.store(to);
  }
  template <class C>
  SINTER_INLINE Vec<C> keep(const Vec<C>& x, C) const {
    return x;
  }
};

/// A vector whose first `count` lanes are the last elements of the row; others get a fill.
struct Part {
  std::ptrdiff_t count;

  SINTER_INLINE std::ptrdiff_t size() const { return count; }
  template <class C>
  SINTER_INLINE Vec<C> load(const C* from, C fill) const {
    return load_first(from, count, fill);
  }
  template <class C>
  SINTER_INLINE void store(const Vec<C>& x, C* to) const {
    store_first(x, to, count);
  }
  template <class C>
  SINTER_INLINE Vec<C> keep(const Vec<C>& x, C fill) const {
    return select(Vec<C>::iota() < Vec<C>(static_cast<C>(count)), x, Vec<C>(fill));
  }
};

/// body(i, part) for each vector of the row.
template <class Body>
SINTER_INLINE void each_vector(std::ptrdiff_t n, Body body) {
  std::ptrdiff_t i = 0;
  for (; i + vector_size <= n; i += vector_size) body(i, Whole());
  if (i < n) body(i, Part{n - i});
}

/// The largest element; NaN where all are NaN or smaller ones beside it are -inf (a body that
/// subtracts it makes NaN of a row with NaN in any case).
template <class C>
SINTER_INLINE C row_max(const C* x, std::ptrdiff_t n) {
  using V = Vec<C>;
  constexpr C lowest = -static_cast<C>(__builtin_inff());
  V most[2] = {V(lowest), V(lowest)};
  std::ptrdiff_t i = 0;
  for (; i + 2 * vector_size <= n; i += 2 * vector_size) {
    const V a = V::load(x + i), b = V::load(x + i + vector_size);
    most[0] = larger(most[0], a);
    most[1] = larger(most[1], b);
  }
  each_vector(n - i, [&](std::ptrdiff_t j, auto part) SINTER_LOOP_BODY {
    const V a = part.load(x + i + j, lowest);
    most[0] = larger(most[0], a);
  });
  return fold_max(larger(most[0], most[1]));
}

/// Adding this changes nothing, not even the sign of a zero.
template <class C>
inline constexpr C no_term = Sum::neutral<C>;

/// Four vectors of lanes for each of N running sums. Indices are constants wherever it matters, for
/// the compiler keeps only such arrays in registers.
template <class C, int N>
struct LaneSums {
  Vec<C> lanes[N][4];

  SINTER_INLINE LaneSums() {
    each_vector_of_lanes([&](auto v) SINTER_LOOP_BODY { set<v()>(Vec<C>(no_term<C>)); });
  }
  template <int v>
  SINTER_INLINE void set(const Vec<C>& x) {
    each_sum([&](auto k) SINTER_LOOP_BODY { lanes[k()][v] = x; });
  }
  template <int v>
  SINTER_INLINE void add(const Vec<C> (&terms)[N]) {
    each_sum([&](auto k) SINTER_LOOP_BODY { lanes[k()][v] = lanes[k()][v] + terms[k()]; });
  }
  SINTER_INLINE void fold_into(C (&sums)[N]) const {
    each_sum([&](auto k) SINTER_LOOP_BODY {
      sums[k()] = fold_sum((lanes[k()][0] + lanes[k()][2]) + (lanes[k()][1] + lanes[k()][3]));
    });
  }

  template <class F>
  SINTER_INLINE static void each_vector_of_lanes(F f) {
    f(Number<0>());
    f(Number<1>());
    f(Number<2>());
    f(Number<3>());
  }
  template <class F>
  SINTER_INLINE static void each_sum(F f) {
    static_assert(N == 1 || N == 2);
    f(Number<0>());
    if constexpr (N == 2) f(Number<1>());
  }
};

/// Sums N terms over the elements [begin, begin + n) of one block: body(i, part, terms) fills them
/// for a vector.
template <class C, int N, class Body>
SINTER_INLINE void sum_one_block(std::ptrdiff_t begin, std::ptrdiff_t n, C (&sums)[N], Body body) {
  LaneSums<C, N> lanes;
  std::ptrdiff_t i = 0;
  for (; i + row_lanes <= n; i += row_lanes) {
    lanes.each_vector_of_lanes([&](auto v) SINTER_LOOP_BODY {
      Vec<C> terms[N];
      body(begin + i + v() * vector_size, Whole(), terms);
      lanes.template add<v()>(terms);
    });
  }
  if (i < n) {
    // The last few vectors pass through memory, so that the body is not repeated for each.
    Vec<C> last[4][N];
    for (auto& terms : last)
      for (Vec<C>& term : terms) term = Vec<C>(no_term<C>);
    each_vector(n - i, [&](std::ptrdiff_t j, auto part) SINTER_LOOP_BODY {
      Vec<C> terms[N];
      body(begin + i + j, part, terms);
      LaneSums<C, N>::each_sum([&](auto k) SINTER_LOOP_BODY {
        last[j / vector_size][k()] = part.keep(terms[k()], no_term<C>);
      });
    });
    lanes.each_vector_of_lanes([&](auto v)
                                   SINTER_LOOP_BODY { lanes.template add<v()>(last[v()]); });
  }
  lanes.fold_into(sums);
}

/// N sums over a row of n elements; 0 for none.
template <class C, int N, class Body>
SINTER_INLINE void row_sums(std::ptrdiff_t n, C (&sums)[N], Body body) {
  if (n <= row_block) {
    sum_one_block<C, N>(0, n, sums, body);
    for (C& sum : sums) sum = n == 0 ? C(0) : sum;
    return;
  }
  BlockTotals<Sum, C> totals[N];
  for (std::ptrdiff_t begin = 0; begin < n; begin += row_block) {
    const std::ptrdiff_t left = n - begin;
    sum_one_block<C, N>(begin, left < row_block ? left : row_block, sums, body);
    for (int k = 0; k < N; ++k) totals[k].add(sums[k]);
  }
  for (int k = 0; k < N; ++k) sums[k] = totals[k].total();
}

/// The sum of body(i, part) over a row of n elements.
template <class C, class Body>
SINTER_INLINE C row_sum(std::ptrdiff_t n, Body body) {
  C sums[1];
  row_sums<C, 1>(n, sums, [&](std::ptrdiff_t i, auto part, Vec<C>(&terms)[1]) SINTER_LOOP_BODY {
    terms[0] = body(i, part);
  });
  return sums[0];
}

/// Sums of rows given one after the other, by the column rule: 64 rows in order make a block, the
/// blocks' results are summed likewise. `storage` has room for column_levels rows of `width`, which
/// is a multiple of 16.
inline constexpr int column_levels = 6;

template <class C>
class ColumnSums {
 public:
  SINTER_INLINE ColumnSums(C* storage, std::ptrdiff_t width) : storage_(storage), width_(width) {}

  /// terms(i) is the vector of the row at column i.
  template <class Terms>
  SINTER_INLINE void add(Terms terms) {
    if (count_[0] == column_block) carry(0);
    C* const sums = storage_;
    if (count_[0]++ == 0) {
      for (std::ptrdiff_t i = 0; i < width_; i += vector_size) terms(i).store(sums + i);
    } else {
      for (std::ptrdiff_t i = 0; i < width_; i += vector_size)
        (Vec<C>::load(sums + i) + terms(i)).store(sums + i);
    }
  }
  /// The sums; at least one row was added.
  const C* total() {
    for (int level = 0;; ++level) {
      if (!above(level)) return storage_ + level * width_;
      if (count_[level] != 0) carry(level);
    }
  }

 private:
  bool above(int level) const {
    for (int next = level + 1; next < column_levels; ++next)
      if (count_[next] != 0) return true;
    return false;
  }
  /// Adds the sums of a level to the one above, after making room there.
  [[gnu::noinline]] void carry(int level) {
    int full = level + 1;
    while (full < column_levels - 1 && count_[full] == column_block) ++full;
    for (; full > level; --full) {
      const C* const from = storage_ + (full - 1) * width_;
      C* const to = storage_ + full * width_;
      const bool first = count_[full]++ == 0;
      for (std::ptrdiff_t i = 0; i < width_; ++i) to[i] = first ? from[i] : to[i] + from[i];
      count_[full - 1] = 0;
    }
  }

  C* storage_;
  std::ptrdiff_t width_;
  std::ptrdiff_t count_[column_levels] = {};
};

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
