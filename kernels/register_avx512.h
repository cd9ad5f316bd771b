/// \file
/// Register operations of vector.h with AVX-512 (F, DQ, VL, BW). Included by register.h alone.
///
/// Compiler builtins and not <immintrin.h>: these headers are also part of every kernel that is
/// compiled at run time, and parsing that header takes longer than compiling a kernel.
#pragma once

namespace sinter::kernels {
inline namespace SINTER_ISA {

using Mask4 = unsigned short;  // of 4-byte lanes
using Mask8 = unsigned char;   // of 8-byte lanes

// The forms with a mask of all lanes compile to the same instructions as those without.
inline constexpr Mask4 all4 = 0xffff;
inline constexpr Mask8 all8 = 0xff;
/// Rounding as the control register says.
inline constexpr int current_rounding = 4;

using IntReg [[gnu::vector_size(64)]] = int;
using LongReg [[gnu::vector_size(64)]] = long long;
SINTER_INLINE IntReg raw(I32Reg x) { return reinterpret_cast<IntReg>(x); }
SINTER_INLINE LongReg raw(I64Reg x) { return reinterpret_cast<LongReg>(x); }

SINTER_INLINE F32Reg reg_fma(F32Reg a, F32Reg b, F32Reg c) {
  return __builtin_ia32_vfmaddps512_mask(a, b, c, all4, current_rounding);
}
SINTER_INLINE F64Reg reg_fma(F64Reg a, F64Reg b, F64Reg c) {
  return __builtin_ia32_vfmaddpd512_mask(a, b, c, all8, current_rounding);
}

// The immediates of vrndscale: nearest even, down, up, towards zero; 8 means no exception.
#define SINTER_ROUND(name, immediate)                                                   \
  SINTER_INLINE F32Reg name(F32Reg x) {                                                 \
    return __builtin_ia32_rndscaleps_mask(x, 8 + immediate, x, all4, current_rounding); \
  }                                                                                     \
  SINTER_INLINE F64Reg name(F64Reg x) {                                                 \
    return __builtin_ia32_rndscalepd_mask(x, 8 + immediate, x, all8, current_rounding); \
  }
SINTER_ROUND(reg_round, 0)
SINTER_ROUND(reg_floor, 1)
SINTER_ROUND(reg_ceil, 2)
SINTER_ROUND(reg_trunc, 3)
#undef SINTER_ROUND

// The immediates of vcmp: equal, less, less or equal; ordered and quiet. Of vpcmp: without.
#define SINTER_COMPARE(name, ordered, immediate)                                \
  SINTER_INLINE Mask4 name(F32Reg a, F32Reg b) {                                \
    return __builtin_ia32_cmpps512_mask(a, b, ordered, all4, current_rounding); \
  }                                                                             \
  SINTER_INLINE Mask8 name(F64Reg a, F64Reg b) {                                \
    return __builtin_ia32_cmppd512_mask(a, b, ordered, all8, current_rounding); \
  }                                                                             \
  SINTER_INLINE Mask4 name(I32Reg a, I32Reg b) {                                \
    return __builtin_ia32_cmpd512_mask(raw(a), raw(b), immediate, all4);        \
  }                                                                             \
  SINTER_INLINE Mask8 name(I64Reg a, I64Reg b) {                                \
    return __builtin_ia32_cmpq512_mask(raw(a), raw(b), immediate, all8);        \
  }
SINTER_COMPARE(reg_equal, 0x00, 0)
SINTER_COMPARE(reg_less, 0x11, 1)
SINTER_COMPARE(reg_less_equal, 0x12, 2)
#undef SINTER_COMPARE

SINTER_INLINE Mask4 reg_and(Mask4 a, Mask4 b) { return static_cast<Mask4>(a & b); }
SINTER_INLINE Mask8 reg_and(Mask8 a, Mask8 b) { return static_cast<Mask8>(a & b); }
SINTER_INLINE Mask4 reg_or(Mask4 a, Mask4 b) { return static_cast<Mask4>(a | b); }
SINTER_INLINE Mask8 reg_or(Mask8 a, Mask8 b) { return static_cast<Mask8>(a | b); }
SINTER_INLINE Mask4 reg_not(Mask4 a) { return static_cast<Mask4>(~a); }
SINTER_INLINE Mask8 reg_not(Mask8 a) { return static_cast<Mask8>(~a); }
SINTER_INLINE bool reg_any(Mask4 a) { return a != 0; }
SINTER_INLINE bool reg_any(Mask8 a) { return a != 0; }

// Where the compilers' builtins differ.
#if defined __clang__
SINTER_INLINE F32Reg reg_sqrt(F32Reg x) { return __builtin_ia32_sqrtps512(x, current_rounding); }
SINTER_INLINE F64Reg reg_sqrt(F64Reg x) { return __builtin_ia32_sqrtpd512(x, current_rounding); }
SINTER_INLINE F32Reg reg_select(Mask4 m, F32Reg a, F32Reg b) {
  return __builtin_ia32_selectps_512(m, a, b);
}
SINTER_INLINE F64Reg reg_select(Mask8 m, F64Reg a, F64Reg b) {
  return __builtin_ia32_selectpd_512(m, a, b);
}
SINTER_INLINE I32Reg reg_select(Mask4 m, I32Reg a, I32Reg b) {
  return reinterpret_cast<I32Reg>(__builtin_ia32_selectd_512(m, raw(a), raw(b)));
}
SINTER_INLINE I64Reg reg_select(Mask8 m, I64Reg a, I64Reg b) {
  return reinterpret_cast<I64Reg>(__builtin_ia32_selectq_512(m, raw(a), raw(b)));
}
SINTER_INLINE F32Reg reg_max(F32Reg a, F32Reg b) {
  return __builtin_ia32_maxps512(a, b, current_rounding);
}
SINTER_INLINE F32Reg reg_min(F32Reg a, F32Reg b) {
  return __builtin_ia32_minps512(a, b, current_rounding);
}
SINTER_INLINE F64Reg reg_max(F64Reg a, F64Reg b) {
  return __builtin_ia32_maxpd512(a, b, current_rounding);
}
SINTER_INLINE F64Reg reg_min(F64Reg a, F64Reg b) {
  return __builtin_ia32_minpd512(a, b, current_rounding);
}
SINTER_INLINE I64Reg reg_multiply_even(I32Reg a, I32Reg b) {
  return reinterpret_cast<I64Reg>(__builtin_ia32_pmuludq512(raw(a), raw(b)));
}
#else
SINTER_INLINE F32Reg reg_sqrt(F32Reg x) {
  return __builtin_ia32_sqrtps512_mask(x, x, all4, current_rounding);
}
SINTER_INLINE F64Reg reg_sqrt(F64Reg x) {
  return __builtin_ia32_sqrtpd512_mask(x, x, all8, current_rounding);
}
SINTER_INLINE F32Reg reg_select(Mask4 m, F32Reg a, F32Reg b) {
  return __builtin_ia32_blendmps_512_mask(b, a, m);
}
SINTER_INLINE F64Reg reg_select(Mask8 m, F64Reg a, F64Reg b) {
  return __builtin_ia32_blendmpd_512_mask(b, a, m);
}
SINTER_INLINE I32Reg reg_select(Mask4 m, I32Reg a, I32Reg b) {
  return reinterpret_cast<I32Reg>(__builtin_ia32_blendmd_512_mask(raw(b), raw(a), m));
}
SINTER_INLINE I64Reg reg_select(Mask8 m, I64Reg a, I64Reg b) {
  return reinterpret_cast<I64Reg>(__builtin_ia32_blendmq_512_mask(raw(b), raw(a), m));
}
SINTER_INLINE F32Reg reg_max(F32Reg a, F32Reg b) {
  return __builtin_ia32_maxps512_mask(a, b, a, all4, current_rounding);
}
SINTER_INLINE F32Reg reg_min(F32Reg a, F32Reg b) {
  return __builtin_ia32_minps512_mask(a, b, a, all4, current_rounding);
}
SINTER_INLINE F64Reg reg_max(F64Reg a, F64Reg b) {
  return __builtin_ia32_maxpd512_mask(a, b, a, all8, current_rounding);
}
SINTER_INLINE F64Reg reg_min(F64Reg a, F64Reg b) {
  return __builtin_ia32_minpd512_mask(a, b, a, all8, current_rounding);
}
SINTER_INLINE I64Reg reg_multiply_even(I32Reg a, I32Reg b) {
  return reinterpret_cast<I64Reg>(__builtin_ia32_pmuludq512_mask(raw(a), raw(b), LongReg{}, all8));
}
#endif

/// A load that is a part of a masked instruction is not fetched ahead by some processors: from
/// memory it takes twice as long. So the compiler shall not make one of a load and a selection.
template <class R>
SINTER_INLINE R reg_settled(R x) {
  asm("" : "+v"(x));
  return x;
}

/// `low` where x < low, `high` where x > high; the operand order keeps NaN.
SINTER_INLINE F32Reg reg_clamp(F32Reg x, F32Reg low, F32Reg high) {
  return reg_max(low, reg_min(high, x));
}

/// The upper halves of the products of unsigned lanes.
SINTER_INLINE I32Reg reg_multiply_high(I32Reg a, I32Reg b) {
  const I64Reg a_odd = reinterpret_cast<I64Reg>(a) >> 32, b_odd = reinterpret_cast<I64Reg>(b) >> 32;
  const I64Reg even = reg_multiply_even(a, b) >> 32;
  const I64Reg odd =
      reg_multiply_even(reinterpret_cast<I32Reg>(a_odd), reinterpret_cast<I32Reg>(b_odd));
  return reg_select(static_cast<Mask4>(0xaaaa), reinterpret_cast<I32Reg>(odd),
                    reinterpret_cast<I32Reg>(even));
}

SINTER_INLINE F32Reg reg_scale(F32Reg x, F32Reg n) {
  return __builtin_ia32_scalefps512_mask(x, n, x, all4, current_rounding);
}

/// A mask of the first n of `lanes` lanes, for any n.
SINTER_INLINE unsigned first_lanes(std::ptrdiff_t n, int lanes) {
  return n <= 0 ? 0u : n >= lanes ? (1u << lanes) - 1 : (1u << n) - 1;
}
/// The first n lanes from memory, for any n, `fill` in the others; nothing else is read.
SINTER_INLINE F32Reg reg_load_first(const float* from, std::ptrdiff_t n, F32Reg fill) {
  return __builtin_ia32_loadups512_mask(from, fill, static_cast<Mask4>(first_lanes(n, 16)));
}
SINTER_INLINE F64Reg reg_load_first(const double* from, std::ptrdiff_t n, F64Reg fill) {
  return __builtin_ia32_loadupd512_mask(from, fill, static_cast<Mask8>(first_lanes(n, 8)));
}
SINTER_INLINE I32Reg reg_load_first(const std::int32_t* from, std::ptrdiff_t n, I32Reg fill) {
  return reinterpret_cast<I32Reg>(
      __builtin_ia32_loaddqusi512_mask(from, raw(fill), static_cast<Mask4>(first_lanes(n, 16))));
}
SINTER_INLINE I64Reg reg_load_first(const std::int64_t* from, std::ptrdiff_t n, I64Reg fill) {
  const auto* const words = reinterpret_cast<const long long*>(from);
  return reinterpret_cast<I64Reg>(
      __builtin_ia32_loaddqudi512_mask(words, raw(fill), static_cast<Mask8>(first_lanes(n, 8))));
}
SINTER_INLINE void reg_store_first(F32Reg x, std::ptrdiff_t n, float* to) {
  __builtin_ia32_storeups512_mask(to, x, static_cast<Mask4>(first_lanes(n, 16)));
}
SINTER_INLINE void reg_store_first(F64Reg x, std::ptrdiff_t n, double* to) {
  __builtin_ia32_storeupd512_mask(to, x, static_cast<Mask8>(first_lanes(n, 8)));
}
SINTER_INLINE void reg_store_first(I32Reg x, std::ptrdiff_t n, std::int32_t* to) {
  __builtin_ia32_storedqusi512_mask(to, raw(x), static_cast<Mask4>(first_lanes(n, 16)));
}
SINTER_INLINE void reg_store_first(I64Reg x, std::ptrdiff_t n, std::int64_t* to) {
  __builtin_ia32_storedqudi512_mask(reinterpret_cast<long long*>(to), raw(x),
                                    static_cast<Mask8>(first_lanes(n, 8)));
}

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
