/// \file
/// layer_norm and rms_norm over the trailing axes, and their gradients.
///
/// The operations, each rounded by itself: those of layer_norm and its gradient in double, as what
/// its few sums and factors are off by moves whole rows, and with them all that follows; all others
/// in the compute type of x (float for f16, bf16 and f32; double). Operands are converted on entry,
/// results once on exit. A row is the elements of the trailing axes, n of them; x[i], w[i], b[i]
/// run over it. Sums along a row follow the row rule of kernels/reduce.h.
///   layer_norm   e[i] = x[i] - sum(x) / n        d[i] = e[i] - sum(e) / n
///                v = sum(d[i] * d[i]) / n
///                (centred twice: a mean far from 0 is only as exact as its own last bit, which may
///                be more than the distances to it)
///   rms_norm     d[i] = x[i]              v = sum(x[i] * x[i]) / n
///   both         r = 1 / sqrt(v + epsilon)
///                y[i] = d[i] * r, then * w[i] where there is a weight, then + b[i] with a bias
/// The gradients compute d and r again:
///                z[i] = d[i] * r          h[i] = g[i] * w[i], or g[i] without weight
///   rms_norm     c = sum(h[i] * z[i]) / n
///                dx[i] = (h[i] - z[i] * c) * r
///   layer_norm   a = sum(h[i]) / n, c as above
///                dx[i] = ((h[i] - a) - z[i] * c) * r
///   both         dw[i] = sum over rows of g[i] * z[i]     db[i] = sum over rows of g[i]
/// the latter by the column rule of kernels/reduce.h over the array [rows, n] (for n = 1 by its row
/// rule).
#pragma once

#include "kernels/view.h"

namespace sinter::kernels {

/// The operands both norms share. `weight` and `bias` have the shape of the trailing axes; a null
/// `data` says there is none. rms_norm has no bias.
struct NormOperands {
  ConstView x;
  ConstView weight;
  ConstView bias;
  int axes = 1;  ///< how many trailing axes make a row
  double epsilon = 0;
};

void layer_norm(const NormOperands& operands, const View& y);
void rms_norm(const NormOperands& operands, const View& y);

/// `g` has x's shape. `dweight` and `dbias` are written where their `data` is not null.
void layer_norm_grad(const ConstView& g, const NormOperands& operands, const View& dx,
                     const View& dweight, const View& dbias);
void rms_norm_grad(const ConstView& g, const NormOperands& operands, const View& dx,
                   const View& dweight);

}  // namespace sinter::kernels
