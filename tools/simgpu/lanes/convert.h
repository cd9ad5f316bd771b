/// \file
/// What the families of cvt share: PTX ISA 9.7.10.24; and registers that are wider than what they
/// hold, 9.4.1.
#pragma once

#include <type_traits>

#include "tools/simgpu/lanes/arithmetic.h"

namespace simgpu::SIMGPU_ISA {

template <class T>
inline constexpr int bits_of_integer = 8 * sizeof(T);
template <class T>
inline constexpr T lowest_of = std::is_signed_v<T>
                                   ? static_cast<T>(u64{1} << (bits_of_integer<T> - 1))
                                   : T(0);
template <class T>
inline constexpr T highest_of = static_cast<T>(~lowest_of<T>);

/// body<T>() for each integer type.
template <class Body>
void each_integer(Body body) {
  each_type<u8, s8, u16, s16, u32, s32, u64, s64>(body);
}

/// body<Register>() for each register that holds a T. One of floating point lies in its own, and so
/// does an integer that becomes or was a bf16; of other integers of 8 bits no register has one
/// byte.
template <class T, class Other, class Body>
void each_register(Body body) {
  if constexpr (!std::is_integral_v<T>) {
    body.template operator()<typename T::Lane>();
  } else if constexpr (is_brain<Other>) {
    body.template operator()<std::make_unsigned_t<T>>();
  } else {
    if constexpr (sizeof(T) <= 2) body.template operator()<u16>();
    if constexpr (sizeof(T) <= 4) body.template operator()<u32>();
    body.template operator()<u64>();
  }
}
/// Whether an integer lies in the register that compilers take for it.
template <class T, class Register>
inline constexpr bool is_usual =
    !std::is_integral_v<T> || sizeof(Register) == (sizeof(T) == 1 ? 2 : sizeof(T));

/// Adds the opcode of f, which converts what a register From holds, in all registers. In the usual
/// ones there are two functions where it is `often` used; else one is fast enough.
template <class To, class From, auto f, bool often = true>
void add_conversion(OpcodeTable& table, Parts modifiers) {
  const char* const* part = modifiers.begin();
  const Parts name = {"cvt", part[0],       part[1], part[2],        part[3],
                      ".",   type_name<To>, ".",     type_name<From>};
  each_register<To, From>([&]<class D>() {
    each_register<From, To>([&]<class S>() {
      if constexpr (often && is_usual<To, D> && is_usual<From, S>) add_lanes<f, D, S>(table, name);
      else add_rare<f, D, S>(table, name);
    });
  });
}

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

/// body<clamp>() for none and .sat, which there is not of bf16.
template <class To, class From, class Body>
void each_saturation(Body body) {
  body.template operator()<Clamp::none>();
  if constexpr (!is_brain<To> && !is_brain<From>) body.template operator()<Clamp::saturate>();
}
/// body<flushes>(): .ftz may stand where either is f32.
template <class To, class From, class Body>
void each_flush_of(Body body) {
  body.template operator()<false>();
  if constexpr (__is_same(To, Single) || __is_same(From, Single)) body.template operator()<true>();
}

}  // namespace simgpu::SIMGPU_ISA
