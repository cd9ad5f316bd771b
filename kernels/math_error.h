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
  const V small = fma(poly(z, 0.128379166f, -0.376126289f, 0.112836316f, -0.0268564951f,
                           0.00519579602f, -0.000811762584f, 8.62345987e-05f, -2.17221827e-06f),
                      x, x);
  const V exponent = a * poly(a, -1.12859964f, -0.635409832f, -0.105669655f, 0.0230923127f,
                              -0.00318246125f, 0.000138923788f, 2.83983682e-05f, -3.55370889e-06f);
  const Scaled<V> e = exp_scaled(exponent);
  return select(z < V(1.0f), small, copysign(1.0f - scale(e.value, e.n), x));
}

/// (1 - Phi(t)) e^(t^2/2) for 0 <= t + t_low <= 14.3, and close to it up to 15.5
template <class V>
SINTER_INLINE TwoParts<V> mills_ratio(V t, V t_low) {
  const V u = t + 4.0f, r = 1.0f / u, q = fma(r, V(-8.0f), V(1.0f));
  const V slope = poly(q, -0.607896626f, 0.387137383f, -0.186522782f, 0.0603968687f,
                       -0.00753148086f, -0.00347818877f, 0.00159900729f, 0.000114938091f,
                       -0.000190595485f, 3.42941457e-05f, 3.28754104e-05f);
  const V c0 = V(0.755285144f), p = fma(slope, q, c0), p_low = fma(slope, q, c0 - p);
  const auto m = product_in_two(r, p);
  // r is off by t_low and the rounding of the sum and of the division; M changes by about (0.35 +
  // 11.3 r) times that, relatively. The last term is what rounding c0 lost.
  const V error = fma(-r, (t - (u - 4.0f)) + t_low, fma(-r, u, V(1.0f)));
  const V lost = fma(error, fma(r, V(11.3f), V(0.35f)), V(-1.7789947e-08f));
  return {m.high, fma(m.high, lost, fma(r, p_low, m.low))};
}

/// e^(-factor x^2), the square in two parts.
template <class V>
SINTER_INLINE Scaled<V> decay_of_square(V x, float factor) {
  const auto square = product_in_two(x, x);
  return decay(square.high * factor, square.low * factor);
}

template <class V>
SINTER_INLINE V erfc(V x) {
  const V a = clamp(abs(x), V(0.0f), V(10.5f)), root2 = V(0x1.6a09e6p0f), t = a * root2;
  const V t_low = fma(a, root2, -t) + a * 0x1.9fcef4p-26f;
  const Scaled<V> e = decay_of_square(a, 1.0f);
  const V tail = scale(times(e, mills_ratio(t, t_low)), e.n + 1.0f);
  return select(x < V(0.0f), 2.0f - tail, tail);
}

/// Beyond this the tail of the normal distribution, times a few hundred, is 0.
inline constexpr float gelu_limit = 15.5f;

/// x Phi(x), with erf; 0 at -infinity.
template <class V>
SINTER_INLINE V gelu(V x) {
  const V t = clamp(abs(x), V(0.0f), V(gelu_limit));
  const Scaled<V> e = decay_of_square(t, 0.5f);
  const auto m = mills_ratio(t, V(0.0f)), product = product_in_two(t, m.high);
  const V tail = scale(times<V>(e, {product.high, fma(t, m.low, product.low)}), e.n);
  return select(x < V(0.0f), V(0.0f), x) - tail;
}

/// Phi(x) + x phi(x); 0 and 1 at the infinities.
template <class V>
SINTER_INLINE V gelu_derivative(V x) {
  const V t = clamp(abs(x), V(0.0f), V(gelu_limit));
  const Scaled<V> e = decay_of_square(t, 0.5f);
  // phi(t) e^(t^2/2) is 1 / sqrt(2 pi).
  const auto m = mills_ratio(t, V(0.0f)), product = product_in_two(t, V(-0x1.988454p-2f));
  const auto sum = sum_in_two(m.high, product.high);
  const V low = sum.low + (m.low + fma(t, V(0x1.857936p-27f), product.low));
  const V lower = scale(times<V>(e, {sum.high, low}), e.n);
  return select(x < V(0.0f), lower, 1.0f - lower);
}

/// x (2 sqrt(2/pi) + c x^2) with c = high + low.
template <class V>
SINTER_INLINE TwoParts<V> gelu_tanh_cubic(V x, float high, float low) {
  const auto square = product_in_two(x, x), cubic = product_in_two(square.high, V(high));
  const V cubic_low = fma(square.low, V(high), fma(square.high, V(low), cubic.low));
  const auto sum = sum_in_two(cubic.high, V(0x1.988454p0f));
  const auto product = product_in_two(x, sum.high);
  return {product.high, fma(x, sum.low + (cubic_low - 0x1.857936p-25f), product.low)};
}

/// 2 sqrt(2/pi) (x + 0.044715 x^3), the argument of gelu_tanh's sigmoid.
template <class V>
SINTER_INLINE TwoParts<V> gelu_tanh_argument(V x) {
  return gelu_tanh_cubic(x, 0x1.2444f2p-4f, 0x1.49b16ap-29f);
}

/// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))); 0 at -infinity.
template <class V>
SINTER_INLINE V gelu_tanh(V x) {
  const V inside = clamp(x, V(-gelu_limit), V(gelu_limit));
  const auto u = gelu_tanh_argument(abs(inside));
  const V y = times_logistic(inside, decay(u.high, u.low), x < V(0.0f));
  return select(x > V(gelu_limit), x, y);
}

/// s (1 + x (1 - s) u') with s = sigmoid(u); 0 and 1 at the infinities.
template <class V>
SINTER_INLINE V gelu_tanh_derivative(V x) {
  const V inside = clamp(x, V(-gelu_limit), V(gelu_limit));
  const auto u = gelu_tanh_argument(abs(inside));
  const auto slope = gelu_tanh_cubic(inside, 0x1.b6676cp-3f, -0x1.175e2p-32f);
  return logistic_derivative(slope, decay(u.high, u.low), x < V(0.0f));
}

}  // namespace m::f32
}  // namespace SINTER_ISA
}  // namespace sinter::kernels
