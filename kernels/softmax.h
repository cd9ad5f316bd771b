/// \file
/// softmax and log_softmax along one axis, and their gradients.
///
/// The operations, in the compute type of the result (float for f16, bf16 and f32; double), each
/// rounded by itself; operands are converted on entry, results once on exit. `x[i]` runs over the
/// axis; sum and amax are passes of kernels/reduce.h over the array seen as [outer, extent, inner]:
/// the row rule where inner is 1, the column rule otherwise.
///   m = amax(x)     e[i] = exp(x[i] - m)     s = sum(e)
///   softmax           y[i] = e[i] / s
///   log_softmax       y[i] = (x[i] - m) - log(s)
///   softmax_grad      t = sum(g[i] * y[i])    dx[i] = (g[i] - t) * y[i]
///   log_softmax_grad  t = sum(g[i])           dx[i] = g[i] - exp(y[i]) * t
/// Infinities follow from that: -inf gives 0 (or -inf) beside anything finite; a row of -inf alone,
/// and a row with +inf or NaN, gives NaN where NaN arises.
#pragma once

#include <cstdint>

#include "kernels/view.h"

namespace sinter::kernels {

enum class SoftmaxKind : std::uint8_t { plain, logarithm };

/// `y` has x's shape.
void softmax(SoftmaxKind kind, const ConstView& x, int axis, const View& y);

/// `y` is the forward result; `g`, `y` and `dx` have one shape.
void softmax_grad(SoftmaxKind kind, const ConstView& g, const ConstView& y, int axis,
                  const View& dx);

}  // namespace sinter::kernels
