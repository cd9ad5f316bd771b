/// \file
/// Register operations of vector.h with AVX-512 (F, DQ, VL, BW). Included by register.h alone.
#pragma once

#include <immintrin.h>

namespace sinter::kernels {
inline namespace SINTER_ISA {

using Mask4 = __mmask16;  // of 4-byte lanes
using Mask8 = __mmask8;   // of 8-byte lanes

// The forms with a mask of all lanes compile to the same instructions as those without, whose
// undefined operand g++ 12 warns about.
inline constexpr Mask4 all4 = 0xffff;
inline constexpr Mask8 all8 = 0xff;

SINTER_INLINE __m512i raw(I32Reg x) { return reinterpret_cast<__m512i>(x); }
SINTER_INLINE __m512i raw(I64Reg x) { return reinterpret_cast<__m512i>(x); }

SINTER_INLINE F32Reg reg_fma(F32Reg a, F32Reg b, F32Reg c) { return _mm512_fmadd_ps(a, b, c); }
SINTER_INLINE F64Reg reg_fma(F64Reg a, F64Reg b, F64Reg c) { return _mm512_fmadd_pd(a, b, c); }
SINTER_INLINE F32Reg reg_sqrt(F32Reg x) { return _mm512_maskz_sqrt_ps(all4, x); }
SINTER_INLINE F64Reg reg_sqrt(F64Reg x) { return _mm512_maskz_sqrt_pd(all8, x); }

// The immediates of vrndscale: nearest even, down, up, towards zero; 8 means no exception.
SINTER_INLINE F32Reg reg_round(F32Reg x) { return _mm512_maskz_roundscale_ps(all4, x, 8 + 0); }
SINTER_INLINE F64Reg reg_round(F64Reg x) { return _mm512_maskz_roundscale_pd(all8, x, 8 + 0); }
SINTER_INLINE F32Reg reg_floor(F32Reg x) { return _mm512_maskz_roundscale_ps(all4, x, 8 + 1); }
SINTER_INLINE F64Reg reg_floor(F64Reg x) { return _mm512_maskz_roundscale_pd(all8, x, 8 + 1); }
SINTER_INLINE F32Reg reg_ceil(F32Reg x) { return _mm512_maskz_roundscale_ps(all4, x, 8 + 2); }
SINTER_INLINE F64Reg reg_ceil(F64Reg x) { return _mm512_maskz_roundscale_pd(all8, x, 8 + 2); }
SINTER_INLINE F32Reg reg_trunc(F32Reg x) { return _mm512_maskz_roundscale_ps(all4, x, 8 + 3); }
SINTER_INLINE F64Reg reg_trunc(F64Reg x) { return _mm512_maskz_roundscale_pd(all8, x, 8 + 3); }

SINTER_INLINE Mask4 reg_less(F32Reg a, F32Reg b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
SINTER_INLINE Mask8 reg_less(F64Reg a, F64Reg b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
SINTER_INLINE Mask4 reg_less(I32Reg a, I32Reg b) { return _mm512_cmplt_epi32_mask(raw(a), raw(b)); }
SINTER_INLINE Mask8 reg_less(I64Reg a, I64Reg b) { return _mm512_cmplt_epi64_mask(raw(a), raw(b)); }
SINTER_INLINE Mask4 reg_less_equal(F32Reg a, F32Reg b) {
  return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ);
}
SINTER_INLINE Mask8 reg_less_equal(F64Reg a, F64Reg b) {
  return _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ);
}
SINTER_INLINE Mask4 reg_less_equal(I32Reg a, I32Reg b) {
  return _mm512_cmple_epi32_mask(raw(a), raw(b));
}
SINTER_INLINE Mask8 reg_less_equal(I64Reg a, I64Reg b) {
  return _mm512_cmple_epi64_mask(raw(a), raw(b));
}
SINTER_INLINE Mask4 reg_equal(F32Reg a, F32Reg b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
SINTER_INLINE Mask8 reg_equal(F64Reg a, F64Reg b) { return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ); }
SINTER_INLINE Mask4 reg_equal(I32Reg a, I32Reg b) {
  return _mm512_cmpeq_epi32_mask(raw(a), raw(b));
}
SINTER_INLINE Mask8 reg_equal(I64Reg a, I64Reg b) {
  return _mm512_cmpeq_epi64_mask(raw(a), raw(b));
}

SINTER_INLINE F32Reg reg_select(Mask4 m, F32Reg a, F32Reg b) {
  return _mm512_mask_blend_ps(m, b, a);
}
SINTER_INLINE F64Reg reg_select(Mask8 m, F64Reg a, F64Reg b) {
  return _mm512_mask_blend_pd(m, b, a);
}
SINTER_INLINE I32Reg reg_select(Mask4 m, I32Reg a, I32Reg b) {
  return reinterpret_cast<I32Reg>(_mm512_mask_blend_epi32(m, raw(b), raw(a)));
}
SINTER_INLINE I64Reg reg_select(Mask8 m, I64Reg a, I64Reg b) {
  return reinterpret_cast<I64Reg>(_mm512_mask_blend_epi64(m, raw(b), raw(a)));
}

SINTER_INLINE Mask4 reg_and(Mask4 a, Mask4 b) { return _kand_mask16(a, b); }
SINTER_INLINE Mask8 reg_and(Mask8 a, Mask8 b) { return _kand_mask8(a, b); }
SINTER_INLINE Mask4 reg_or(Mask4 a, Mask4 b) { return _kor_mask16(a, b); }
SINTER_INLINE Mask8 reg_or(Mask8 a, Mask8 b) { return _kor_mask8(a, b); }
SINTER_INLINE Mask4 reg_not(Mask4 a) { return _knot_mask16(a); }
SINTER_INLINE Mask8 reg_not(Mask8 a) { return _knot_mask8(a); }
SINTER_INLINE bool reg_any(Mask4 a) { return a != 0; }
SINTER_INLINE bool reg_any(Mask8 a) { return a != 0; }

/// `low` where x < low, `high` where x > high; the operand order keeps NaN.
SINTER_INLINE F32Reg reg_clamp(F32Reg x, F32Reg low, F32Reg high) {
  return _mm512_maskz_max_ps(all4, low, _mm512_maskz_min_ps(all4, high, x));
}

/// The upper halves of the products of unsigned lanes. (With a mask of zeros for no lane: g++ 12
/// warns about its own header without one.)
SINTER_INLINE I32Reg reg_multiply_high(I32Reg a, I32Reg b) {
  const I64Reg a_odd = reinterpret_cast<I64Reg>(a) >> 32, b_odd = reinterpret_cast<I64Reg>(b) >> 32;
  const __m512i even = _mm512_maskz_mul_epu32(0xff, raw(a), raw(b));
  const __m512i odd = _mm512_maskz_mul_epu32(0xff, raw(a_odd), raw(b_odd));
  const I64Reg even_high = reinterpret_cast<I64Reg>(even) >> 32;
  return reinterpret_cast<I32Reg>(_mm512_mask_blend_epi32(0xaaaa, raw(even_high), odd));
}

SINTER_INLINE F32Reg reg_scale(F32Reg x, F32Reg n) { return _mm512_maskz_scalef_ps(all4, x, n); }

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
