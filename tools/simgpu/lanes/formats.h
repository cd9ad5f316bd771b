/// \file
/// Formats of floating-point numbers, and what PTX does to a number beside arithmetic: flush what
/// is subnormal, clamp, make a NaN canonical, round to a narrower format. Everything is written
/// without branches, so that loops over lanes become vectors. Source: PTX ISA 5.2 (types), 9.7.3
/// and 9.7.4 (modifiers), 9.7.10.24 (cvt).
#pragma once

#include "tools/simgpu/lanes/lanes.h"

namespace simgpu::SIMGPU_ISA {

enum class Rounding : u8 { nearest, nearest_away, zero, down, up };
/// .sat: to [0, 1], a NaN to +0. .relu: what is not above zero to +0, a NaN stays one.
enum class Clamp : u8 { none, saturate, relu };

template <class To, class From>
SIMGPU_INLINE constexpr To bits_as(From from) {
  return __builtin_bit_cast(To, from);
}

/// A format whose numbers lie in the low bits of a Word.
template <class WordOf, int exponent_of, int mantissa_of>
struct Format {
  using Word = WordOf;
  static constexpr int exponent_bits = exponent_of, mantissa_bits = mantissa_of;
  static constexpr int bits = 1 + exponent_bits + mantissa_bits;
  static constexpr int bias = (1 << (exponent_bits - 1)) - 1;
  static constexpr Word sign = Word{1} << (bits - 1);
  static constexpr Word infinity = ((Word{1} << exponent_bits) - 1) << mantissa_bits;
  static constexpr Word greatest = infinity - 1;
  static constexpr Word least_normal = Word{1} << mantissa_bits;
  static constexpr Word one = Word{bias} << mantissa_bits;
  static constexpr Word nan = sign - 1;  ///< canonical

