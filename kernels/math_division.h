/// \file
/// Remainders and whole quotients of floats, exact as in C99 and NumPy. Included by math.h.
#pragma once

#include "kernels/math_basic.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {
namespace m {

SINTER_INLINE float fmod_lane(float a, float b) { return __builtin_fmodf(a, b); }
SINTER_INLINE double fmod_lane(double a, double b) { return __builtin_fmod(a, b); }

SINTER_INLINE float fmod(float a, float b) { return fmod_lane(a, b); }
SINTER_INLINE double fmod(double a, double b) { return fmod_lane(a, b); }

/// a - trunc(a / b) b, exactly; the sign of a. Quotients below 2^22 are found by one division, with
/// a correction where it was rounded up to the next whole number; others lane by lane.
template <class T>
SINTER_INLINE Vec<T> fmod(const Vec<T>& a, const Vec<T>& b) {
  using V = Vec<T>;
  const V x = abs(a), y = abs(b), whole = trunc(x / y);
  const auto tame = both(both(y > T(0x1p-60), y < T(0x1p100)), x < T(0x1p100));
  const auto easy = both(whole < T(0x1p22), tame);
  if (any(!easy)) [[unlikely]]
    return map([](T p, T q) { return fmod_lane(p, q); }, a, b);
  const V rest = fma(-whole, y, x);
  return copysign(select(rest < T(0), rest + y, rest), a);
}

/// As Python's %: the sign of b; a zero has it too.
template <class V>
SINTER_INLINE V remainder(const V& a, const V& b) {
  const V rest = fmod(a, b), zero = constant<V>(0);
  const auto across = both(rest != zero, less(rest, zero) != less(b, zero));
  return select(rest == zero, copysign(zero, b), select(across, rest + b, rest));
}

/// floor(a / b) as NumPy rounds it, from the exact remainder; a / b where b is 0.
template <class V>
SINTER_INLINE V floor_divide(const V& a, const V& b) {
  const V rest = fmod(a, b), zero = constant<V>(0), one = constant<V>(1);
  const auto across = both(rest != zero, less(rest, zero) != less(b, zero));
  const V quotient = (a - rest) / b - select(across, one, zero);
  const V down = floor(quotient);
  const V whole = select(quotient - down > V(Element<V>(0.5)), down + one, down);
  const V nonzero = select(quotient == zero, copysign(zero, a / b), whole);
  return select(b == zero, a / b, nonzero);
}

}  // namespace m
}  // namespace SINTER_ISA
}  // namespace sinter::kernels
