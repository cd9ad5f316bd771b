/// \file
/// f32 trigonometric functions and their inverses, for one float or a vector. Included by math.h.
///
/// Method: x = n pi/2 + r with pi/2 in three parts (below 2^17) or by integer multiplication with
/// the bits of 2/pi that matter (Payne and Hanek 1983), so that r is right for every float.
/// Coefficients: tools/fit_polynomials.py.
#pragma once

#include "kernels/math_exp.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {
namespace m::f32 {

inline constexpr float half_pi_high = 0x1.921fb6p0f, half_pi_low = -0x1.777a5cp-25f,
                       half_pi_lowest = -0x1.ee59dap-50f;

/// x = n pi/2 + r + r_low with |r| <= pi/4; n is known modulo 4.
template <class V>
struct Quadrant {
  V r, r_low;
  Bits<V> n;
};

/// 2/pi after 32 zero bits.
inline constexpr std::uint32_t two_over_pi[9] = {0,          0xa2f9836e, 0x4e441529,
                                                 0xfc2757d1, 0xf534ddc0, 0xdb629599,
                                                 0x3c439041, 0xfe5163ab, 0xdebbc561};

/// For 2^17 <= |x|. With x = mantissa 2^e, the bits of 2/pi worth 4 or more after the
/// multiplication are left out (they are whole turns), the next 96 give n and r.
inline Quadrant<float> reduce_large(float x) {
  const auto bits = static_cast<std::uint32_t>(as_int(x));
  const std::uint32_t exponent = (bits >> 23) & 255u;
  if (exponent == 255u) return {x - x, 0.0f, 0};
  const std::uint64_t mantissa = (bits & 0x7fffffu) | 0x800000u;
  const std::uint32_t first = exponent - 120u, word = first / 32u, shift = first % 32u;
  std::uint64_t window[3];
  for (std::uint32_t i = 0; i < 3; ++i) {
    const std::uint64_t pair =
        static_cast<std::uint64_t>(two_over_pi[word + i]) << 32 | two_over_pi[word + i + 1];
    window[i] = (pair >> (32u - shift)) & 0xffffffffu;
  }
  // The upper 64 of 96 bits of mantissa * window: two of n, the rest a fraction.
  const std::uint64_t turns =
      ((mantissa * window[0]) << 32) + mantissa * window[1] + ((mantissa * window[2]) >> 32);
  const std::uint64_t n = (turns + (std::uint64_t{1} << 61)) >> 62;
  const auto fraction = static_cast<std::int64_t>(turns - (n << 62));
  const double r = static_cast<double>(fraction) * (0x1.921fb54442d18p0 * 0x1p-62);
  const float high = static_cast<float>(r), low = static_cast<float>(r - static_cast<double>(high));
  const auto whole = static_cast<std::int32_t>(n & 3u);
  if (x < 0.0f) return {-high, -low, (4 - whole) & 3};
  return {high, low, whole};
}

inline constexpr float reduction_limit = 0x1p17f;

SINTER_INLINE void reduce_large_lanes(float x, Quadrant<float>& q) { q = reduce_large(x); }
[[gnu::noinline]] inline void reduce_large_lanes(const VecF& x, Quadrant<VecF>& q) {
  float xs[vector_size], r[vector_size], low[vector_size];
  std::int32_t n[vector_size];
  x.store(xs), q.r.store(r), q.r_low.store(low), q.n.store(n);
  for (int i = 0; i < vector_size; ++i) {
    if (!(abs(xs[i]) >= reduction_limit)) continue;
    const Quadrant<float> lane = reduce_large(xs[i]);
    r[i] = lane.r, low[i] = lane.r_low, n[i] = lane.n;
  }
  q = {VecF::load(r), VecF::load(low), VecI32::load(n)};
}

template <class V>
SINTER_INLINE Quadrant<V> reduce(V x) {
  const V shifted = fma(x, V(0x1.45f306p-1f), V(rounder)), n = shifted - rounder;
  const V first = fma(n, V(-half_pi_high), x);  // exact
  const V second = n * half_pi_low, second_low = fma(n, V(half_pi_low), -second);
  const V r = first - second;
  const V low = fma(n, V(-half_pi_lowest), ((first - r) - second) - second_low);
  Quadrant<V> q{r, low, as_int(shifted)};
  if (any(abs(x) >= V(reduction_limit))) [[unlikely]]
    reduce_large_lanes(x, q);
  return q;
}

/// sin(r + r_low) and cos(r + r_low) for |r| <= pi/4
template <class V>
SINTER_INLINE V sin_reduced(V r, V r_low) {
  const V z = r * r;
  const V p = poly(z, -0.166666672f, 0.0083333794f, -0.000198530717f, 2.83271743e-06f);
  return r + fma(p, z * r, r_low);
}
template <class V>
SINTER_INLINE V cos_reduced(V r, V r_low) {
  const V z = r * r, z_low = fma(r, r, -z);
  const V p = poly(z, 0.0416666456f, -0.00138873013f, 2.44306684e-05f);
  const V high = fma(z, V(-0.5f), V(1.0f)), error = fma(z, V(-0.5f), 1.0f - high);
  return high + (fma(p, z * z, error) - fma(r, r_low, 0.5f * z_low));
}

/// sin(x + quarter_turns pi/2)
template <class V>
SINTER_INLINE V sin_shifted(V x, int quarter_turns) {
  const Quadrant<V> q = reduce(x);
  const Bits<V> n = q.n + quarter_turns;
  const V value =
      select((n & 1) == Bits<V>(0), sin_reduced(q.r, q.r_low), cos_reduced(q.r, q.r_low));
  return as_float(as_int(value) ^ ((n & 2) << 30));
}

template <class V>
SINTER_INLINE V sin(V x) {
  return select(x == V(0.0f), x, sin_shifted(x, 0));
}
template <class V>
SINTER_INLINE V cos(V x) {
  return sin_shifted(x, 1);
}

template <class V>
SINTER_INLINE V tan(V x) {
  const Quadrant<V> q = reduce(x);
  const V z = q.r * q.r;
  const V p = poly(z, 0.333333492f, 0.133326754f, 0.0540588982f, 0.0212863889f, 0.0108267004f,
                   9.95157243e-05f, 0.00437192339f);
  const V tail = fma(p, z * q.r, fma(q.r_low, z, q.r_low));
  const V high = q.r + tail, low = (q.r - high) + tail;
  const V inverse = -1.0f / high;
  const V error = fma(inverse, high, V(1.0f)) + inverse * low;
  const V value = select((q.n & 1) == Bits<V>(0), high, fma(inverse, error, inverse));
  return select(x == V(0.0f), x, value);
}

/// For asin and acos. With a = |x|: s = a and asin(a) = s + tail below 1/2; above it
/// s = sqrt((1 - a) / 2) and asin(a) = pi/2 - 2 (s + tail).
template <class V>
struct ArcSine {
  V s, tail;
};
template <class V>
SINTER_INLINE ArcSine<V> arc_sine(V a) {
  const auto large = a > V(0.5f);
  const V z = select(large, (1.0f - a) * 0.5f, a * a);
  const V root = sqrt(z), s = select(large, root, a);
  const V p = poly(z, 0.166667521f, 0.0749530941f, 0.0454691499f, 0.0241847783f, 0.0421583056f);
  const V correction = fma(-root, root, z) / (root + root);
  return {s, fma(p * z, s, select(both(large, z != V(0.0f)), correction, V(0.0f)))};
}

/// (a_high + a_low) - (s + tail), rounded at the end; |s| <= a_high.
template <class V>
SINTER_INLINE V subtract_from(float a_high, float a_low, V s, V tail) {
  const V high = a_high - s, error = (a_high - high) - s;
  return high + (error + (a_low - tail));
}

template <class V>
SINTER_INLINE V asin(V x) {
  const V a = abs(x);
  const ArcSine<V> t = arc_sine(a);
  const V large = subtract_from(half_pi_high, half_pi_low, t.s + t.s, t.tail + t.tail);
  return copysign(select(a > V(0.5f), large, t.s + t.tail), x);
}

template <class V>
SINTER_INLINE V acos(V x) {
  const V a = abs(x);
  const ArcSine<V> t = arc_sine(a);
  const V small = subtract_from(half_pi_high, half_pi_low, copysign(t.s, x), copysign(t.tail, x));
  const V s = t.s + t.s, tail = t.tail + t.tail;
  const V large = select(x < V(0.0f),
                         subtract_from(2.0f * half_pi_high, 2.0f * half_pi_low, s, tail), s + tail);
  return select(a > V(0.5f), large, small);
}

/// atan(t + t_low) = t + result for 0 <= t <= 1
template <class V>
SINTER_INLINE V atan_tail(V t, V t_low) {
  const V z = t * t;
  const V p = poly(z, -0.333332986f, 0.19998531f, -0.142640516f, 0.109511748f, -0.0840047523f,
                   0.0579065457f, -0.0311270021f, 0.0108873611f, -0.0017875476f);
  return fma(p, z * t, fma(z * -0.5f, t_low, t_low));  // near enough to t_low / (1 + z)
}

template <class V>
SINTER_INLINE V atan(V x) {
  const V a = abs(x);
  const auto large = a > V(1.0f);
  const V inverse = 1.0f / a, t = select(large, inverse, a);
  const V t_low =
      select(both(large, a < V(0x1p100f)), inverse * fma(-inverse, a, V(1.0f)), V(0.0f));
  const V tail = atan_tail(t, t_low);
  return copysign(select(large, subtract_from(half_pi_high, half_pi_low, t, tail), t + tail), x);
}

template <class V>
SINTER_INLINE V atan2(V y, V x) {
  const V ax = abs(x), ay = abs(y);
  const auto steep = ax < ay;
  const V top = select(steep, ax, ay), bottom = select(steep, ay, ax);
  // In double, where the quotient of two floats neither overflows nor is denormal.
  const auto quotient = to_f64(top) / to_f64(bottom);
  const V divided = to_f32(quotient);
  V t = select(top == bottom, V(1.0f), divided);
  t = select(bottom == V(0.0f), V(0.0f), t);
  const V t_low = select(top == bottom, V(0.0f), to_f32(quotient - to_f64(divided)));
  const V tail = atan_tail(t, t_low);
  const V high = half_pi_high - t, low = ((half_pi_high - high) - t) + (half_pi_low - tail);
  const V first = select(steep, high, t), first_low = select(steep, low, tail);
  const V back = subtract_from(2.0f * half_pi_high, 2.0f * half_pi_low, first, first_low);
  const V angle = select(as_int(x) < Bits<V>(0), back, first + first_low);
  return select(either(x != x, y != y), x + y, copysign(angle, y));
}

}  // namespace m::f32
}  // namespace SINTER_ISA
}  // namespace sinter::kernels
