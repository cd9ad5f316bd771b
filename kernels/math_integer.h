/// \file
/// Integer arithmetic that is defined for all operands: wrap-around, division by zero gives 0 (the
/// kernel reports it), shifts by any count. Included by math.h.
#pragma once

#include "kernels/math_basic.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {
namespace m {

/// Unsigned, for signed overflow wraps only where a compiler is told so, which NVRTC can't be.
SINTER_INLINE std::int64_t negative(std::int64_t x) {
  return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(x));
}
SINTER_INLINE std::int64_t product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

SINTER_INLINE std::int64_t abs(std::int64_t x) { return x < 0 ? negative(x) : x; }
SINTER_INLINE VecI abs(const VecI& x) { return select(x < std::int64_t{0}, -x, x); }

/// Integers are whole.
#define SINTER_WHOLE(name)                                      \
  SINTER_INLINE std::int64_t name(std::int64_t x) { return x; } \
  SINTER_INLINE VecI name(const VecI& x) { return x; }
SINTER_WHOLE(floor)
SINTER_WHOLE(ceil)
SINTER_WHOLE(trunc)
SINTER_WHOLE(round)
#undef SINTER_WHOLE

/// Towards zero. The one quotient that does not fit, -2^63 / -1, wraps to -2^63.
SINTER_INLINE std::int64_t quotient(std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  return b == -1 ? negative(a) : a / b;
}
/// What is left of the quotient: the sign of a.
SINTER_INLINE std::int64_t fmod(std::int64_t a, std::int64_t b) {
  return b == 0 || b == -1 ? 0 : a % b;
}
/// Towards minus infinity.
SINTER_INLINE std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  const bool below = fmod(a, b) != 0 && (a < 0) != (b < 0);
  return quotient(a, b) - (below ? 1 : 0);
}
/// a - floor_divide(a, b) * b: the sign of b.
SINTER_INLINE std::int64_t remainder(std::int64_t a, std::int64_t b) {
  const std::int64_t rest = fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// x^n by squaring, wrapping. For n < 0 the true value is below 1: 0, except for x = 1 and -1.
SINTER_INLINE std::int64_t pow(std::int64_t x, std::int64_t n) {
  if (n < 0) return x == 1 ? 1 : x == -1 ? ((n & 1) != 0 ? -1 : 1) : 0;
  std::int64_t result = 1;
  for (; n != 0; n >>= 1) {
    if ((n & 1) != 0) result = product(result, x);
    x = product(x, x);
  }
  return result;
}

/// Counts outside 0..63 shift everything out: 0, or the sign when shifting to the right.
SINTER_INLINE std::int64_t shift_left(std::int64_t x, std::int64_t count) {
  return count < 0 || count > 63 ? 0 : x << count;
}
SINTER_INLINE std::int64_t shift_right(std::int64_t x, std::int64_t count) {
  return x >> (count < 0 || count > 63 ? 63 : count);
}

#define SINTER_BY_LANE(name)                                                     \
  SINTER_INLINE VecI name(const VecI& a, const VecI& b) {                        \
    return map([](std::int64_t x, std::int64_t y) { return name(x, y); }, a, b); \
  }
SINTER_BY_LANE(quotient)
SINTER_BY_LANE(fmod)
SINTER_BY_LANE(floor_divide)
SINTER_BY_LANE(remainder)
SINTER_BY_LANE(pow)
SINTER_BY_LANE(shift_left)
SINTER_BY_LANE(shift_right)
#undef SINTER_BY_LANE

template <class V>
SINTER_INLINE V bitwise_and(const V& a, const V& b) {
  return a & b;
}
template <class V>
SINTER_INLINE V bitwise_or(const V& a, const V& b) {
  return a | b;
}
template <class V>
SINTER_INLINE V bitwise_xor(const V& a, const V& b) {
  return a ^ b;
}
template <class V>
SINTER_INLINE V bitwise_not(const V& a) {
  return ~a;
}

}  // namespace m
}  // namespace SINTER_ISA
}  // namespace sinter::kernels
