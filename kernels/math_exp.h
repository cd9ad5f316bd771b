/// \file
/// f32 exponentials and hyperbolic functions, for one float or a vector. Included by math.h.
///
/// Method: x = n ln2 + r with |r| <= ln2 / 2, a polynomial for e^r, and a multiplication by 2^n
/// that rounds once, also into the denormals. Coefficients: tools/fit_polynomials.py.
#pragma once

#include "kernels/vector.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {
namespace m::f32 {

/// c0 + c1 x + c2 x^2 + ...
template <class V>
SINTER_INLINE V poly(const V&, float c0) {
  return V(c0);
}
template <class V, class... C>
SINTER_INLINE V poly(const V& x, float c0, float c1, C... rest) {
  return fma(poly(x, c1, rest...), x, V(c0));
}

/// Adding and taking away this rounds to an integer; the sum's low bits are that integer's.
inline constexpr float rounder = 0x1.8p23f;
inline constexpr float ln2_high = 0x1.62e43p-1f, ln2_low = -0x1.05c61p-29f;

/// (e^r - 1 - r) / r^2
template <class V>
SINTER_INLINE V exp_poly(V r) {
  return poly(r, 0.5f, 0.166666672f, 0.0416664891f, 0.00833320711f, 0.00139326672f,
              0.000199450893f);
}

/// (value + low) * 2^n, where low is what rounding `value` lost.
template <class V>
struct Scaled {
  V value, low, n;
};

/// e^x for |x| below 2^20.
template <class V>
SINTER_INLINE Scaled<V> exp_scaled(V x) {
  const V n = fma(x, V(0x1.715476p0f), V(rounder)) - rounder;
  const V r = fma(n, V(-ln2_low), fma(n, V(-ln2_high), x));
  const V above_one = fma(exp_poly(r), r * r, r), value = above_one + 1.0f;
  return {value, (1.0f - value) + above_one, n};
}

/// e^(x + x_low) for a small x_low, with the rounding of r carried along too.
template <class V>
SINTER_INLINE Scaled<V> exp_scaled(V x, V x_low) {
  const V n = fma(x, V(0x1.715476p0f), V(rounder)) - rounder;
  const V first = fma(n, V(-ln2_high), x), second = fma(n, V(-ln2_low), x_low);
  const V r = first + second, rest = second - (r - first);
  const V above_one = r + fma(exp_poly(r), r * r, rest), value = above_one + 1.0f;
  return {value, (1.0f - value) + above_one, n};
}

/// Beyond these e^x is 0 or infinity.
template <class V>
SINTER_INLINE V clamp_exponent(V x) {
  return clamp(x, V(-105.0f), V(90.0f));
}

template <class V>
SINTER_INLINE V exp(V x) {
  const Scaled<V> e = exp_scaled(clamp_exponent(x));
  return scale(e.value, e.n);
}

template <class V>
SINTER_INLINE V exp2(V x) {
  const V inside = clamp(x, V(-152.0f), V(130.0f));
  const V n = (inside + rounder) - rounder, r = inside - n;
  const V p = poly(r, 0.693147182f, 0.240226507f, 0.0555035956f, 0.00961806253f, 0.00133909844f,
                   0.000154628826f);
  return scale(fma(p, r, V(1.0f)), n);
}

template <class V>
SINTER_INLINE V expm1(V x) {
  const V inside = clamp(x, V(-20.0f), V(89.0f));
  const V n = fma(inside, V(0x1.715476p0f), V(rounder)) - rounder;
  const V r = fma(n, V(-ln2_high), inside), low = n * -ln2_low;
  const V reduced = r + low, rest = low - (reduced - r);
  const V tail = fma(exp_poly(reduced), reduced * reduced, rest);
  // s (1 + r + tail) - 1 with s = 2^n, halved so that s stays finite.
  const V s = scale(V(1.0f), n - 1.0f), whole = s - 0.5f;
  const V sum = fma(s, reduced, whole), error = fma(s, reduced, whole - sum);
  const V half = sum + fma(s, tail, error + ((s - whole) - 0.5f));
  return select(abs(x) < V(0x1p-25f), x, half + half);
}

template <class V>
SINTER_INLINE V sinh(V x) {
  const V a = abs(x), z = x * x;
  const V small =
      fma(poly(z, 0.166666672f, 0.00833331048f, 0.000198428956f, 2.78221319e-06f), z * x, x);
  const Scaled<V> e = exp_scaled(clamp_exponent(a));
  const V half = scale(e.value, e.n - 1.0f);
  return select(a < V(1.0f), small, copysign(half - 0.25f / half, x));
}

template <class V>
SINTER_INLINE V cosh(V x) {
  const Scaled<V> e = exp_scaled(clamp_exponent(abs(x)));
  const V half = scale(e.value, e.n - 1.0f);
  return half + 0.25f / half;
}

template <class V>
SINTER_INLINE V tanh(V x) {
  const V a = abs(x), z = x * x;
  const V small = fma(poly(z, -0.333332956f, 0.133323476f, -0.0538799874f, 0.0214871764f,
                           -0.00794684514f, 0.00230188458f, -0.000358595862f),
                      z * x, x);
  const V inside = clamp(a, V(0.0f), V(10.0f));
  const Scaled<V> e = exp_scaled(inside + inside);
  const V large = 1.0f - 2.0f / (scale(e.value, e.n) + 1.0f);
  return copysign(select(a < V(1.0f), small, large), x);  // small is +0 at -0
}

/// What is small because of a factor e^-t is computed from that factor's `value`, and scaled by 2^n
/// in the end, so that it is rounded into the denormals once. t is at least 0 here; beyond 150
/// nothing is left of it.
template <class V>
SINTER_INLINE Scaled<V> decay(V t) {
  return exp_scaled(clamp(-t, V(-150.0f), V(0.0f)));
}
template <class V>
SINTER_INLINE Scaled<V> decay(V t, V t_low) {
  return exp_scaled(clamp(-t, V(-150.0f), V(0.0f)), -t_low);
}

/// high + low, where low is small beside high.
template <class V>
struct TwoParts {
  V high, low;
};
template <class V>
SINTER_INLINE TwoParts<V> sum_in_two(V a, V b) {
  const V sum = a + b, back = sum - a;
  return {sum, (a - (sum - back)) + (b - back)};
}
template <class V>
SINTER_INLINE TwoParts<V> product_in_two(V a, V b) {
  const V product = a * b;
  return {product, fma(a, b, -product)};
}
/// top / bottom to about twice the places of a float.
template <class V>
SINTER_INLINE TwoParts<V> quotient_in_two(const TwoParts<V>& top, const TwoParts<V>& bottom) {
  const V r = 1.0f / bottom.high, q = top.high * r;
  const V rest = fma(-q, bottom.high, top.high) + fma(-q, bottom.low, top.low);
  return {q, rest * r};
}

/// e.value * factor, without the error of e.value; the caller scales it by 2^n.
template <class V>
SINTER_INLINE V times(const Scaled<V>& e, const TwoParts<V>& factor) {
  return fma(e.value, factor.high, fma(e.value, factor.low, e.low * factor.high));
}

/// x / (1 + e^-u), e^-|u| being `decayed`; `negative` where u is. x is finite.
template <class V, class M>
SINTER_INLINE V times_logistic(V x, const Scaled<V>& decayed, const M& negative) {
  const V factor = scale(V(1.0f), decayed.n), e = decayed.value * factor, one_and = 1.0f + e;
  const V e_low = fma(decayed.low, factor, e - (one_and - 1.0f));
  const auto small = product_in_two(x, decayed.value);
  const auto quotient = quotient_in_two<V>(
      {select(negative, small.high, x), select(negative, fma(x, decayed.low, small.low), V(0.0f))},
      {one_and, e_low});
  const V y = scale(quotient.high + quotient.low, select(negative, decayed.n, V(0.0f)));
  return copysign(y, x);  // -0 at -0
}

/// s (1 + (1 - s) slope) with s = 1 / (1 + e^-u), which is (1 + e + slope e) / (1 + e)^2 for u >= 0
/// and e = e^-|u|, and e (1 + e + slope) / (1 + e)^2 for u < 0; `negative` where u is.
template <class V, class M>
SINTER_INLINE V logistic_derivative(const TwoParts<V>& slope, const Scaled<V>& decayed,
                                    const M& negative) {
  const V one = V(1.0f), none = V(0.0f);
  const V factor = scale(one, decayed.n), e = decayed.value * factor, one_and = 1.0f + e;
  const V e_low = decayed.low * factor, one_and_low = (e - (one_and - 1.0f)) + e_low;
  const auto square = product_in_two(one_and, one_and);
  const V square_low = fma(one_and + one_and, one_and_low, square.low);

  const auto rise = sum_in_two(slope.high, one);
  const V rise_low = rise.low + slope.low;
  const V first = select(negative, one, e), first_low = select(negative, none, e_low);
  const auto part = product_in_two(rise.high, first);
  const V part_low = fma(rise.high, first_low, fma(rise_low, first, part.low));
  const auto top = sum_in_two(part.high, select(negative, e, one));
  const V top_low = top.low + (part_low + select(negative, e_low, none));

  const auto quotient = quotient_in_two<V>({top.high, top_low}, {square.high, square_low});
  const Scaled<V> last{select(negative, decayed.value, one), select(negative, decayed.low, none),
                       select(negative, decayed.n, none)};
  return scale(times(last, quotient), last.n);
}

/// 1 / (1 + e^-x)
template <class V>
SINTER_INLINE V sigmoid(V x) {
  return times_logistic(V(1.0f), decay(abs(x)), x < V(0.0f));
}

/// Beyond this 1 / (1 + e^-x) is 1, or 0 times a few hundred.
inline constexpr float silu_limit = 150.0f;

/// x sigmoid(x); 0 at -infinity.
template <class V>
SINTER_INLINE V silu(V x) {
  const V inside = clamp(x, V(-silu_limit), V(silu_limit));
  const V y = times_logistic(inside, decay(abs(inside)), x < V(0.0f));
  return select(x > V(silu_limit), x, y);
}

/// s (1 + x (1 - s)) with s = sigmoid(x); 0 and 1 at the infinities.
template <class V>
SINTER_INLINE V silu_derivative(V x) {
  const V inside = clamp(x, V(-silu_limit), V(silu_limit));
  return logistic_derivative<V>({inside, V(0.0f)}, decay(abs(inside)), x < V(0.0f));
}

}  // namespace m::f32
}  // namespace SINTER_ISA
}  // namespace sinter::kernels
