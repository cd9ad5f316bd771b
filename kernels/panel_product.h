/// \file
/// Small matrix products for attention: c = a x b with b copied to panels of sixteen columns, each
/// [depth, 16] and zero past the last column. Only for files compiled for each instruction set.
///
/// Each element is one sum in the order of the depth, so how the work is tiled changes no bit.
#pragma once

#include "kernels/row_loops.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {

template <class F, int... I>
SINTER_INLINE void each_number(std::integer_sequence<int, I...>, F f) {
  (f(Number<I>()), ...);
}
/// f of 0 to n - 1 as constants.
template <int n, class F>
SINTER_INLINE void each_number(F f) {
  each_number(std::make_integer_sequence<int, n>(), f);
}

#if defined SINTER_AVX512 || defined SINTER_AVX2
template <class C>
SINTER_INLINE Vec<C> multiply_add(const Vec<C>& a, const Vec<C>& b, const Vec<C>& c) {
  return fma(a, b, c);
}
#else
template <class C>
SINTER_INLINE Vec<C> multiply_add(const Vec<C>& a, const Vec<C>& b, const Vec<C>& c) {
  return a * b + c;
}
#endif

template <class C>
struct PanelProduct {
  const C* a;  ///< element [i, k] at i * a_row + k * a_step
  std::int64_t a_row, a_step;
  std::int64_t m, depth;
  const C* b;
  std::int64_t b_panel;  ///< elements from one panel to the next
  std::int64_t panels;
  C* c;  ///< [m, c_row]
  std::int64_t c_row;
  bool add;  ///< to what c holds
};

template <class C, int rows, int panels>
SINTER_INLINE void multiply_tile(const PanelProduct<C>& x, std::int64_t row, std::int64_t panel) {
  using V = Vec<C>;
  const C* a = x.a + row * x.a_row;
  const C* b = x.b + panel * x.b_panel;
  C* const c = x.c + row * x.c_row + panel * vector_size;
  V sums[rows][panels];
  each_number<rows>([&](auto i) SINTER_LOOP_BODY {
    each_number<panels>([&](auto p) SINTER_LOOP_BODY {
      sums[i()][p()] = x.add ? V::load(c + i() * x.c_row + p() * vector_size) : V(C(0));
    });
  });
  for (std::int64_t k = 0; k < x.depth; ++k, a += x.a_step, b += vector_size) {
    V right[panels];
    each_number<panels>([&](auto p)
                            SINTER_LOOP_BODY { right[p()] = V::load(b + p() * x.b_panel); });
    each_number<rows>([&](auto i) SINTER_LOOP_BODY {
      const V left = V(a[i() * x.a_row]);
      each_number<panels>([&](auto p) SINTER_LOOP_BODY {
        sums[i()][p()] = multiply_add(left, right[p()], sums[i()][p()]);
      });
    });
  }
  each_number<rows>([&](auto i) SINTER_LOOP_BODY {
    each_number<panels>([&](auto p) SINTER_LOOP_BODY {
      sums[i()][p()].store(c + i() * x.c_row + p() * vector_size);
    });
  });
}

/// All rows of some panels, `rows` at a time.
template <class C, int rows, int panels>
[[gnu::noinline]] void multiply_panels(const PanelProduct<C>& x, std::int64_t panel) {
  std::int64_t i = 0;
  for (; i + rows <= x.m; i += rows) multiply_tile<C, rows, panels>(x, i, panel);
  if constexpr (rows > 2)
    for (; i + 2 <= x.m; i += 2) multiply_tile<C, 2, panels>(x, i, panel);
  for (; i < x.m; ++i) multiply_tile<C, 1, panels>(x, i, panel);
}

/// c = a x b, or c += a x b. As many sums at a time as the registers hold.
template <class C>
SINTER_INLINE void multiply(const PanelProduct<C>& x) {
  std::int64_t panel = 0;
#if defined SINTER_AVX512
  constexpr int registers = Vec<C>::parts;
  for (; panel + 4 / registers <= x.panels; panel += 4 / registers)
    multiply_panels<C, 6, 4 / registers>(x, panel);
  if constexpr (registers == 1)
    for (; panel + 2 <= x.panels; panel += 2) multiply_panels<C, 8, 2>(x, panel);
  for (; panel < x.panels; ++panel) multiply_panels<C, 12 / registers, 1>(x, panel);
#else
  constexpr int rows = 12 / Vec<C>::parts;
  for (; panel < x.panels; ++panel) multiply_panels < C, rows<2 ? 1 : rows, 1>(x, panel);
#endif
}

