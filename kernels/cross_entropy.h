/// \file
/// Cross-entropy of logits against class numbers, and its gradient.
///
/// The operations, in the compute type of the logits (float for f16, bf16 and f32; double), each
/// rounded by itself. Row r has logits x[j] of C classes, target t and class weights w[j] (1 where
/// there are none). Sums along a row, of the class weights and over all rows (in row-major order of
/// the targets, as one row) follow the row rule of kernels/reduce.h.
///   m = amax(x)    s = sum(exp(x[j] - m))    l = log(s)    q[j] = (x[j] - m) - l
///   f = 1 - smoothing    b = smoothing / C   (each rounded from double)
///   without smoothing  loss[r] = -(w[t] * q[t])
///   with smoothing     loss[r] = -((f * (w[t] * q[t])) + b * sum(w[j] * q[j]))
///   weight[r] = w[t]
///   an ignored row     loss[r] = 0 and weight[r] = 0, whatever its logits are
///   none: loss[r]      sum: sum(loss[r])     mean: sum(loss[r]) / sum(weight[r])
/// The gradient, `h` being g (sum), g[r] (none) or g / sum(weight[r]) (mean):
///   p[j] = exp(x[j] - m) / s
///   without smoothing  u[j] = p[j] * w[t], then minus w[t] for j = t
///   with smoothing     a = f * w[t]    k = a + b * sum(w[j])
///                      u[j] = p[j] * k - b * w[j], then minus a for j = t
///   dx[j] = h * u[j]   in an ignored row 0
/// (a product with weights that are not there is left out). "Without smoothing" is smoothing == 0.
///
/// A target that is neither a class nor ignore_index is reported as a fault at its position in the
/// targets, limit C; its row counts as ignored.
#pragma once

#include <cstdint>

#include "kernels/fault.h"
#include "kernels/view.h"

namespace sinter::kernels {

struct CrossEntropyOperands {
  ConstView logits;   ///< [n..., classes]
  ConstView targets;  ///< [n...], i32 or i64
  ConstView weight;   ///< [classes]; null data: none
  int reduction = 0;  ///< 0 none, 1 mean, 2 sum
  std::int64_t ignore_index = -100;
  double smoothing = 0;
};

/// `loss` is [n...] for reduction none, else [].
void cross_entropy(const CrossEntropyOperands& operands, const View& loss, Fault& fault);

/// `g` has the loss's shape, `dx` the logits'.
void cross_entropy_grad(const ConstView& g, const CrossEntropyOperands& operands, const View& dx,
                        Fault& fault);

}  // namespace sinter::kernels
