/// \file
/// Conversions and memory formats of the logical vector. Included by vector.h.
#pragma once

#include "kernels/half.h"
#include "kernels/vector.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {

template <class T>
struct BitsOf<Vec<T>> {
  using type = Vec<Bits<T>>;
};
template <>
struct Wide<VecF> {
  using type = VecD;
};

SINTER_INLINE VecI32 as_int(const VecF& x) {
  return by_register<VecI32>([](F32Reg r) { return reinterpret_cast<I32Reg>(r); }, x);
}
SINTER_INLINE VecI as_int(const VecD& x) {
  return by_register<VecI>([](F64Reg r) { return reinterpret_cast<I64Reg>(r); }, x);
}
SINTER_INLINE VecF as_float(const VecI32& x) {
  return by_register<VecF>([](I32Reg r) { return reinterpret_cast<F32Reg>(r); }, x);
}
SINTER_INLINE VecD as_float(const VecI& x) {
  return by_register<VecD>([](I64Reg r) { return reinterpret_cast<F64Reg>(r); }, x);
}

template <class T>
SINTER_INLINE Vec<T> abs(const Vec<T>& x) {
  constexpr Bits<T> sign = static_cast<Bits<T>>(Bits<T>{1} << (sizeof(T) * 8 - 1));
  return as_float(as_int(x) & ~sign);
}
template <class T>
SINTER_INLINE Vec<T> copysign(const Vec<T>& x, const Vec<Like<T>>& sign_of) {
  constexpr Bits<T> sign = static_cast<Bits<T>>(Bits<T>{1} << (sizeof(T) * 8 - 1));
  return as_float((as_int(x) & ~sign) | (as_int(sign_of) & sign));
}

template <class R, class V, int... I>
SINTER_INLINE R widen(const V& x, std::integer_sequence<int, I...>) {
  R r;
  ((r.part[2 * I] = reg_widen_low(x.part[I]), r.part[2 * I + 1] = reg_widen_high(x.part[I])), ...);
  return r;
}
template <class R, class V, class F, int... I>
SINTER_INLINE R narrow(const V& x, F f, std::integer_sequence<int, I...>) {
  R r;
  ((r.part[I] = f(x.part[2 * I], x.part[2 * I + 1])), ...);
  return r;
}
using NarrowParts = std::make_integer_sequence<int, VecF::parts>;

/// Between element types, as in scalar.h.
SINTER_INLINE VecD to_f64(const VecF& x) { return widen<VecD>(x, NarrowParts()); }
SINTER_INLINE VecI to_i64(const VecI32& x) { return widen<VecI>(x, NarrowParts()); }
SINTER_INLINE VecF to_f32(const VecD& x) {
  return narrow<VecF>(x, SINTER_EACH(reg_narrow(r...)), NarrowParts());
}
SINTER_INLINE VecF to_f32(const VecI& x) {
  return narrow<VecF>(x, SINTER_EACH(reg_narrow_f32(r...)), NarrowParts());
}
SINTER_INLINE VecF to_f32(const VecI32& x) {
  return by_register<VecF>([](I32Reg r) { return __builtin_convertvector(r, F32Reg); }, x);
}
SINTER_INLINE VecI32 to_i32(const VecI& x) {  // the low 32 bits
  return narrow<VecI32>(x, SINTER_EACH(reg_narrow(r...)), NarrowParts());
}
SINTER_INLINE VecD to_f64(const VecI& x) {
  return by_register<VecD>([](I64Reg r) { return __builtin_convertvector(r, F64Reg); }, x);
}
SINTER_INLINE VecI to_i64(const VecD& x) {
  return by_register<VecI>([](F64Reg r) { return __builtin_convertvector(r, I64Reg); }, x);
}
SINTER_INLINE VecI to_i64(const VecF& x) { return to_i64(to_f64(x)); }

/// f of each lane: for what has no vector form.
template <class T, class F>
SINTER_INLINE Vec<T> map(F f, const Vec<T>& x) {
  T buffer[vector_size];
  x.store(buffer);
  for (T& element : buffer) element = f(element);
  return Vec<T>::load(buffer);
}
template <class T, class F>
SINTER_INLINE Vec<T> map(F f, const Vec<T>& x, const Vec<T>& y) {
  T a[vector_size], b[vector_size];
  x.store(a);
  y.store(b);
  for (int i = 0; i < vector_size; ++i) a[i] = f(a[i], b[i]);
  return Vec<T>::load(a);
}

/// One number of sixteen by op, in halves: lane i with lane i+8, then i+4, i+2, i+1.
template <class T, class Op>
SINTER_INLINE T fold(const Vec<T>& x, Op op) {
  T a[vector_size];
  x.store(a);
  for (int half = vector_size / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) a[i] = op(a[i], a[i + half]);
  return a[0];
}

/// Sixteen elements of a narrower type, `Narrow` being as many as a register has 32-bit lanes;
/// stored are the low bits.
template <class Narrow, class T>
SINTER_INLINE VecI32 load_narrow(const T* from) {
  return build<VecI32>(
      [=](int i) __attribute__((always_inline)) {
        Narrow narrow;
        __builtin_memcpy(&narrow, from + i * VecI32::lanes, sizeof narrow);
        return __builtin_convertvector(narrow, I32Reg);
      },
      NarrowParts());
}
template <class Narrow, class T, int... I>
SINTER_INLINE void store_narrow(const VecI32& x, T* to, std::integer_sequence<int, I...>) {
  const auto store_part = [to](I32Reg r, int i) __attribute__((always_inline)) {
    const Narrow narrow = __builtin_convertvector(r, Narrow);
    __builtin_memcpy(to + i * VecI32::lanes, &narrow, sizeof narrow);
  };
  (store_part(x.part[I], I), ...);
}
SINTER_INLINE VecI32 load_u8(const std::uint8_t* from) { return load_narrow<U8Quarter>(from); }
SINTER_INLINE VecI32 load_u16(const std::uint16_t* from) { return load_narrow<U16Half>(from); }
SINTER_INLINE void store_u8(const VecI32& x, std::uint8_t* to) {
  store_narrow<U8Quarter>(x, to, NarrowParts());
}
SINTER_INLINE void store_u16(const VecI32& x, std::uint16_t* to) {
  store_narrow<U16Half>(x, to, NarrowParts());
}

SINTER_INLINE VecF load_bf16(const std::uint16_t* from) { return from_bf16<VecF>(load_u16(from)); }
SINTER_INLINE void store_bf16(const VecF& x, std::uint16_t* to) { store_u16(to_bf16(x), to); }
SINTER_INLINE VecF load_f16(const std::uint16_t* from) { return from_f16<VecF>(load_u16(from)); }
SINTER_INLINE void store_f16(const VecF& x, std::uint16_t* to) { store_u16(to_f16(x), to); }

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
