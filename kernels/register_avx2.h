/// \file
/// Register operations of vector.h with AVX2, FMA and F16C. Included by register.h alone. Compiler
/// builtins for the reason that register_avx512.h gives.
#pragma once

namespace sinter::kernels {
inline namespace SINTER_ISA {

using Mask4 = I32Reg;  // all bits of a lane set, or none
using Mask8 = I64Reg;

using CharReg [[gnu::vector_size(32)]] = char;
using IntReg [[gnu::vector_size(32)]] = int;
using LongReg [[gnu::vector_size(32)]] = long long;
template <class R>
SINTER_INLINE CharReg chars(R x) {
  return reinterpret_cast<CharReg>(x);
}
SINTER_INLINE IntReg raw(I32Reg x) { return reinterpret_cast<IntReg>(x); }
SINTER_INLINE LongReg raw(I64Reg x) { return reinterpret_cast<LongReg>(x); }

SINTER_INLINE F32Reg reg_fma(F32Reg a, F32Reg b, F32Reg c) {
  return __builtin_ia32_vfmaddps256(a, b, c);
}
SINTER_INLINE F64Reg reg_fma(F64Reg a, F64Reg b, F64Reg c) {
  return __builtin_ia32_vfmaddpd256(a, b, c);
}
SINTER_INLINE F32Reg reg_sqrt(F32Reg x) { return __builtin_ia32_sqrtps256(x); }
SINTER_INLINE F64Reg reg_sqrt(F64Reg x) { return __builtin_ia32_sqrtpd256(x); }

// The immediates of vroundps: nearest even, down, up, towards zero; 8 means no exception.
SINTER_INLINE F32Reg reg_round(F32Reg x) { return __builtin_ia32_roundps256(x, 8 + 0); }
SINTER_INLINE F64Reg reg_round(F64Reg x) { return __builtin_ia32_roundpd256(x, 8 + 0); }
SINTER_INLINE F32Reg reg_floor(F32Reg x) { return __builtin_ia32_roundps256(x, 8 + 1); }
SINTER_INLINE F64Reg reg_floor(F64Reg x) { return __builtin_ia32_roundpd256(x, 8 + 1); }
SINTER_INLINE F32Reg reg_ceil(F32Reg x) { return __builtin_ia32_roundps256(x, 8 + 2); }
SINTER_INLINE F64Reg reg_ceil(F64Reg x) { return __builtin_ia32_roundpd256(x, 8 + 2); }
SINTER_INLINE F32Reg reg_trunc(F32Reg x) { return __builtin_ia32_roundps256(x, 8 + 3); }
SINTER_INLINE F64Reg reg_trunc(F64Reg x) { return __builtin_ia32_roundpd256(x, 8 + 3); }

SINTER_INLINE F32Reg reg_select(Mask4 m, F32Reg a, F32Reg b) {
  return __builtin_ia32_blendvps256(b, a, reinterpret_cast<F32Reg>(m));
}
SINTER_INLINE F64Reg reg_select(Mask8 m, F64Reg a, F64Reg b) {
  return __builtin_ia32_blendvpd256(b, a, reinterpret_cast<F64Reg>(m));
}
SINTER_INLINE I32Reg reg_select(Mask4 m, I32Reg a, I32Reg b) {
  return reinterpret_cast<I32Reg>(__builtin_ia32_pblendvb256(chars(b), chars(a), chars(m)));
}
SINTER_INLINE I64Reg reg_select(Mask8 m, I64Reg a, I64Reg b) {
  return reinterpret_cast<I64Reg>(__builtin_ia32_pblendvb256(chars(b), chars(a), chars(m)));
}
SINTER_INLINE bool reg_any(Mask4 m) { return __builtin_ia32_pmovmskb256(chars(m)) != 0; }
SINTER_INLINE bool reg_any(Mask8 m) { return __builtin_ia32_pmovmskb256(chars(m)) != 0; }

// Of two zeros, and where one is NaN, the second.
SINTER_INLINE F32Reg reg_max(F32Reg a, F32Reg b) { return __builtin_ia32_maxps256(a, b); }
SINTER_INLINE F64Reg reg_max(F64Reg a, F64Reg b) { return __builtin_ia32_maxpd256(a, b); }
SINTER_INLINE F32Reg reg_min(F32Reg a, F32Reg b) { return __builtin_ia32_minps256(a, b); }
SINTER_INLINE F64Reg reg_min(F64Reg a, F64Reg b) { return __builtin_ia32_minpd256(a, b); }

/// `low` where x < low, `high` where x > high; the operand order keeps NaN.
SINTER_INLINE F32Reg reg_clamp(F32Reg x, F32Reg low, F32Reg high) {
  return reg_max(low, reg_min(high, x));
}

/// The products of the unsigned lanes 0, 2, 4 and 6.
SINTER_INLINE I64Reg reg_multiply_even(I64Reg a, I64Reg b) {
  const auto low = [](I64Reg x) { return reinterpret_cast<IntReg>(x); };
#if defined __clang__
  const U64Reg p = reinterpret_cast<U64Reg>(low(a)), q = reinterpret_cast<U64Reg>(low(b));
  return reinterpret_cast<I64Reg>((p & 0xffffffffu) * (q & 0xffffffffu));
#else
  return reinterpret_cast<I64Reg>(__builtin_ia32_pmuludq256(low(a), low(b)));
#endif
}

/// The upper halves of the products of unsigned lanes.
SINTER_INLINE I32Reg reg_multiply_high(I32Reg a, I32Reg b) {
  const I64Reg p = reinterpret_cast<I64Reg>(a), q = reinterpret_cast<I64Reg>(b);
  const I64Reg even = reg_multiply_even(p, q) >> 32, odd = reg_multiply_even(p >> 32, q >> 32);
  return reg_select(I32Reg{0, -1, 0, -1, 0, -1, 0, -1}, reinterpret_cast<I32Reg>(odd),
                    reinterpret_cast<I32Reg>(even));
}

SINTER_INLINE F32Reg reg_scale(F32Reg x, F32Reg n) {
  const I32Reg whole = reinterpret_cast<I32Reg>(__builtin_ia32_cvtps2dq256(n)), first = whole >> 1;
  return x * reinterpret_cast<F32Reg>((first + 127) << 23) *
         reinterpret_cast<F32Reg>((whole - first + 127) << 23);
}

/// All bits set in the first n lanes, for any n.
SINTER_INLINE IntReg first_lanes(std::ptrdiff_t n, Mask4) {
  return IntReg{0, 1, 2, 3, 4, 5, 6, 7} < static_cast<int>(n);
}
SINTER_INLINE LongReg first_lanes(std::ptrdiff_t n, Mask8) {
  return LongReg{0, 1, 2, 3} < static_cast<long long>(n);
}
template <class To, class From>
SINTER_INLINE const To* vector_at(const From* from) {
  return reinterpret_cast<const To*>(from);
}
/// The first n lanes from memory, for any n, `fill` in the others; nothing else is read.
SINTER_INLINE F32Reg reg_load_first(const float* from, std::ptrdiff_t n, F32Reg fill) {
  const IntReg mask = first_lanes(n, Mask4());
  return reg_select(reinterpret_cast<Mask4>(mask),
                    __builtin_ia32_maskloadps256(vector_at<F32Reg>(from), mask), fill);
}
SINTER_INLINE F64Reg reg_load_first(const double* from, std::ptrdiff_t n, F64Reg fill) {
  const LongReg mask = first_lanes(n, Mask8());
  return reg_select(reinterpret_cast<Mask8>(mask),
                    __builtin_ia32_maskloadpd256(vector_at<F64Reg>(from), mask), fill);
}
SINTER_INLINE I32Reg reg_load_first(const std::int32_t* from, std::ptrdiff_t n, I32Reg fill) {
  const IntReg mask = first_lanes(n, Mask4());
  const IntReg found = __builtin_ia32_maskloadd256(vector_at<IntReg>(from), mask);
  return reg_select(reinterpret_cast<Mask4>(mask), reinterpret_cast<I32Reg>(found), fill);
}
SINTER_INLINE I64Reg reg_load_first(const std::int64_t* from, std::ptrdiff_t n, I64Reg fill) {
  const LongReg mask = first_lanes(n, Mask8());
  const LongReg found = __builtin_ia32_maskloadq256(vector_at<LongReg>(from), mask);
  return reg_select(reinterpret_cast<Mask8>(mask), reinterpret_cast<I64Reg>(found), fill);
}
SINTER_INLINE void reg_store_first(F32Reg x, std::ptrdiff_t n, float* to) {
  __builtin_ia32_maskstoreps256(reinterpret_cast<F32Reg*>(to), first_lanes(n, Mask4()), x);
}
SINTER_INLINE void reg_store_first(F64Reg x, std::ptrdiff_t n, double* to) {
  __builtin_ia32_maskstorepd256(reinterpret_cast<F64Reg*>(to), first_lanes(n, Mask8()), x);
}
SINTER_INLINE void reg_store_first(I32Reg x, std::ptrdiff_t n, std::int32_t* to) {
  __builtin_ia32_maskstored256(reinterpret_cast<IntReg*>(to), first_lanes(n, Mask4()), raw(x));
}
SINTER_INLINE void reg_store_first(I64Reg x, std::ptrdiff_t n, std::int64_t* to) {
  __builtin_ia32_maskstoreq256(reinterpret_cast<LongReg*>(to), first_lanes(n, Mask8()), raw(x));
}

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
