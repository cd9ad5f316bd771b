/// \file
/// f32 logarithms, for one float or a vector. Included by math.h.
///
/// Method: x = 2^e (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), a polynomial for log(1 + f), and the
/// sum e K + C log(1 + f) with the rounding errors of its large terms carried along.
/// Coefficients: tools/fit_polynomials.py.
#pragma once

#include "kernels/math_exp.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {
namespace m::f32 {

inline constexpr float infinity = __builtin_inff();
inline constexpr float not_a_number = __builtin_nanf("");

template <class V>
struct Exponent {
  V f, e;
  Bits<V> k;  // e as an integer
};
/// x = 2^e (1 + f) for a normal x > 0.
template <class V>
SINTER_INLINE Exponent<V> split_exponent(V x) {
  const Bits<V> bits = as_int(x);
  const Bits<V> k = (bits - as_int(0x1.6a09e6p-1f)) >> 23;
  const V e = as_float(k + as_int(rounder)) - rounder;
  return {as_float(bits - (k << 23)) - 1.0f, e, k};
}

/// log(1 + f) - f
template <class V>
SINTER_INLINE V log_tail(V f) {
  const V z = f * f, z_low = fma(f, f, -z);
  const V p = poly(f, 0.333333135f, -0.250000089f, 0.200020716f, -0.166679904f, 0.142203629f,
                   -0.124062084f, 0.118834712f, -0.116701834f, 0.0674954057f);
  return fma(z, V(-0.5f), fma(p, f * z, z_low * -0.5f));
}

/// e K + y + low, where |y| <= |e K| or e is 0.
template <class V>
SINTER_INLINE V add_exponent(V e, float k_high, float k_low, V y, V low) {
  const V sum = fma(e, V(k_high), y);
  const V error = fma(e, V(k_high), -sum) + y;
  return sum + (error + fma(e, V(k_low), low));
}

/// e log_b(2) + log_b(1 + f) for the base b with log_b(e) = c_high + c_low.
template <class V>
SINTER_INLINE V log_base(const Exponent<V>& x, float c_high, float c_low, float k_high,
                         float k_low) {
  const V y = x.f * c_high, error = fma(x.f, V(c_high), -y);
  const V low = fma(x.f, V(c_low), fma(log_tail(x.f), V(c_high), error));
  return add_exponent(x.e, k_high, k_low, y, low);
}

/// `result` for 0 < x < infinity; else -infinity at 0, NaN below, x for infinity and NaN.
template <class V>
SINTER_INLINE V log_special(V x, V result) {
  const V special = select(x < V(0.0f), V(not_a_number), select(x == V(0.0f), V(-infinity), x));
  return select(both(x > V(0.0f), x < V(infinity)), result, special);
}

/// x as a normal number: denormals come 2^23 times larger, with `e` less by 23.
template <class V>
SINTER_INLINE Exponent<V> split_any(V x) {
  const auto small = x < V(0x1p-126f);
  Exponent<V> parts = split_exponent(select(small, x * 0x1p23f, x));
  parts.e = parts.e - select(small, V(23.0f), V(0.0f));
  return parts;
}

template <class V>
SINTER_INLINE V log(V x) {
  const Exponent<V> parts = split_any(x);
  return log_special(x, add_exponent(parts.e, ln2_high, ln2_low, parts.f, log_tail(parts.f)));
}

template <class V>
SINTER_INLINE V log2(V x) {
  return log_special(x, log_base(split_any(x), 0x1.715476p0f, 0x1.4ae0cp-26f, 1.0f, 0.0f));
}

template <class V>
SINTER_INLINE V log10(V x) {
  return log_special(
      x, log_base(split_any(x), 0x1.bcb7b2p-2f, -0x1.5b235ep-27f, 0x1.344136p-2f, -0x1.ec10cp-27f));
}

template <class V>
SINTER_INLINE V log1p(V x) {
  const V u = 1.0f + x, back = u - 1.0f;
  const V lost = (x - back) + (1.0f - (u - back));  // 1 + x - u, exactly
  const Exponent<V> parts = split_exponent(u);
  const auto near = parts.k == Bits<V>(0);  // there 1 + f is 1 + x without rounding
  const V f = select(near, x, parts.f);
  const auto whole = either(near, parts.k > Bits<V>(60));  // `lost` is 0 or does not matter
  const V f_low = select(whole, V(0.0f), lost * as_float((127 - parts.k) << 23));
  const V low = fma(fma(f, f, -f), f_low, f_low) + log_tail(f);
  const V result = log_special(u, add_exponent(parts.e, ln2_high, ln2_low, f, low));
  return select(x == V(0.0f), x, result);
}

/// max(x, 0) + log1p(e^-|x|)
template <class V>
SINTER_INLINE V softplus(V x) {
  return select(x < V(0.0f), V(0.0f), x) + log1p(exp(-abs(x)));
}
template <class V>
SINTER_INLINE V log_sigmoid(V x) {
  return -softplus(-x);
}

}  // namespace m::f32
}  // namespace SINTER_ISA
}  // namespace sinter::kernels