/// The same where b may hold NaN or infinity: what meets a 0 of a is left out. Where a has no 0,
/// the same bits.
template <class C>
[[gnu::noinline]] void multiply_reached(const PanelProduct<C>& x) {
  using V = Vec<C>;
  for (std::int64_t i = 0; i < x.m; ++i) {
    for (std::int64_t panel = 0; panel < x.panels; ++panel) {
      C* const to = x.c + i * x.c_row + panel * vector_size;
      V sum = x.add ? V::load(to) : V(C(0));
      for (std::int64_t k = 0; k < x.depth; ++k) {
        const C left = x.a[i * x.a_row + k * x.a_step];
        if (left == C(0)) continue;
        sum = multiply_add(V(left), V::load(x.b + panel * x.b_panel + k * vector_size), sum);
      }
      sum.store(to);
    }
  }
}

/// Whether none of the elements, a multiple of sixteen, is NaN or infinite.
template <class C>
SINTER_INLINE bool all_finite(const C* x, std::int64_t count) {
  using V = Vec<C>;
  V nothing = V(C(0));
  for (std::int64_t i = 0; i < count; i += vector_size)
    nothing = nothing + (V::load(x + i) - V::load(x + i));
  return !any(nothing != nothing);
}

/// Rows [rows, columns] to panels of their columns; the depth is `rows`.
template <class C>
SINTER_INLINE void pack_rows(const C* from, std::int64_t step, std::int64_t rows,
                             std::int64_t columns, C* to) {
  for (std::int64_t k = 0; k < rows; ++k, from += step)
    each_vector(columns, [&](std::ptrdiff_t j, auto part) SINTER_LOOP_BODY {
      part.load(from + j, C(0)).store(to + j * rows + k * vector_size);
    });
}

/// Four by four elements, transposed. `to_step` elements from one row of the result to the next.
template <class C>
SINTER_INLINE void transpose_four(const C* from, std::int64_t step, C* to, std::int64_t to_step) {
  using V4 [[gnu::vector_size(4 * sizeof(C))]] = C;
  V4 a, b, c, d;
  __builtin_memcpy(&a, from, sizeof a);
  __builtin_memcpy(&b, from + step, sizeof b);
  __builtin_memcpy(&c, from + 2 * step, sizeof c);
  __builtin_memcpy(&d, from + 3 * step, sizeof d);
  const V4 ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const V4 ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const V4 cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const V4 cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  const V4 rows[4] = {__builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5),
                      __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7),
                      __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5),
                      __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7)};
  each_number<4>([&](auto i) SINTER_LOOP_BODY {
    __builtin_memcpy(to + i() * to_step, &rows[i()], sizeof(V4));
  });
}

/// Rows [rows, columns] to panels of their transpose, whose columns the rows are; the depth is
/// `columns`.
template <class C>
SINTER_INLINE void pack_transposed(const C* from, std::int64_t step, std::int64_t rows,
                                   std::int64_t columns, C* to) {
  const std::int64_t whole = columns / 4 * 4;
  for (std::int64_t panel = 0; panel < rows; panel += vector_size, to += columns * vector_size) {
    const std::int64_t inside = rows - panel < vector_size ? rows - panel : vector_size;
    std::int64_t j = 0;
    for (; j + 4 <= inside; j += 4) {
      const C* const row = from + (panel + j) * step;
      for (std::int64_t k = 0; k < whole; k += 4)
        transpose_four(row + k, step, to + k * vector_size + j, vector_size);
      for (std::int64_t k = whole; k < columns; ++k)
        for (std::int64_t i = 0; i < 4; ++i) to[k * vector_size + j + i] = row[i * step + k];
    }
    for (; j < vector_size; ++j)
      for (std::int64_t k = 0; k < columns; ++k)
        to[k * vector_size + j] = j < inside ? from[(panel + j) * step + k] : C(0);
  }
}

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
