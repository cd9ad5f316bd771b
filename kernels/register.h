/// \file
/// One machine register as a compiler vector type, and what vector.h needs of it. Arithmetic,
/// shifts and bit operations are the compiler's operators on vector types; what has no operator is
/// in one file per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {

using F32Reg [[gnu::vector_size(register_bytes)]] = float;
using F64Reg [[gnu::vector_size(register_bytes)]] = double;
using I32Reg [[gnu::vector_size(register_bytes)]] = std::int32_t;
using I64Reg [[gnu::vector_size(register_bytes)]] = std::int64_t;
using U32Reg [[gnu::vector_size(register_bytes)]] = std::uint32_t;
using U64Reg [[gnu::vector_size(register_bytes)]] = std::uint64_t;
using F32HalfReg [[gnu::vector_size(register_bytes / 2)]] = float;
using I32HalfReg [[gnu::vector_size(register_bytes / 2)]] = std::int32_t;
using U16Half [[gnu::vector_size(register_bytes / 2)]] = std::uint16_t;
using U8Quarter [[gnu::vector_size(register_bytes / 4)]] = std::uint8_t;

// Lane numbers of the lower and the upper half of a register of 4-byte lanes.
#if defined SINTER_AVX512
#define SINTER_LOW 0, 1, 2, 3, 4, 5, 6, 7
#define SINTER_HIGH 8, 9, 10, 11, 12, 13, 14, 15
#elif defined SINTER_AVX2
#define SINTER_LOW 0, 1, 2, 3
#define SINTER_HIGH 4, 5, 6, 7
#else
#define SINTER_LOW 0, 1
#define SINTER_HIGH 2, 3
#endif

// A half register of 4-byte lanes as one of 8-byte lanes, and back: rounded, or the low bits of
// integers.
#if defined SINTER_AVX512 && !defined __clang__
// GCC takes conversions of vectors of this size apart. Masks have all lanes; 4 is the current
// rounding.
using Longs [[gnu::vector_size(64)]] = long long;
using Ints [[gnu::vector_size(32)]] = int;
SINTER_INLINE F64Reg reg_widen(F32HalfReg x) {
  return __builtin_ia32_cvtps2pd512_mask(x, F64Reg{}, -1, 4);
}
SINTER_INLINE I64Reg reg_widen(I32HalfReg x) {
  return reinterpret_cast<I64Reg>(
      __builtin_ia32_pmovsxdq512_mask(reinterpret_cast<Ints>(x), Longs{}, -1));
}
SINTER_INLINE F32HalfReg reg_half_f32(F64Reg x) {
  return __builtin_ia32_cvtpd2ps512_mask(x, F32HalfReg{}, -1, 4);
}
SINTER_INLINE I32HalfReg reg_half_i32(I64Reg x) {
  return reinterpret_cast<I32HalfReg>(
      __builtin_ia32_pmovqd512_mask(reinterpret_cast<Longs>(x), Ints{}, -1));
}
SINTER_INLINE F32Reg reg_join(F32HalfReg low, F32HalfReg high) {
  return __builtin_ia32_insertf32x8_mask(__builtin_ia32_ps512_256ps(low), high, 1, F32Reg{},
                                         0xffff);
}
#else
SINTER_INLINE F64Reg reg_widen(F32HalfReg x) { return __builtin_convertvector(x, F64Reg); }
SINTER_INLINE I64Reg reg_widen(I32HalfReg x) { return __builtin_convertvector(x, I64Reg); }
SINTER_INLINE F32HalfReg reg_half_f32(F64Reg x) { return __builtin_convertvector(x, F32HalfReg); }
SINTER_INLINE I32HalfReg reg_half_i32(I64Reg x) { return __builtin_convertvector(x, I32HalfReg); }
SINTER_INLINE F32Reg reg_join(F32HalfReg low, F32HalfReg high) {
  return __builtin_shufflevector(low, high, SINTER_LOW, SINTER_HIGH);
}
#endif

