/// \file
/// f32 functions that need more than f32 inside: pow and the inverse hyperbolic functions, through
/// double, for one float or a vector. Included by math.h. Coefficients: tools/fit_polynomials.py.
#pragma once

#include "kernels/math_log.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {
namespace m::f32 {

template <class V>
using WideOf = typename Wide<V>::type;

template <class D>
SINTER_INLINE D poly64(const D&, double c0) {
  return D(c0);
}
template <class D, class... C>
SINTER_INLINE D poly64(const D& x, double c0, double c1, C... rest) {
  return fma(poly64(x, c1, rest...), x, D(c0));
}

inline constexpr double rounder64 = 0x1.8p52;

/// log2(x) within 2^-43, for normal x > 0.
template <class D>
SINTER_INLINE D log2_64(D x) {
  const Bits<D> bits = as_int(x), above = bits - as_int(0x1.6a09e667f3bcdp-1);
  const Bits<D> k = shift_right_logical(above + (std::int64_t{1024} << 52), 52);
  const D e = as_float(k + as_int(rounder64)) - (rounder64 + 1024.0);
  const D fraction = as_float(bits - ((k - std::int64_t{1024}) << 52));
  const D s = (fraction - 1.0) / (fraction + 1.0), z = s * s;
  return fma(s,
             poly64(z, 2.8853900817778495, 0.96179669411431867, 0.57707794208615448,
                    0.41220927991430589, 0.31990458678623973, 0.28291584075110604),
             e);
}

/// 2^x within 2^-40 of itself, for |x| <= 1000.
template <class D>
SINTER_INLINE D exp2_64(D x) {
  const D shifted = x + rounder64, r = x - (shifted - rounder64);
  const D p = poly64(r, 1.0000000000000269, 0.69314718054593061, 0.24022650695468079,
                     0.055504109412140193, 0.0096181292283832823, 0.0013333450561826836,
                     0.00015403411709303316, 1.5310080778931918e-05, 1.3264052841722173e-06);
  return p * as_float((as_int(shifted) - as_int(rounder64) + std::int64_t{1023}) << 52);
}

/// C99: pow(x, 0) = pow(1, y) = 1 even for NaN; a negative base with a fractional y gives NaN.
template <class V>
SINTER_INLINE V pow(V x, V y) {
  using D = WideOf<V>;
  const V a = abs(x);
  const D wide = to_f64(a);
  D exponent = select(wide < D(0x1p200), log2_64(wide), wide);  // infinity and NaN as they are
  exponent = select(wide == D(0.0), D(-__builtin_inf()), exponent) * to_f64(y);
  exponent = select(exponent > D(200.0), D(200.0), exponent);
  exponent = select(exponent < D(-200.0), D(-200.0), exponent);
  const V magnitude = to_f32(select(exponent == exponent, exp2_64(exponent), exponent));

  const V half = y * 0.5f;
  const auto whole = trunc(y) == y, odd = both(whole, trunc(half) != half);
  const V with_sign = select(odd, copysign(magnitude, x), magnitude);
  const auto finite_negative = both(x<V(0.0f), x> V(-infinity));
  const auto invalid = both(finite_negative, both(!whole, y == y));
  const V result = select(invalid, V(not_a_number), with_sign);
  const auto one =
      either(either(y == V(0.0f), x == V(1.0f)), both(a == V(1.0f), abs(y) == V(infinity)));
  return select(one, V(1.0f), result);
}

inline constexpr double ln2_64 = 0x1.62e42fefa39efp-1;

template <class V>
SINTER_INLINE V asinh(V x) {
  using D = WideOf<V>;
  const V a = abs(x), z = x * x;
  const D wide = to_f64(a);
  const V large = to_f32(log2_64(wide + sqrt(fma(wide, wide, D(1.0)))) * ln2_64);
  const V small = fma(fma(z, V(0.075f), V(-1.0f / 6.0f)), z * x, x);
  const V finite = select(a < V(0x1p-5f), small, large);
  return select(a < V(infinity), copysign(finite, x), x);
}

template <class V>
SINTER_INLINE V acosh(V x) {
  using D = WideOf<V>;
  const D wide = to_f64(x);
  const V finite = to_f32(log2_64(wide + sqrt(fma(wide, wide, D(-1.0)))) * ln2_64);
  return select(x < V(1.0f), V(not_a_number), select(x < V(infinity), finite, x));
}

template <class V>
SINTER_INLINE V atanh(V x) {
  using D = WideOf<V>;
  const V a = abs(x), z = x * x;
  const D wide = to_f64(a);
  const V large = to_f32(log2_64((1.0 + wide) / (1.0 - wide)) * (0.5 * ln2_64));
  const V small = fma(fma(z, V(0.2f), V(1.0f / 3.0f)), z * x, x);
  const V inside = select(a < V(0x1p-5f), small, copysign(large, x));
  const V edge = select(a == V(1.0f), copysign(V(infinity), x), select(x == x, V(not_a_number), x));
  return select(a < V(1.0f), inside, edge);
}

/// 1 / sqrt(x), with the rounding errors of both steps taken out.
template <class V>
SINTER_INLINE V rsqrt(V x) {
  const auto small = x < V(0x1p-90f);
  const V scaled = select(small, x * 0x1p64f, x);
  const V root = sqrt(scaled), y = 1.0f / root;
  const V root_error = fma(-root, root, scaled) * y * 0.5f;  // of sqrt(scaled) - root
  const V error = fma(-root_error, y, fma(-root, y, V(1.0f)));
  const V finite = fma(y, error, y) * select(small, V(0x1p32f), V(1.0f));
  return select(both(scaled > V(0.0f), scaled < V(infinity)), finite, y);
}

}  // namespace m::f32
}  // namespace SINTER_ISA
}  // namespace sinter::kernels
