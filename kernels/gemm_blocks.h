/// \file
/// The inner loops of matrix products that are not the library's, compiled for each instruction
/// set.
#pragma once

#include <cstdint>

#include "runtime/dtype.h"

namespace sinter::kernels {

/// One matrix product on raw memory; strides in elements.
template <class C>
struct BlockedOperands {
  const C* a;
  const C* b;
  C* c;
  std::int64_t m, n, k;
  std::int64_t a_row, a_column, b_row, b_column, c_row;
  C* panel;  ///< Room for panel_elements.
};

/// Rows and columns of b that are copied at a time, to be read contiguously for every row of a.
inline constexpr std::int64_t panel_rows = 256, panel_columns = 64;
inline constexpr std::int64_t panel_elements = panel_rows * panel_columns;

/// A product of f32 summed in f64. `c` is [m, wide_columns(n)].
struct WideOperands {
  const float* a;
  const float* b;
  double* c;
  std::int64_t m, n, k;
  std::int64_t a_row, a_column, b_row, b_column;
  double* work;  ///< Room for wide_work elements.
};
// Never functions of their own: a file compiled for one instruction set must not share any.
[[gnu::always_inline]] constexpr std::int64_t wide_columns(std::int64_t n) {
  return (n + 15) / 16 * 16;
}
[[gnu::always_inline]] constexpr std::int64_t wide_work(std::int64_t m, std::int64_t n,
                                                        std::int64_t k) {
  return k * (m + wide_columns(n));
}

/// What follows the sums of a block of rows: out = activation(sums + bias) + residual. Where sums
/// in double go to an f32 output an activation is that of the value rounded to f32.
struct EpilogueOperands {
  const void* sums;  ///< of the compute type
  std::int64_t sums_row;
  const void* bias;  ///< of the compute type, contiguous, or null
  int activation;    ///< a LinearActivation
  const void* residual;
  std::int64_t residual_row;  ///< columns are contiguous
  void* out;
  std::int64_t out_row;  ///< columns are contiguous
  DType dtype;           ///< of residual and out
  std::int64_t rows, columns;
};

struct GemmFunctions {
  void (*multiply_f64)(const BlockedOperands<double>&);
  void (*multiply_i64)(const BlockedOperands<std::int64_t>&);
  void (*multiply_wide)(const WideOperands&);
  void (*epilogue_f32)(const EpilogueOperands&);
  void (*epilogue_f64)(const EpilogueOperands&);
  void (*epilogue_i64)(const EpilogueOperands&);
};

/// Those of the instruction set in use.
const GemmFunctions& gemm_functions();

}  // namespace sinter::kernels
