/// \file
/// What the families of cvt share: types by name, and registers that are wider than what they hold.
/// PTX ISA 9.4.1 and 9.7.10.24.
#pragma once

#include <bit>

#include "tools/simgpu/lanes/arithmetic.h"

namespace simgpu::SIMGPU_ISA {

/// An integer type of PTX.
template <class T>
struct Integer {
  static constexpr bool is_signed = T(-1) < T(0);
  static constexpr int bits = sizeof(T) * 8;
  static constexpr T least = is_signed ? static_cast<T>(std::uint64_t{1} << (bits - 1)) : T(0);
  static constexpr T greatest = static_cast<T>(~least);
  static constexpr Text text = [] {
    constexpr const char* names[2][4] = {{".u8", ".u16", ".u32", ".u64"},
                                         {".s8", ".s16", ".s32", ".s64"}};
    return Text(names[is_signed][bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3]);
  }();
};

/// body<T>() for each integer type.
template <class Body>
constexpr void each_integer(Body body) {
  body.template operator()<std::uint8_t>();
  body.template operator()<std::int8_t>();
  body.template operator()<std::uint16_t>();
  body.template operator()<std::int16_t>();
  body.template operator()<std::uint32_t>();
  body.template operator()<std::int32_t>();
  body.template operator()<std::uint64_t>();
  body.template operator()<std::int64_t>();
}

/// body<Register>() for each register that holds a T; there are none of one byte in what compilers
/// emit.
template <class T, class Body>
constexpr void each_register(Body body) {
  if constexpr (sizeof(T) <= 2) body.template operator()<std::uint16_t>();
  if constexpr (sizeof(T) <= 4) body.template operator()<std::uint32_t>();
  body.template operator()<std::uint64_t>();
}

/// As a register has it: signs are extended.
template <class Register, class T>
SIMGPU_INLINE Register extended(T value) {
  if constexpr (Integer<T>::is_signed)
    return static_cast<Register>(static_cast<std::int64_t>(value));
  else return Register{value};
}

/// The pattern of one operand.
template <int to, int from>
inline constexpr std::string_view one_operand = [] {
  constexpr const char* patterns[4][4] = {{"d1 s1", "d1 s2", "d1 s4", "d1 s8"},
                                          {"d2 s1", "d2 s2", "d2 s4", "d2 s8"},
                                          {"d4 s1", "d4 s2", "d4 s4", "d4 s8"},
                                          {"d8 s1", "d8 s2", "d8 s4", "d8 s8"}};
  return std::string_view(
      patterns[std::bit_width(unsigned{to}) - 1][std::bit_width(unsigned{from}) - 1]);
}();

template <class F>
inline constexpr Text type_text = "";
template <>
inline constexpr Text type_text<Half> = ".f16";
template <>
inline constexpr Text type_text<Brain> = ".bf16";
template <>
inline constexpr Text type_text<Single> = ".f32";
template <>
inline constexpr Text type_text<Double> = ".f64";

/// .ftz is of f32, wherever it is.
template <class F, bool flushes>
inline constexpr bool flushes_here = flushes&& F::bits == 32;

/// body<rounding>() for those to a number of floating point.
template <class Body>
constexpr void each_rounding(Body body) {
  each_value<Rounding::nearest, Rounding::zero, Rounding::down, Rounding::up>(body);
}

/// The part of an opcode that names a rounding to an integer.
template <Rounding rounding>
inline constexpr Text integer_rounding_text = Joined<rounding_text<rounding>, "i">::made.text();

/// To an integer that is a number of the same type.
template <Rounding rounding, class N>
SIMGPU_INLINE N integral(N number) {
  if constexpr (sizeof(N) == 8) {
    if constexpr (rounding == Rounding::nearest) return __builtin_rint(number);
    if constexpr (rounding == Rounding::zero) return __builtin_trunc(number);
    if constexpr (rounding == Rounding::down) return __builtin_floor(number);
    return __builtin_ceil(number);
  } else {
    if constexpr (rounding == Rounding::nearest) return __builtin_rintf(number);
    if constexpr (rounding == Rounding::zero) return __builtin_truncf(number);
    if constexpr (rounding == Rounding::down) return __builtin_floorf(number);
    return __builtin_ceilf(number);
  }
}

}  // namespace simgpu::SIMGPU_ISA