  SIMGPU_INLINE static bool is_nan(Word word) { return (word & ~sign) > infinity; }
};

/// `Lane` is what a register has of it, `name` its type in an opcode.
struct Double : Format<u64, 11, 52> {
  using Number = double;
  using Lane = u64;
  static constexpr const char* name = "f64";
  SIMGPU_INLINE static double number(u64 word) { return bits_as<double>(word); }
};
struct Single : Format<u32, 8, 23> {
  using Number = float;
  using Lane = u32;
  static constexpr const char* name = "f32";
  SIMGPU_INLINE static float number(u32 word) { return bits_as<float>(word); }
};
struct Brain : Format<u32, 8, 7> {
  using Number = float;
  using Lane = u16;
  static constexpr const char* name = "bf16";
  SIMGPU_INLINE static float number(u32 word) { return bits_as<float>(word << 16); }
};
struct Half : Format<u32, 5, 10> {
  using Number = float;
  using Lane = u16;
  static constexpr const char* name = "f16";
  SIMGPU_INLINE static float number(u32 word) {
    const u32 magnitude = (word & 0x7fffu) << 13;
    const float scaled = bits_as<float>(magnitude) * 0x1p112f;  // exact: 112 is 127 - 15
    const u32 special = magnitude | Single::infinity;
    const u32 made = magnitude >= infinity << 13 ? special : bits_as<u32>(scaled);
    return bits_as<float>(made | (word & sign) << 16);
  }
};
/// A float with less of a mantissa, in the bits of a float (PTX ISA 5.2.3).
struct TensorFloat : Format<u32, 8, 10> {};
struct E5M2 : Format<u32, 5, 2> {
  SIMGPU_INLINE static float number(u32 word) { return Half::number(word << 8); }
};
/// Without infinities; only what would be the last is a NaN.
struct E4M3 : Format<u32, 4, 3> {
  static constexpr u32 infinity = 0x7e, greatest = 0x7e;
  SIMGPU_INLINE static float number(u32 word) {
    const u32 magnitude = word & 0x7fu;
    const float scaled = bits_as<float>(magnitude << 20) * 0x1p120f;  // exact: 120 is 127 - 7
    const u32 made = magnitude > infinity ? Single::nan : bits_as<u32>(scaled);
    return bits_as<float>(made | (word & 0x80u) << 24);
  }
};

/// Two numbers in a register: f16x2, bf16x2, f32x2.
template <class F>
struct Pair;
// clang-format off
template <> struct Pair<Half> { using Lane = u32; static constexpr const char* name = "f16x2"; };
template <> struct Pair<Brain> { using Lane = u32; static constexpr const char* name = "bf16x2"; };
template <> struct Pair<Single> { using Lane = u64; static constexpr const char* name = "f32x2"; };
// clang-format on

template <class F>
inline constexpr bool is_brain = __is_same(F, Brain);

/// .ftz of an operand or a result.
template <class F, bool flushes>
SIMGPU_INLINE typename F::Word flush(typename F::Word word) {
  if constexpr (flushes) return (word & ~F::sign) < F::least_normal ? word & F::sign : word;
  else return word;
}

/// What is left to do with a result in its format. A double keeps the payload of its NaN.
template <class F, bool flushes, Clamp clamp>
SIMGPU_INLINE typename F::Word finish(typename F::Word word) {
  using Word = typename F::Word;
  word = flush<F, flushes>(word);
  const bool is_nan = F::is_nan(word);
  const Word kept = F::bits == 64 ? word : F::nan;
  if constexpr (clamp == Clamp::none) return is_nan ? kept : word;
  const Word not_negative = (word & F::sign) != 0 ? Word{0} : word;
  if constexpr (clamp == Clamp::relu) return is_nan ? kept : not_negative;
  const Word clamped = not_negative > F::one ? F::one : not_negative;
  return is_nan ? Word{0} : clamped;
}

/// Rounds a number of one format to a narrower one: the one place where a narrow number is made. It
/// overflows to infinity, or where `finite` (.satfinite) or the rounding say so to the greatest.
template <class To, Rounding rounding, bool finite, class From>
SIMGPU_INLINE u32 narrow(typename From::Word word) {
  using Word = typename From::Word;
  constexpr int dropped = From::mantissa_bits - To::mantissa_bits;
  constexpr Word gap = From::bias - To::bias;
  constexpr Word most_dropped = From::mantissa_bits + 2;
  const bool negative = (word & From::sign) != 0;
  const Word magnitude = word & ~From::sign;
  const Word field = magnitude >> From::mantissa_bits;
  const Word exponent = field == 0 ? 1 : field;
  const Word hidden = field == 0 ? 0 : From::least_normal;
  const Word significand = (magnitude & (From::least_normal - 1)) | hidden;

  // Below the least normal exponent, one bit more is dropped for each step.
  const Word above = exponent > gap ? exponent - gap : 1;
  const Word steps = exponent > gap ? 0 : gap + 1 - exponent;
  const Word wanted = steps + dropped;
  const Word places = wanted > most_dropped ? most_dropped : wanted;
  const Word kept = significand >> places;
  const Word rest = significand & ((Word{1} << places) - 1);
  const Word half = Word{1} << (places - 1);
  bool away = false;
  if constexpr (rounding == Rounding::nearest) away = rest + (kept & 1) > half;
  if constexpr (rounding == Rounding::nearest_away) away = rest >= half;
  if constexpr (rounding == Rounding::down) away = (rest != 0) & negative;
  if constexpr (rounding == Rounding::up) away = (rest != 0) & !negative;
  const Word rounded = ((above - 1) << To::mantissa_bits) + kept + Word{away};

  // Infinity stays one in every rounding; a finite number becomes one only away from zero.
  bool to_greatest = finite || rounding == Rounding::zero;
  if constexpr (rounding == Rounding::down) to_greatest = finite || !negative;
  if constexpr (rounding == Rounding::up) to_greatest = finite || negative;
  to_greatest = to_greatest & (finite | (magnitude != From::infinity));
  const Word beyond = to_greatest ? To::greatest : To::infinity;
  const Word made = rounded > To::greatest ? beyond : rounded;
  const Word with_sign = made | (negative ? Word{To::sign} : Word{0});
  return static_cast<u32>(From::is_nan(word) ? Word{To::nan} : with_sign);
}

/// The nearest number of a format to one of C++.
template <class F>
SIMGPU_INLINE typename F::Word round_to(float number) {
  const auto word = bits_as<u32>(number);
  if constexpr (F::bits == 32) return word;
  else return narrow<F, Rounding::nearest, false, Single>(word);
}
template <class F>
SIMGPU_INLINE typename F::Word round_to(double number) {
  const auto word = bits_as<u64>(number);
  if constexpr (F::bits == 64) return word;
  else if constexpr (F::bits == 32) return bits_as<u32>(static_cast<float>(number));
  else return narrow<F, Rounding::nearest, false, Double>(word);
}

/// a + b rounded to odd: where it is no number of the format, to that one of its neighbours whose
/// last bit is set. Rounding that once more, to a format of at least two bits less, gives what
/// rounding the exact sum would: the last bit says that something follows. Source: Boldo and
/// Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to
/// odd", IEEE Transactions on Computers 57(4), 2008. The error of a sum is exact (Knuth's two-sum):
/// no operand here is near the limits of the format.
template <class F>
SIMGPU_INLINE typename F::Number sum_to_odd(typename F::Number a, typename F::Number b) {
  using Word = typename F::Word;
  const auto sum = a + b;
  const auto part = sum - a;
  const auto word = bits_as<Word>(sum);
  const auto error = bits_as<Word>((a - (sum - part)) + (b - part));
  const Word inwards = (error ^ word) >> (F::bits - 1);
  // No error, or that of an infinity or a NaN, which is a NaN, leaves the sum as it is.
  const Word is_inexact = (error << 1) - 1 < (F::infinity << 1) - 1 ? 1 : 0;
  const Word moves = is_inexact & ~word;
  return bits_as<typename F::Number>(word + ((1 - 2 * inwards) & (0 - (moves & 1))));
}

/// a * b + c: rounded once in f32 and f64; of 16-bit formats rounded to odd in one that holds their
/// products, f16 in float (22 bits, from 2^-48 to 2^32) and bf16 in double.
template <class F>
SIMGPU_INLINE auto multiply_add(typename F::Number a, typename F::Number b, typename F::Number c) {
  if constexpr (F::bits == 64) return __builtin_fma(a, b, c);
  else if constexpr (F::bits == 32) return __builtin_fmaf(a, b, c);
  else if constexpr (!is_brain<F>) return sum_to_odd<Single>(a * b, c);
  else return sum_to_odd<Double>(static_cast<double>(a) * static_cast<double>(b), c);
}

}  // namespace simgpu::SIMGPU_ISA
