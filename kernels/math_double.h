/// \file
/// The f64 functions: exp for one double or a vector, the others for one double and the C library's
/// where it has them. The library's last bit may differ from one machine to another. Included by
/// math.h.
#pragma once

#include "kernels/math_basic.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {
namespace m::f64 {

/// c0 + c1 x + c2 x^2 + ... without fma, which is slow where the machine has none.
template <class V>
SINTER_INLINE V taylor(const V&, double c0) {
  return V(c0);
}
template <class V, class... C>
SINTER_INLINE V taylor(const V& x, double c0, C... rest) {
  return taylor(x, rest...) * x + c0;
}

/// The same bits everywhere, within 1 ulp (2 among the denormals). x = n ln2 + r with
/// |r| <= ln2 / 2; n times ln2's upper 33 bits is exact, and the series ends where its terms are
/// below 2^-57.
template <class V>
SINTER_INLINE V exp(V x) {
  constexpr double rounder = 0x1.8p52;  // see math_exp.h
  V inside = select(x < V(-746.0), V(-746.0), x);
  inside = select(inside > V(710.0), V(710.0), inside);
  const V shifted = inside * 0x1.71547652b82fep0 + rounder, n = shifted - rounder;
  const V r = (inside - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
  const V above_one =
      r * r *
          taylor(r, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320,
                 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800) +
      r;
  // 2^n in two factors, neither of which overflows or is denormal.
  const auto k = as_int(shifted) - as_int(rounder), half = shift_right_logical(k + 2048, 1) - 1024;
  return (above_one + 1.0) * as_float((half + 1023) << 52) * as_float((k - half + 1023) << 52);
}

#define SINTER_LIBRARY(name) \
  SINTER_INLINE double name(double x) { return __builtin_##name(x); }
SINTER_LIBRARY(exp2)
SINTER_LIBRARY(expm1)
SINTER_LIBRARY(log)
SINTER_LIBRARY(log2)
SINTER_LIBRARY(log10)
SINTER_LIBRARY(log1p)
SINTER_LIBRARY(sin)
SINTER_LIBRARY(cos)
SINTER_LIBRARY(tan)
SINTER_LIBRARY(asin)
SINTER_LIBRARY(acos)
SINTER_LIBRARY(atan)
SINTER_LIBRARY(sinh)
SINTER_LIBRARY(cosh)
SINTER_LIBRARY(tanh)
SINTER_LIBRARY(asinh)
SINTER_LIBRARY(acosh)
SINTER_LIBRARY(atanh)
SINTER_LIBRARY(erf)
SINTER_LIBRARY(erfc)
#undef SINTER_LIBRARY

SINTER_INLINE double pow(double x, double y) { return __builtin_pow(x, y); }
SINTER_INLINE double atan2(double y, double x) { return __builtin_atan2(y, x); }
SINTER_INLINE double rsqrt(double x) { return 1.0 / sqrt(x); }

/// x within -limit..limit; NaN stays NaN.
SINTER_INLINE double bounded(double x, double limit) {
  return x < -limit ? -limit : x > limit ? limit : x;
}

SINTER_INLINE double sigmoid(double x) {
  const double e = exp(-abs(x));
  return (x < 0.0 ? e : 1.0) / (1.0 + e);
}
SINTER_INLINE double silu(double x) {
  const double e = exp(-abs(x));
  return (x < 0.0 ? bounded(x, 1000.0) * e : x) / (1.0 + e);
}
SINTER_INLINE double silu_derivative(double x) {
  const double inside = bounded(x, 1000.0);
  return sigmoid(inside) * (1.0 + inside * sigmoid(-inside));
}
SINTER_INLINE double softplus(double x) { return (x < 0.0 ? 0.0 : x) + log1p(exp(-abs(x))); }
SINTER_INLINE double log_sigmoid(double x) { return -softplus(-x); }

/// Beyond this Phi is 0 or 1.
inline constexpr double gelu_limit = 40.0;

SINTER_INLINE double gelu(double x) {
  const double inside = x < -gelu_limit ? -gelu_limit : x;
  return 0.5 * inside * erfc(inside * -0x1.6a09e667f3bcdp-1);
}
SINTER_INLINE double gelu_derivative(double x) {
  const double inside = bounded(x, gelu_limit);
  return 0.5 * erfc(inside * -0x1.6a09e667f3bcdp-1) +
         inside * 0x1.9884533d43651p-2 * exp(-0.5 * inside * inside);
}

/// 2 sqrt(2/pi) and the factor of x^3 beside it.
inline constexpr double gelu_linear = 0x1.9884533d43651p0, gelu_cubic = gelu_linear * 0.044715;

SINTER_INLINE double gelu_tanh(double x) {
  const double inside = bounded(x, gelu_limit);
  const double s = sigmoid(inside * (gelu_linear + gelu_cubic * inside * inside));
  return (x < 0.0 ? inside : x) * s;
}
SINTER_INLINE double gelu_tanh_derivative(double x) {
  const double inside = bounded(x, gelu_limit), z = inside * inside;
  const double u = inside * (gelu_linear + gelu_cubic * z);
  return sigmoid(u) * (1.0 + inside * (gelu_linear + 3.0 * gelu_cubic * z) * sigmoid(-u));
}

}  // namespace m::f64
}  // namespace SINTER_ISA
}  // namespace sinter::kernels
