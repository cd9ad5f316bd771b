/// \file
/// Functions that PTX approximates, as real numbers in double or long double, and their results
/// correctly rounded.
#pragma once

#include "tools/simgpu/lanes/arithmetic.h"

namespace simgpu::SIMGPU_ISA {

/// 2^(i/16): the nearest doubles, and what they lack.
inline constexpr double sixteenths[16] = {
    0x1.0000000000000p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
    0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0,
    0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
    0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0,
};
inline constexpr double sixteenths_lack[16] = {
    0x0.0000000000000p+0,   0x1.8a62e4adc610bp-54,  -0x1.19041b9d78a76p-55, 0x1.9b07eb6c70573p-54,
    0x1.6f46ad23182e4p-55,  0x1.ada0911f09ebcp-55,  0x1.d4397afec42e2p-56,  0x1.6324c054647adp-54,
    -0x1.bdd3413b26456p-54, -0x1.41577ee04992fp-55, 0x1.6e9f156864b27p-54,  0x1.c7c46b071f2bep-56,
    0x1.7a1cd345dcc81p-54,  0x1.11065895048ddp-55,  0x1.2ed02d75b3707p-55,  -0x1.e9c23179c2893p-54,
};

/// 2^x rounded to odd in double, from a sum whose parts have an error of 2^-58 of it: rounding that
/// to float is right unless 2^x is as near to a tie. The suite `exhaustive` shows that no float has
/// such a 2^x. x is a float, or was narrower.
SIMGPU_INLINE double exp2_to_odd(float x) {
  // Beyond, floats are zero or infinite. A NaN fails both tests.
  const float above = x > -160.0f ? x : -160.0f;
  const float inside = above < 130.0f ? above : 130.0f;
  const double exact = static_cast<double>(inside);
  const double nearest = __builtin_rint(exact * 16);
  const auto steps = static_cast<s32>(nearest);
  const double t = exact - nearest * 0x1p-4;  // at most 1/32
  // The series of 2^t - 1: ln(2)^k / k!. The ninth term is below 2^-68.
  double sum = 0x1.62c0223a5c824p-20;
  sum = sum * t + 0x1.ffcbfc588b0c7p-17;
  sum = sum * t + 0x1.430912f86c787p-13;
  sum = sum * t + 0x1.5d87fe78a6731p-10;
  sum = sum * t + 0x1.3b2ab6fba4e77p-7;
  sum = sum * t + 0x1.c6b08d704a0c0p-5;
  sum = sum * t + 0x1.ebfbdff82c58fp-3;
  sum = sum * t + 0x1.62e42fefa39efp-1;
  const double power = sixteenths[steps & 15], lack = sixteenths_lack[steps & 15];
  const double made = sum_to_odd<Double>(power, lack + power * (sum * t));
  const auto exponent = static_cast<u64>(s64{steps >> 4}) << Double::mantissa_bits;
  return x != x ? static_cast<double>(x) : bits_as<double>(bits_as<u64>(made) + exponent);
}

/// The nearest float to a value of which a double is near: at most 4 units of its last place away,
/// as the functions of a C library are, which know their errors to be below 2. Only where that does
/// not tell, `exact` is asked, whose long double has 11 bits more.
template <class Exact>
SIMGPU_INLINE float nearest_float(double near, Exact exact) {
  const double error = __builtin_fabs(near) * 0x1p-50;
  const auto low = static_cast<float>(near - error), high = static_cast<float>(near + error);
  return low == high ? low : static_cast<float>(exact());
}

/// 1 / sqrt(a) to the nearest double: a step of Newton's method in twice the bits.
SIMGPU_INLINE double nearest_reciprocal_root(double a) {
  __extension__ using Twice = __float128;
  const double near = 1 / __builtin_sqrt(a);
  if (!(near - near == 0) || near == 0) return near;  // not finite, or of infinity
  const Twice lacking = 1 - Twice(a) * near * near;
  return static_cast<double>(near + near * lacking * (Twice(0.5) + Twice(0.375) * lacking));
}

/// The high 32 bits of a double, to which it is rounded; a NaN is canonical, and what is subnormal
/// becomes zero: results of rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64.
SIMGPU_INLINE u64 high_word(double number) {
  const auto word = bits_as<u64>(number);
  const u64 rounded = (word + 0x7fff'ffffu + (word >> 32 & 1u)) & ~0xffff'ffffull;
  return Double::is_nan(word) ? 0x7fff'ffff'0000'0000ull : flush<Double, true>(rounded);
}
/// The operand of those.
SIMGPU_INLINE double from_high_word(u64 word) {
  return bits_as<double>(flush<Double, true>(word & ~0xffff'ffffull));
}

}  // namespace simgpu::SIMGPU_ISA
