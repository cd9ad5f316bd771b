/// \file
/// Scaled dot-product attention and its gradient.
///
/// With the compute type of q (float for f16, bf16 and f32; double for f64, and for f32 where
/// queries * keys * (d + e), over all batches and heads, is at most 2^21), for each batch and head
/// h, which reads kv head h / (heads / kv heads):
///   score[i][j] = scale * (q[i] . k[j]) + mask[i][j]    (a floating mask)
///   score[i][j] = -inf where a bool mask is false, and where causal and j > i
///   m = amax(score[i])   e[j] = exp(score[j] - m)   p[i][j] = e[j] / sum(e)
///   a row whose m is -inf, or without keys: p[i][j] = 0
///   with dropout: p'[i][j] = p[i][j] / (1 - p) where element ((batch * heads + h) * queries + i) *
///   keys + j of random_uniform's draw is at least float(p), else 0; without: p' = p
///   out[i] = sum over j of p'[i][j] * v[j]
/// Terms whose p or p' is 0 are left out of every sum, here and below, so that what is not seen has
/// no effect even where it is NaN or infinite. The gradient: dp'[i][j] = g[i] . v[j], dp = dp'
/// under the same dropout,
///   ds[i][j] = p[i][j] * (dp[i][j] - sum over j of p[i][j] * dp[i][j])
///   dq[i] = scale * sum ds[i][j] * k[j]   dk[j] = scale * sum ds[i][j] * q[i]
///   dv[j] = sum p'[i][j] * g[i], dk and dv summed over the heads that read them.
///
/// This is the library class: dot products are summed in an order of the kernel's own, which
/// depends on shapes alone, so results repeat bit for bit at any thread count, and differ from the
/// interpreter's within a bound: |error| <= 2^-19 * (1 + keys / 64) * the sum of the magnitudes
/// of the terms for float, before the one rounding to a 16-bit result.
#pragma once

#include <cstdint>

#include "kernels/view.h"

namespace sinter::kernels {

struct AttentionOperands {
  ConstView q;     ///< [batch, heads, queries, d]
  ConstView k;     ///< [batch, kv heads, keys, d]
  ConstView v;     ///< [batch, kv heads, keys, e]
  ConstView mask;  ///< bool or floating, of at most four axes, broadcasts; null data: none
  bool causal = false;
  double scale = 1;
  double dropout = 0;  ///< 0: none
  std::uint64_t seed = 0, ordinal = 0;
};

/// `out` [batch, heads, queries, e].
void attention(const AttentionOperands& operands, const View& out);

/// `g` has the shape of the forward result; dq, dk and dv those of q, k and v.
void attention_grad(const ConstView& g, const AttentionOperands& operands, const View& dq,
                    const View& dk, const View& dv);

}  // namespace sinter::kernels
