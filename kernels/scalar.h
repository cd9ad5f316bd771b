/// \file
/// The primitives math_*.h is written in, for one float, double or integer. vector.h has the same
/// for sixteen; a CUDA prelude can supply them with its own intrinsics.
#pragma once

#include <cstdint>

#include "kernels/isa.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {

/// The integer type with the bits of `V`.
template <class V>
struct BitsOf;
template <>
struct BitsOf<float> {
  using type = std::int32_t;
};
template <>
struct BitsOf<double> {
  using type = std::int64_t;
};
template <class V>
using Bits = typename BitsOf<V>::type;

SINTER_INLINE std::int32_t as_int(float x) { return __builtin_bit_cast(std::int32_t, x); }
SINTER_INLINE std::int64_t as_int(double x) { return __builtin_bit_cast(std::int64_t, x); }
SINTER_INLINE float as_float(std::int32_t x) { return __builtin_bit_cast(float, x); }
SINTER_INLINE double as_float(std::int64_t x) { return __builtin_bit_cast(double, x); }

/// `a * b + c`, rounded once.
SINTER_INLINE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
SINTER_INLINE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }

SINTER_INLINE float sqrt(float x) { return __builtin_sqrtf(x); }
SINTER_INLINE double sqrt(double x) { return __builtin_sqrt(x); }
SINTER_INLINE float floor(float x) { return __builtin_floorf(x); }
SINTER_INLINE double floor(double x) { return __builtin_floor(x); }
SINTER_INLINE float ceil(float x) { return __builtin_ceilf(x); }
SINTER_INLINE double ceil(double x) { return __builtin_ceil(x); }
SINTER_INLINE float trunc(float x) { return __builtin_truncf(x); }
SINTER_INLINE double trunc(double x) { return __builtin_trunc(x); }
/// To the nearest integer, ties to even.
SINTER_INLINE float round(float x) { return __builtin_rintf(x); }
SINTER_INLINE double round(double x) { return __builtin_rint(x); }
SINTER_INLINE float abs(float x) { return __builtin_fabsf(x); }
SINTER_INLINE double abs(double x) { return __builtin_fabs(x); }
SINTER_INLINE float copysign(float x, float sign) { return __builtin_copysignf(x, sign); }
SINTER_INLINE double copysign(double x, double sign) { return __builtin_copysign(x, sign); }

SINTER_INLINE float select(bool mask, float a, float b) { return mask ? a : b; }
SINTER_INLINE double select(bool mask, double a, double b) { return mask ? a : b; }
SINTER_INLINE std::int32_t select(bool mask, std::int32_t a, std::int32_t b) {
  return mask ? a : b;
}
SINTER_INLINE std::int64_t select(bool mask, std::int64_t a, std::int64_t b) {
  return mask ? a : b;
}
SINTER_INLINE bool any(bool mask) { return mask; }

/// `x`, from where a load of it is no part of another instruction; vectors may differ.
template <class V>
SINTER_INLINE V settled(const V& x) {
  return x;
}
SINTER_INLINE bool both(bool a, bool b) { return a && b; }
SINTER_INLINE bool either(bool a, bool b) { return a || b; }

/// `x < low ? low : x > high ? high : x`; NaN stays NaN.
SINTER_INLINE float clamp(float x, float low, float high) {
  return x < low ? low : (x > high ? high : x);
}

/// Zeros shifted in; `count` in 0..bits-1.
SINTER_INLINE std::int32_t shift_right_logical(std::int32_t x, int count) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(x) >> count);
}

SINTER_INLINE std::int64_t shift_right_logical(std::int64_t x, int count) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(x) >> count);
}

/// Conversions. f32 to f64 and i32 to f64 are exact, the others round to nearest even; float to
/// integer truncates and is meaningful only for values that fit.
SINTER_INLINE double to_f64(float x) { return static_cast<double>(x); }
SINTER_INLINE double to_f64(std::int64_t x) { return static_cast<double>(x); }
SINTER_INLINE float to_f32(double x) { return static_cast<float>(x); }
SINTER_INLINE float to_f32(std::int64_t x) { return static_cast<float>(x); }

/// `x * 2^n` for an integer-valued n in -252..252, rounded once.
SINTER_INLINE float scale(float x, float n) {
  const int whole = static_cast<int>(n), first = whole >> 1, second = whole - first;
  return x * as_float((first + 127) << 23) * as_float((second + 127) << 23);
}

/// The types that go with `V` in mixed expressions.
template <class V>
struct Wide;
template <>
struct Wide<float> {
  using type = double;
};

/// `f` of the element, or of each lane of a vector.
template <class F>
SINTER_INLINE float map(F f, float x) {
  return f(x);
}
template <class F>
SINTER_INLINE float map(F f, float x, float y) {
  return f(x, y);
}

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
