// Products of f64 and integers: panels of b are copied so that a tile of the result, held in
// registers, reads them in order.
#include "kernels/gemm_blocks.h"
#include "kernels/register.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {

namespace {

constexpr int tile_rows = 4, tile_registers = 2;

template <class C>
constexpr std::int64_t lanes = register_bytes / static_cast<int>(sizeof(C));
template <class C>
constexpr std::int64_t tile_columns = tile_registers* lanes<C>;

constexpr std::int64_t least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

/// c += a x panel for `rows` rows and one tile of columns. A multiplication and an addition, each
/// rounded, in the order of k: the same bits on every instruction set.
template <class C, int rows>
void multiply_tile(const BlockedOperands<C>& x, const C* a, const C* panel, C* c,
                   std::int64_t depth, std::int64_t columns) {
  using Reg = typename RegisterOf<C>::type;
  C edge[rows * tile_columns<C>];
  const bool whole = columns == tile_columns<C>;
  if (!whole) {
    for (int i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < tile_columns<C>; ++j)
        edge[i * tile_columns<C> + j] = j < columns ? c[i * x.c_row + j] : C{0};
  }
  C* const to = whole ? c : edge;
  const std::int64_t to_row = whole ? x.c_row : tile_columns<C>;
  Reg sums[rows][tile_registers];
  for (int i = 0; i < rows; ++i)
    for (int r = 0; r < tile_registers; ++r)
      __builtin_memcpy(&sums[i][r], to + i * to_row + r * lanes<C>, sizeof(Reg));
  for (std::int64_t k = 0; k < depth; ++k, panel += tile_columns<C>) {
    Reg b[tile_registers];
    for (int r = 0; r < tile_registers; ++r)
      __builtin_memcpy(&b[r], panel + r * lanes<C>, sizeof(Reg));
    for (int i = 0; i < rows; ++i) {
      const C factor = a[i * x.a_row + k * x.a_column];
      for (int r = 0; r < tile_registers; ++r) sums[i][r] = sums[i][r] + factor * b[r];
    }
  }
  for (int i = 0; i < rows; ++i)
    for (int r = 0; r < tile_registers; ++r)
      __builtin_memcpy(to + i * to_row + r * lanes<C>, &sums[i][r], sizeof(Reg));
  if (!whole) {
    for (int i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) c[i * x.c_row + j] = edge[i * tile_columns<C> + j];
  }
}

/// Rows first_k.. and columns first_n.. of b, a tile's columns after another, zeros past the end.
template <class C>
void copy_panel(const BlockedOperands<C>& x, std::int64_t first_k, std::int64_t depth,
                std::int64_t first_n, std::int64_t columns) {
  C* to = x.panel;
  for (std::int64_t tile = 0; tile < columns; tile += tile_columns<C>) {
    const C* from = x.b + first_k * x.b_row + (first_n + tile) * x.b_column;
    const std::int64_t valid = least(columns - tile, tile_columns<C>);
    for (std::int64_t k = 0; k < depth; ++k, from += x.b_row)
      for (std::int64_t j = 0; j < tile_columns<C>; ++j)
        *to++ = j < valid ? from[j * x.b_column] : C{0};
  }
}

template <class C>
void multiply_rows(const BlockedOperands<C>& x, const C* a, const C* panel, C* c,
                   std::int64_t depth, std::int64_t columns) {
  std::int64_t i = 0;
  for (; i + tile_rows <= x.m; i += tile_rows)
    multiply_tile<C, tile_rows>(x, a + i * x.a_row, panel, c + i * x.c_row, depth, columns);
  for (; i < x.m; ++i)
    multiply_tile<C, 1>(x, a + i * x.a_row, panel, c + i * x.c_row, depth, columns);
}

template <class C>
void multiply(const BlockedOperands<C>& x) {
  for (std::int64_t i = 0; i < x.m; ++i)
    for (std::int64_t j = 0; j < x.n; ++j) x.c[i * x.c_row + j] = C{0};
  for (std::int64_t n = 0; n < x.n; n += panel_columns) {
    const std::int64_t columns = least(panel_columns, x.n - n);
    for (std::int64_t k = 0; k < x.k; k += panel_rows) {
      const std::int64_t depth = least(panel_rows, x.k - k);
      copy_panel(x, k, depth, n, columns);
      for (std::int64_t tile = 0; tile < columns; tile += tile_columns<C>)
        multiply_rows(x, x.a + k * x.a_column, x.panel + tile * depth, x.c + n + tile, depth,
                      least(columns - tile, tile_columns<C>));
    }
  }
}

}  // namespace

void multiply_f64(const BlockedOperands<double>& x) { multiply(x); }
void multiply_i64(const BlockedOperands<std::int64_t>& x) { multiply(x); }

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
