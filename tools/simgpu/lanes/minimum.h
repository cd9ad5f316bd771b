/// \file
/// min and max of every format, and abs, neg and copysign, which look at bits alone.
#pragma once

#include "tools/simgpu/lanes/arithmetic.h"

namespace simgpu::SIMGPU_ISA {

enum class Extreme : std::uint8_t { least, greatest };

SIMGPU_INLINE constexpr std::int32_t signed_word(std::uint32_t word) {
  return bits_as<std::int32_t>(word);
}
SIMGPU_INLINE constexpr std::int64_t signed_word(std::uint64_t word) {
  return bits_as<std::int64_t>(word);
}

/// Signed integers in the order of the numbers of a format; -0 is less than +0, and a NaN comes
/// before all others or behind them.
template <class F, bool nan_is_least>
SIMGPU_INLINE auto order(typename F::Word word) {
  using Signed = decltype(signed_word(word));
  constexpr int width = sizeof(Signed) * 8;
  constexpr Signed least = signed_word(typename F::Word{1} << (width - 1));
  const Signed top = signed_word(word << (width - F::bits));
  const Signed place = top ^ (top >> (width - 1) & ~least);
  // As a mask: the compiler makes branches of a choice here, and no vectors.
  const Signed unless_nan = F::is_nan(word) ? Signed{0} : Signed{-1};
  return (place & unless_nan) | ((nan_is_least ? least : ~least) & ~unless_nan);
}

/// PTX ISA 9.7.3.11, 9.7.3.12, 9.7.4.7, 9.7.4.8: of two numbers, or three. A NaN loses against a
/// number, and wins with .NaN.
template <class F, Extreme extreme, bool flushes, bool nan_wins, bool absolute, bool xor_sign>
struct Minimum {
  using Word = typename F::Word;
  static constexpr Rounding rounding = Rounding::nearest;

  SIMGPU_INLINE static Word two(Word a, Word b) {
    constexpr bool wants_least = extreme == Extreme::least, nan_is_least = nan_wins == wants_least;
    const auto of_a = order<F, nan_is_least>(a), of_b = order<F, nan_is_least>(b);
    const Word found = (wants_least ? of_b < of_a : of_a < of_b) ? b : a;
    // A double keeps the payload of its NaN.
    const Word nan = F::bits == 64 ? found | F::least_normal >> 1 : F::nan;
    return F::is_nan(found) ? nan : found;
  }
  SIMGPU_INLINE static Word operand(Word word) {
    const Word flushed = flush<F, flushes>(word);
    return absolute ? flushed & ~F::sign : flushed;
  }
  SIMGPU_INLINE static Word apply(Word a, Word b) {
    const Word found = two(operand(a), operand(b));
    if constexpr (!xor_sign) return found;
    return F::is_nan(found) ? found : found | ((a ^ b) & F::sign);
  }
  SIMGPU_INLINE static Word apply(Word a, Word b, Word c) {
    return two(two(operand(a), operand(b)), operand(c));
  }
};

/// The NaNs of abs and neg are not specified but for abs.f64, which passes one through.
template <class F, bool flushes>
struct Absolute {
  static constexpr Rounding rounding = Rounding::nearest;
  SIMGPU_INLINE static typename F::Word apply(typename F::Word a) {
    const auto made = finish<F, flushes, Clamp::none>(a & ~F::sign);
    return F::bits == 64 && F::is_nan(a) ? a : made;
  }
};
template <class F, bool flushes>
struct Negate {
  static constexpr Rounding rounding = Rounding::nearest;
  SIMGPU_INLINE static typename F::Word apply(typename F::Word a) {
    return finish<F, flushes, Clamp::none>(a ^ F::sign);
  }
};
/// The sign of a and the magnitude of b.
template <class F>
struct CopySign {
  static constexpr Rounding rounding = Rounding::nearest;
  SIMGPU_INLINE static typename F::Word apply(typename F::Word a, typename F::Word b) {
    return (a & F::sign) | (b & ~F::sign);
  }
};

/// abs and neg of a format; .ftz where it has that.
template <class F, int numbers, bool has_flush, Text type, std::size_t capacity>
constexpr void add_signs(OpcodeTable<capacity>& table) {
  each_flag([&]<bool flushes>() {
    if constexpr (has_flush || !flushes) {
      constexpr Text ftz = when(flushes, ".ftz");
      add_each<F, numbers, 1, Absolute<F, flushes>, "abs", ftz, type>(table);
      add_each<F, numbers, 1, Negate<F, flushes>, "neg", ftz, type>(table);
    }
  });
}

/// min and max of two numbers of a format that has all the modifiers.
template <class F, int numbers, bool has_flush, Text type, std::size_t capacity>
constexpr void add_extremes(OpcodeTable<capacity>& table) {
  each_flag([&]<bool flushes>() {
    each_flag([&]<bool nan_wins>() {
      each_flag([&]<bool xor_sign>() {
        if constexpr (has_flush || !flushes) {
          constexpr Text ftz = when(flushes, ".ftz"), nan = when(nan_wins, ".NaN");
          constexpr Text signs = when(xor_sign, ".xorsign.abs");
          using Least = Minimum<F, Extreme::least, flushes, nan_wins, xor_sign, xor_sign>;
          using Greatest = Minimum<F, Extreme::greatest, flushes, nan_wins, xor_sign, xor_sign>;
          add_each<F, numbers, 2, Least, "min", ftz, nan, signs, type>(table);
          add_each<F, numbers, 2, Greatest, "max", ftz, nan, signs, type>(table);
        }
      });
    });
  });
}

}  // namespace simgpu::SIMGPU_ISA
