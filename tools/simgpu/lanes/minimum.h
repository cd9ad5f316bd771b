/// \file
/// min and max of every format, and abs and neg, which look at bits alone.
#pragma once

#include <type_traits>

#include "tools/simgpu/lanes/arithmetic.h"

namespace simgpu::SIMGPU_ISA {

/// Signed integers in the order of the numbers of a format; -0 is less than +0, and a NaN comes
/// before all others or behind them.
template <class F, bool nan_is_least>
SIMGPU_INLINE auto order(typename F::Word word) {
  using Signed = std::make_signed_t<typename F::Word>;
  constexpr int width = sizeof(Signed) * 8;
  constexpr auto lowest = static_cast<Signed>(typename F::Word{1} << (width - 1));
  const auto top = static_cast<Signed>(word << (width - F::bits));
  const Signed place = top ^ (top >> (width - 1) & ~lowest);
  // As a mask: the compiler makes branches of a choice here, and no vectors.
  const Signed unless_nan = F::is_nan(word) ? Signed{0} : Signed{-1};
  return (place & unless_nan) | ((nan_is_least ? lowest : ~lowest) & ~unless_nan);
}

/// PTX ISA 9.7.3.11, 9.7.3.12, 9.7.4.7, 9.7.4.8: of two numbers, or three. A NaN loses against a
/// number, and wins with .NaN.
template <class F, bool is_least, bool flushes, bool nan_wins, bool absolute, bool xor_sign>
struct Extreme {
  using Word = typename F::Word;

  SIMGPU_INLINE static Word two(Word a, Word b) {
    const auto of_a = order<F, nan_wins == is_least>(a), of_b = order<F, nan_wins == is_least>(b);
    const Word found = (is_least ? of_b < of_a : of_a < of_b) ? b : a;
    // A double keeps the payload of its NaN.
    const Word nan = F::bits == 64 ? found | F::least_normal >> 1 : F::nan;
    return F::is_nan(found) ? nan : found;
  }
  SIMGPU_INLINE static Word operand(Word word) {
    const Word flushed = flush<F, flushes>(word);
    return absolute ? flushed & ~F::sign : flushed;
  }
  SIMGPU_INLINE constexpr Word operator()(Word a, Word b) const {
    const Word found = two(operand(a), operand(b));
    if constexpr (!xor_sign) return found;
    return F::is_nan(found) ? found : found | ((a ^ b) & F::sign);
  }
  SIMGPU_INLINE constexpr Word operator()(Word a, Word b, Word c) const {
    return two(two(operand(a), operand(b)), operand(c));
  }
};

/// The NaNs of abs and neg are not specified but for abs.f64, which passes one through.
template <class F, bool flushes>
inline constexpr auto absolute = [](typename F::Word a) SIMGPU_LAMBDA {
  const auto made = finish<F, flushes, Clamp::none>(a & ~F::sign);
  return F::bits == 64 && F::is_nan(a) ? a : made;
};
template <class F, bool flushes>
inline constexpr auto negated =
    [](typename F::Word a) SIMGPU_LAMBDA { return finish<F, flushes, Clamp::none>(a ^ F::sign); };

/// abs and neg of a format, or of pairs of it.
template <class F, class P>
void add_signs(OpcodeTable& table) {
  each_flush<F>([&]<bool flushes>() {
    add_each<P, absolute<F, flushes>, 1>(table, {"abs", when(flushes, ".ftz"), ".", P::name});
    add_each<P, negated<F, flushes>, 1>(table, {"neg", when(flushes, ".ftz"), ".", P::name});
  });
}

/// min and max of two numbers of a format that has all the modifiers, and of three.
template <class F, class P, int operands = 2>
void add_extremes(OpcodeTable& table) {
  each_flush<F>([&]<bool flushes>() {
    each_flag([&]<bool nan_wins>() {
      each_flag([&]<bool absolute>() {
        each_flag([&]<bool is_least>() {
          constexpr bool xor_sign = absolute && operands == 2;
          constexpr Extreme<F, is_least, flushes, nan_wins, absolute, xor_sign> extreme;
          add_each<P, extreme, operands>(
              table, {is_least ? "min" : "max", when(flushes, ".ftz"), when(nan_wins, ".NaN"),
                      when(xor_sign, ".xorsign"), when(absolute, ".abs"), ".", P::name});
        });
      });
    });
  });
}

}  // namespace simgpu::SIMGPU_ISA
