/// \file
/// The inner loops of softmax, norms and losses, compiled for each instruction set: functions over
/// rows of contiguous elements in a compute type, float or double. The headers of the kernels say
/// what they compute.
#pragma once

#include <cstdint>

#include "kernels/softmax.h"

namespace sinter::kernels {

/// Rows lie one after the other, `n` elements each.
template <class C>
struct SoftmaxRows {
  void (*rows[2])(const C* x, C* y, std::int64_t rows, std::int64_t n);  ///< by SoftmaxKind
  void (*rows_grad[2])(const C* g, const C* y, C* dx, std::int64_t rows, std::int64_t n);
  /// In place over a tile [extent, width] along its first axis; width is a multiple of 16.
  /// `scratch` has room for column_scratch(width) elements.
  void (*columns[2])(C* x, std::int64_t extent, std::int64_t width, C* scratch);
  /// `g` becomes the gradient.
  void (*columns_grad[2])(C* g, const C* y, std::int64_t extent, std::int64_t width, C* scratch);
};
constexpr std::int64_t column_scratch(std::int64_t width) { return 8 * width; }

/// The operands of a norm over rows in the compute type; null for no weight or bias.
template <class C>
struct NormRows {
  const C* x;
  const C* weight;
  const C* bias;
  std::int64_t rows;
  std::int64_t n;
  C epsilon;
  bool centered;  ///< layer_norm
};

template <class C>
struct NormFunctions {
  void (*forward)(const NormRows<C>& operands, C* y);
  /// Writes dx, and the sums over these rows, in order, to dweight and dbias where not null.
  void (*gradient)(const C* g, const NormRows<C>& operands, C* dx, C* dweight, C* dbias);
  /// The column rule over `rows` rows of `width` elements, a multiple of 16, to `to`. `scratch` has
  /// room for column_scratch(width) elements.
  void (*sum_columns)(const C* from, std::int64_t rows, std::int64_t width, C* to, C* scratch);
  /// The row rule.
  C (*sum_row)(const C* from, std::int64_t n);
};

/// What cross-entropy needs beside a row of logits.
template <class C>
struct LossRow {
  const C* x;
  std::int64_t classes;
  std::int64_t target;
  const C* weight;  ///< null: none
  bool smoothed;
  C keep;          ///< 1 - smoothing
  C share;         ///< smoothing / classes
  C total_weight;  ///< the sum of the class weights, for the gradient
};

template <class C>
struct LossFunctions {
  C (*forward)(const LossRow<C>& row);
  /// dx = h * u
  void (*gradient)(const LossRow<C>& row, C h, C* dx);
  C (*sum_row)(const C* from, std::int64_t n);
};

template <class C>
struct DropoutFunctions {
  /// y = x * scale where the draw is at least p, else 0; `y` may be `x`.
  void (*drop)(const C* x, const float* draws, std::int64_t n, float p, C scale, C* y);
};

// Those of the instruction set in use.
template <class C>
const SoftmaxRows<C>& softmax_functions();
template <class C>
const NormFunctions<C>& norm_functions();
template <class C>
const LossFunctions<C>& loss_functions();
template <class C>
const DropoutFunctions<C>& dropout_functions();

}  // namespace sinter::kernels