SINTER_INLINE F64Reg reg_widen_low(F32Reg x) {
  return reg_widen(__builtin_shufflevector(x, x, SINTER_LOW));
}
SINTER_INLINE F64Reg reg_widen_high(F32Reg x) {
  return reg_widen(__builtin_shufflevector(x, x, SINTER_HIGH));
}
SINTER_INLINE I64Reg reg_widen_low(I32Reg x) {
  return reg_widen(__builtin_shufflevector(x, x, SINTER_LOW));
}
SINTER_INLINE I64Reg reg_widen_high(I32Reg x) {
  return reg_widen(__builtin_shufflevector(x, x, SINTER_HIGH));
}
/// Two registers of 8-byte lanes as one of 4-byte lanes.
SINTER_INLINE F32Reg reg_narrow(F64Reg low, F64Reg high) {
  return reg_join(reg_half_f32(low), reg_half_f32(high));
}
SINTER_INLINE F32Reg reg_narrow_f32(I64Reg low, I64Reg high) {
  return reg_join(__builtin_convertvector(low, F32HalfReg),
                  __builtin_convertvector(high, F32HalfReg));
}
SINTER_INLINE I32Reg reg_narrow(I64Reg low, I64Reg high) {
  return reinterpret_cast<I32Reg>(reg_join(reinterpret_cast<F32HalfReg>(reg_half_i32(low)),
                                           reinterpret_cast<F32HalfReg>(reg_half_i32(high))));
}

#undef SINTER_LOW
#undef SINTER_HIGH

}  // namespace SINTER_ISA
}  // namespace sinter::kernels

#if defined SINTER_AVX512
#include "kernels/register_avx512.h"
#elif defined SINTER_AVX2
#include "kernels/register_avx2.h"
#else
#include "kernels/register_portable.h"
#endif

namespace sinter::kernels {
inline namespace SINTER_ISA {

#if !defined SINTER_AVX512
SINTER_INLINE Mask4 reg_less(F32Reg a, F32Reg b) { return a < b; }
SINTER_INLINE Mask8 reg_less(F64Reg a, F64Reg b) { return a < b; }
SINTER_INLINE Mask4 reg_less(I32Reg a, I32Reg b) { return a < b; }
SINTER_INLINE Mask8 reg_less(I64Reg a, I64Reg b) { return a < b; }
SINTER_INLINE Mask4 reg_less_equal(F32Reg a, F32Reg b) { return a <= b; }
SINTER_INLINE Mask8 reg_less_equal(F64Reg a, F64Reg b) { return a <= b; }
SINTER_INLINE Mask4 reg_less_equal(I32Reg a, I32Reg b) { return a <= b; }
SINTER_INLINE Mask8 reg_less_equal(I64Reg a, I64Reg b) { return a <= b; }
SINTER_INLINE Mask4 reg_equal(F32Reg a, F32Reg b) { return a == b; }
SINTER_INLINE Mask8 reg_equal(F64Reg a, F64Reg b) { return a == b; }
SINTER_INLINE Mask4 reg_equal(I32Reg a, I32Reg b) { return a == b; }
SINTER_INLINE Mask8 reg_equal(I64Reg a, I64Reg b) { return a == b; }
SINTER_INLINE Mask4 reg_and(Mask4 a, Mask4 b) { return a & b; }
SINTER_INLINE Mask8 reg_and(Mask8 a, Mask8 b) { return a & b; }
SINTER_INLINE Mask4 reg_or(Mask4 a, Mask4 b) { return a | b; }
SINTER_INLINE Mask8 reg_or(Mask8 a, Mask8 b) { return a | b; }
SINTER_INLINE Mask4 reg_not(Mask4 a) { return ~a; }
SINTER_INLINE Mask8 reg_not(Mask8 a) { return ~a; }
#endif

template <class T>
struct RegisterOf;
template <>
struct RegisterOf<float> {
  using type = F32Reg;
  using Mask = Mask4;
};
template <>
struct RegisterOf<double> {
  using type = F64Reg;
  using Mask = Mask8;
};
template <>
struct RegisterOf<std::int32_t> {
  using type = I32Reg;
  using Mask = Mask4;
};
template <>
struct RegisterOf<std::int64_t> {
  using type = I64Reg;
  using Mask = Mask8;
};

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
