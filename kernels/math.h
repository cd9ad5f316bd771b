/// \file
/// The mathematical functions of the kernels, `m::tanh(x)` and so on, for float, double and
/// std::int64_t and for the logical vectors VecF, VecD and VecI of them.
///
/// f32: the same bits for every input from the scalar form and from every instruction set (all NaNs
/// equal): only operations that IEEE 754 rounds one way, `fma` where it is written and nowhere
/// else. MATH.md has the largest error of each. f64: exp has the same bits everywhere too; the
/// others have the C library's accuracy (a few ulp), lane by lane; arithmetic, sqrt and rounding
/// are exact. Special values are those of C99 and NumPy. `round` rounds ties to even. Results need
/// the default rounding mode and denormals enabled.
#pragma once

#include "kernels/math_basic.h"
#include "kernels/math_division.h"
#include "kernels/math_double.h"
#include "kernels/math_error.h"
#include "kernels/math_exp.h"
#include "kernels/math_integer.h"
#include "kernels/math_log.h"
#include "kernels/math_power.h"
#include "kernels/math_trig.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {
namespace m {

#define SINTER_UNARY(name)                                        \
  SINTER_INLINE float name(float x) { return f32::name(x); }      \
  SINTER_INLINE VecF name(const VecF& x) { return f32::name(x); } \
  SINTER_INLINE double name(double x) { return f64::name(x); }    \
  SINTER_INLINE VecD name(const VecD& x) {                        \
    return map([](double lane) { return f64::name(lane); }, x);   \
  }
#define SINTER_BINARY(name)                                                         \
  SINTER_INLINE float name(float x, float y) { return f32::name(x, y); }            \
  SINTER_INLINE VecF name(const VecF& x, const VecF& y) { return f32::name(x, y); } \
  SINTER_INLINE double name(double x, double y) { return f64::name(x, y); }         \
  SINTER_INLINE VecD name(const VecD& x, const VecD& y) {                           \
    return map([](double p, double q) { return f64::name(p, q); }, x, y);           \
  }

SINTER_UNARY(exp2)
SINTER_UNARY(expm1)
SINTER_UNARY(log)
SINTER_UNARY(log2)
SINTER_UNARY(log10)
SINTER_UNARY(log1p)
SINTER_UNARY(rsqrt)
SINTER_UNARY(sin)
SINTER_UNARY(cos)
SINTER_UNARY(tan)
SINTER_UNARY(asin)
SINTER_UNARY(acos)
SINTER_UNARY(atan)
SINTER_UNARY(sinh)
SINTER_UNARY(cosh)
SINTER_UNARY(tanh)
SINTER_UNARY(asinh)
SINTER_UNARY(acosh)
SINTER_UNARY(atanh)
SINTER_UNARY(erf)
SINTER_UNARY(erfc)
SINTER_UNARY(sigmoid)
SINTER_UNARY(silu)
SINTER_UNARY(silu_derivative)
SINTER_UNARY(gelu)
SINTER_UNARY(gelu_derivative)
SINTER_UNARY(gelu_tanh)
SINTER_UNARY(gelu_tanh_derivative)
SINTER_UNARY(softplus)
SINTER_UNARY(log_sigmoid)
SINTER_BINARY(pow)
SINTER_BINARY(atan2)

#undef SINTER_UNARY
#undef SINTER_BINARY

SINTER_INLINE float exp(float x) { return f32::exp(x); }
SINTER_INLINE VecF exp(const VecF& x) { return f32::exp(x); }
SINTER_INLINE double exp(double x) { return f64::exp(x); }
SINTER_INLINE VecD exp(const VecD& x) { return f64::exp(x); }

}  // namespace m
}  // namespace SINTER_ISA
}  // namespace sinter::kernels
