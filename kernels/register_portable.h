/// \file
/// Register operations of vector.h without instruction set extensions: 16-byte vectors that any
/// compiler with vector types can lower. Included by register.h alone.
#pragma once

namespace sinter::kernels {
inline namespace SINTER_ISA {

using Mask4 = I32Reg;  // all bits of a lane set, or none
using Mask8 = I64Reg;

SINTER_INLINE F32Reg reg_select(Mask4 m, F32Reg a, F32Reg b) {
  return reinterpret_cast<F32Reg>((m & reinterpret_cast<I32Reg>(a)) |
                                  (~m & reinterpret_cast<I32Reg>(b)));
}
SINTER_INLINE F64Reg reg_select(Mask8 m, F64Reg a, F64Reg b) {
  return reinterpret_cast<F64Reg>((m & reinterpret_cast<I64Reg>(a)) |
                                  (~m & reinterpret_cast<I64Reg>(b)));
}
SINTER_INLINE I32Reg reg_select(Mask4 m, I32Reg a, I32Reg b) { return (m & a) | (~m & b); }
SINTER_INLINE I64Reg reg_select(Mask8 m, I64Reg a, I64Reg b) { return (m & a) | (~m & b); }

// Of two zeros, and where one is NaN, the second.
SINTER_INLINE F32Reg reg_max(F32Reg a, F32Reg b) { return reg_select(b < a, a, b); }
SINTER_INLINE F64Reg reg_max(F64Reg a, F64Reg b) { return reg_select(b < a, a, b); }
SINTER_INLINE F32Reg reg_min(F32Reg a, F32Reg b) { return reg_select(a < b, a, b); }
SINTER_INLINE F64Reg reg_min(F64Reg a, F64Reg b) { return reg_select(a < b, a, b); }

SINTER_INLINE bool reg_any(Mask8 m) { return (m[0] | m[1]) != 0; }
SINTER_INLINE bool reg_any(Mask4 m) { return reg_any(reinterpret_cast<Mask8>(m)); }

// A call of the C library for each lane.
SINTER_INLINE F64Reg reg_fma(F64Reg a, F64Reg b, F64Reg c) {
  return F64Reg{__builtin_fma(a[0], b[0], c[0]), __builtin_fma(a[1], b[1], c[1])};
}

/// float(sum), where sum = product + addend was rounded: a second rounding, which is wrong where
/// the first one landed on a tie. So the sum is rounded to odd instead (to the neighbour with an
/// odd last bit when inexact), after which rounding to float gives what one rounding gives.
[[gnu::noinline]] inline F32HalfReg round_once(F64Reg product, F64Reg addend) {
  const F64Reg sum = product + addend, back = sum - product;
  const F64Reg error = (product - (sum - back)) + (addend - back);
  const I64Reg bits = reinterpret_cast<I64Reg>(sum);
  const I64Reg opposite = (reinterpret_cast<I64Reg>(error) ^ bits) < 0;
  const I64Reg inexact = (error < 0.0) | (error > 0.0), even = (bits & 1) == 0;
  // Away from zero if the error has the sign of the sum, else towards zero.
  const I64Reg odd = bits + ((opposite | 1) & inexact & even);
  return __builtin_convertvector(reinterpret_cast<F64Reg>(odd), F32HalfReg);
}

/// a * b + c rounded once, without an instruction for it. The product is exact in double. A call:
/// polynomials have so many of them that a kernel with a few functions took half a minute to
/// compile on a busy machine, three times as long as with calls.
[[gnu::noinline]] inline F32Reg reg_fma(F32Reg a, F32Reg b, F32Reg c) {
  const F64Reg product_low = reg_widen_low(a) * reg_widen_low(b), c_low = reg_widen_low(c);
  const F64Reg product_high = reg_widen_high(a) * reg_widen_high(b), c_high = reg_widen_high(c);
  const F64Reg low = product_low + c_low, high = product_high + c_high;
  // Rounding twice can differ for a double halfway between floats, and among the denormals.
  const I32Reg words_low = reinterpret_cast<I32Reg>(low),
               words_high = reinterpret_cast<I32Reg>(high);
  const I32Reg tail = __builtin_shufflevector(words_low, words_high, 0, 2, 4, 6) & 0x1fffffff;
  const I32Reg head = __builtin_shufflevector(words_low, words_high, 1, 3, 5, 7) & 0x7fffffff;
  if (reg_any((tail == 0x10000000) | ((head > 0) & (head < (1023 - 125) << 20)))) [[unlikely]]
    return reg_join(round_once(product_low, c_low), round_once(product_high, c_high));
  return reg_narrow(low, high);
}

#define SINTER_BY_LANE(name, builtin)                                                      \
  SINTER_INLINE F32Reg name(F32Reg x) {                                                    \
    return F32Reg{builtin##f(x[0]), builtin##f(x[1]), builtin##f(x[2]), builtin##f(x[3])}; \
  }                                                                                        \
  SINTER_INLINE F64Reg name(F64Reg x) { return F64Reg{builtin(x[0]), builtin(x[1])}; }
SINTER_BY_LANE(reg_sqrt, __builtin_sqrt)
SINTER_BY_LANE(reg_round, __builtin_rint)
SINTER_BY_LANE(reg_floor, __builtin_floor)
SINTER_BY_LANE(reg_ceil, __builtin_ceil)
SINTER_BY_LANE(reg_trunc, __builtin_trunc)
#undef SINTER_BY_LANE

/// `low` where x < low, `high` where x > high; NaN stays NaN.
SINTER_INLINE F32Reg reg_clamp(F32Reg x, F32Reg low, F32Reg high) {
  return reg_select(x < low, low, reg_select(high < x, high, x));
}

/// The upper halves of the products of unsigned lanes.
SINTER_INLINE I32Reg reg_multiply_high(I32Reg a, I32Reg b) {
  const U64Reg p = reinterpret_cast<U64Reg>(a), q = reinterpret_cast<U64Reg>(b);
  const U64Reg even = (p & 0xffffffffu) * (q & 0xffffffffu), odd = (p >> 32) * (q >> 32);
  return reinterpret_cast<I32Reg>((even >> 32) | (odd & 0xffffffff00000000u));
}

SINTER_INLINE F32Reg reg_scale(F32Reg x, F32Reg n) {
  const I32Reg whole = __builtin_convertvector(n, I32Reg), first = whole >> 1;
  return x * reinterpret_cast<F32Reg>((first + 127) << 23) *
         reinterpret_cast<F32Reg>((whole - first + 127) << 23);
}

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
