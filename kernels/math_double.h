/// \file
/// The scalar f64 functions: the C library's where it has them. Their last bit may differ from one
/// C library to another. Included by math.h.
#pragma once

#include "kernels/math_basic.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {
namespace m::f64 {

#define SINTER_LIBRARY(name) \
  SINTER_INLINE double name(double x) { return __builtin_##name(x); }
SINTER_LIBRARY(exp)
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
