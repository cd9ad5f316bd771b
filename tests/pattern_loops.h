/// \file
/// The loops of well-known patterns, put together by hand: what the fuser is to find, and what the
/// emitters are tried on. Each states its accesses and numbers in order; memory is contiguous along
/// the columns unless said otherwise.
#pragma once

#include "jit/loop.h"

namespace sinter::tests {

/// x, y.
jit::Loop softmax_loop(DType dtype);
/// g, y, dx.
jit::Loop softmax_grad_loop(DType dtype);
/// x, weight, bias, y; count and epsilon (f64). Computed in f64, as layer_norm is.
jit::Loop layer_norm_loop(DType dtype);
/// g, x, weight, dx, sums of rows for dweight and dbias (f64); count and epsilon (f64).
jit::Loop layer_norm_grad_loop(DType dtype);
/// logits, targets (i64, one a row), loss (one a row).
jit::Loop cross_entropy_loop(DType dtype);
/// scale (f32, one), logits, targets (i64, one a row), dlogits.
jit::Loop cross_entropy_grad_loop(DType dtype);
/// x, residual, weight, bias, y, sum; the position of an element of x; p, 1 / (1 - p) (f32), seed,
/// ordinal (i64), count, epsilon (f64): y = layer_norm(sum), sum = dropout(x) + residual.
jit::Loop dropout_residual_layer_norm_loop(DType dtype);
/// p, g, m, v and again, as outputs, p, m, v, along one row; lr, b1, 1 - b1, b2, 1 - b2, c1, c2,
/// eps: m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2, p -= lr (m / c1) / (sqrt(v / c2) + eps).
jit::Loop adam_loop();
/// x, y: y = gelu_tanh(x * w + b) + x with w and b of a row (accesses 1 and 2).
jit::Loop gelu_chain_loop(DType dtype);
/// x, sums of rows.
jit::Loop column_sum_loop(DType dtype);

}  // namespace sinter::tests
