/// \file
/// f32 error functions and the activations made of them, for one float or a vector. Included by
/// math.h.
///
/// The upper tail of the normal distribution is e^(-t^2/2) M(t), M being Mills' ratio: a polynomial
/// in (t - 4) / (t + 4) over t + 4. The exponent is carried in two floats, so that small values
/// keep their relative accuracy. Coefficients: tools/fit_polynomials.py.
#pragma once

#include "kernels/math_exp.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {
namespace m::f32 {

template <class V>
SINTER_INLINE V erf(V x) {
  const V a = clamp(abs(x), V(0.0f), V(4.0f)), z = x * x;
  const V small = fma(poly(z, 0.128379166f, -0.376126289f, 0.112836257f, -0.0268557277f,
                           0.00519237714f, -0.000804917479f, 7.99280388e-05f),
                      x, x);
  const V exponent = a * poly(a, -1.12855613f, -0.63560462f, -0.105303451f, 0.0227177683f,
                              -0.00295751146f, 5.96239042e-05f, 4.35860566e-05f, -4.77252388e-06f);
  const Scaled<V> e = exp_scaled(exponent, V(0.0f));
  return select(z < V(0.85f), small, copysign(1.0f - scale(e.value, e.n), x));
}

/// (1 - Phi(t)) e^(t^2/2) for 0 <= t <= 14.3
template <class V>
SINTER_INLINE V mills_ratio(V t) {
  const V r = 1.0f / (t + 4.0f), q = fma(r, V(-8.0f), V(1.0f));
  return r * poly(q, 0.755285144f, -0.607896626f, 0.387136459f, -0.186522916f, 0.060409151f,
                  -0.00752612529f, -0.00353472703f, 0.00155926833f, 0.000208027152f,
                  -0.00010284919f, 6.70285499e-06f);
}

/// e^(-factor x^2), the square in two parts.
template <class V>
SINTER_INLINE V exp_minus_square(V x, float factor) {
  const V square = x * x, low = fma(x, x, -square);
  return exp(square * -factor, low * -factor);
}

template <class V>
SINTER_INLINE V erfc(V x) {
  const V a = clamp(abs(x), V(0.0f), V(10.1f));
  const V tail = 2.0f * exp_minus_square(a, 1.0f) * mills_ratio(a * 0x1.6a09e6p0f);
  return select(x < V(0.0f), 2.0f - tail, tail);
}

/// x Phi(x), with erf; 0 at -infinity.
template <class V>
SINTER_INLINE V gelu(V x) {
  const V t = clamp(abs(x), V(0.0f), V(14.3f));
  const V tail = exp_minus_square(t, 0.5f) * mills_ratio(t);
  return fma(-t, tail, select(x < V(0.0f), V(0.0f), x));
}

/// Phi(x) + x phi(x); 0 and 1 at the infinities.
template <class V>
SINTER_INLINE V gelu_derivative(V x) {
  const V t = clamp(abs(x), V(0.0f), V(14.3f));
  const V lower = exp_minus_square(t, 0.5f) * fma(t, V(-0x1.988454p-2f), mills_ratio(t));
  return select(x < V(0.0f), lower, 1.0f - lower);
}

/// 2 sqrt(2/pi) (x + 0.044715 x^3), the argument of gelu_tanh's sigmoid, in two parts.
template <class V>
struct TwoParts {
  V high, low;
};
template <class V>
SINTER_INLINE TwoParts<V> gelu_tanh_argument(V x) {
  const V square = x * x, square_low = fma(x, x, -square);
  const V cubic = square * 0x1.2444f2p-4f;
  const V cubic_low = fma(square_low, V(0x1.2444f2p-4f),
                          fma(square, V(0x1.49b16ap-29f), fma(square, V(0x1.2444f2p-4f), -cubic)));
  const V linear = V(0x1.988454p0f), sum = cubic + linear, back = sum - cubic;
  const V sum_low = ((cubic - (sum - back)) + (linear - back)) + (cubic_low - 0x1.857936p-25f);
  const V high = x * sum;
  return {high, fma(x, sum_low, fma(x, sum, -high))};
}

/// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))); 0 at -infinity.
template <class V>
SINTER_INLINE V gelu_tanh(V x) {
  const V t = clamp(abs(x), V(0.0f), V(15.0f));
  const TwoParts<V> u = gelu_tanh_argument(t);
  const V e = exp(-u.high, -u.low);
  const auto negative = x < V(0.0f);
  return select(negative, -t * e, x) / (1.0f + e);
}

/// s (1 + x (1 - s) u') with s = sigmoid(u); 0 and 1 at the infinities.
template <class V>
SINTER_INLINE V gelu_tanh_derivative(V x) {
  const V inside = clamp(x, V(-15.0f), V(15.0f)), t = abs(inside);
  const TwoParts<V> u = gelu_tanh_argument(t);
  const V e = exp(-u.high, -u.low), r = 1.0f / (1.0f + e);
  const V slope = inside * fma(inside * inside, V(0x1.b6676cp-3f), V(0x1.988454p0f));
  const auto negative = x < V(0.0f);
  const V s = select(negative, e, V(1.0f)) * r, complement = select(negative, V(1.0f), e) * r;
  return s * fma(slope, complement, V(1.0f));
}

}  // namespace m::f32
}  // namespace SINTER_ISA
}  // namespace sinter::kernels
