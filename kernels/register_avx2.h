/// \file
/// Register operations of vector.h with AVX2, FMA and F16C. Included by register.h alone.
#pragma once

#include <immintrin.h>

namespace sinter::kernels {
inline namespace SINTER_ISA {

using Mask4 = I32Reg;  // all bits of a lane set, or none
using Mask8 = I64Reg;

SINTER_INLINE __m256i raw(I32Reg x) { return reinterpret_cast<__m256i>(x); }
SINTER_INLINE __m256i raw(I64Reg x) { return reinterpret_cast<__m256i>(x); }

SINTER_INLINE F32Reg reg_fma(F32Reg a, F32Reg b, F32Reg c) { return _mm256_fmadd_ps(a, b, c); }
SINTER_INLINE F64Reg reg_fma(F64Reg a, F64Reg b, F64Reg c) { return _mm256_fmadd_pd(a, b, c); }
SINTER_INLINE F32Reg reg_sqrt(F32Reg x) { return _mm256_sqrt_ps(x); }
SINTER_INLINE F64Reg reg_sqrt(F64Reg x) { return _mm256_sqrt_pd(x); }

// The immediates of vroundps: nearest even, down, up, towards zero; 8 means no exception.
SINTER_INLINE F32Reg reg_round(F32Reg x) { return _mm256_round_ps(x, 8 + 0); }
SINTER_INLINE F64Reg reg_round(F64Reg x) { return _mm256_round_pd(x, 8 + 0); }
SINTER_INLINE F32Reg reg_floor(F32Reg x) { return _mm256_round_ps(x, 8 + 1); }
SINTER_INLINE F64Reg reg_floor(F64Reg x) { return _mm256_round_pd(x, 8 + 1); }
SINTER_INLINE F32Reg reg_ceil(F32Reg x) { return _mm256_round_ps(x, 8 + 2); }
SINTER_INLINE F64Reg reg_ceil(F64Reg x) { return _mm256_round_pd(x, 8 + 2); }
SINTER_INLINE F32Reg reg_trunc(F32Reg x) { return _mm256_round_ps(x, 8 + 3); }
SINTER_INLINE F64Reg reg_trunc(F64Reg x) { return _mm256_round_pd(x, 8 + 3); }

SINTER_INLINE F32Reg reg_select(Mask4 m, F32Reg a, F32Reg b) {
  return _mm256_blendv_ps(b, a, reinterpret_cast<__m256>(m));
}
SINTER_INLINE F64Reg reg_select(Mask8 m, F64Reg a, F64Reg b) {
  return _mm256_blendv_pd(b, a, reinterpret_cast<__m256d>(m));
}
SINTER_INLINE I32Reg reg_select(Mask4 m, I32Reg a, I32Reg b) {
  return reinterpret_cast<I32Reg>(_mm256_blendv_epi8(raw(b), raw(a), raw(m)));
}
SINTER_INLINE I64Reg reg_select(Mask8 m, I64Reg a, I64Reg b) {
  return reinterpret_cast<I64Reg>(_mm256_blendv_epi8(raw(b), raw(a), raw(m)));
}
SINTER_INLINE bool reg_any(Mask4 m) { return _mm256_movemask_epi8(raw(m)) != 0; }
SINTER_INLINE bool reg_any(Mask8 m) { return _mm256_movemask_epi8(raw(m)) != 0; }

/// `low` where x < low, `high` where x > high; the operand order keeps NaN.
SINTER_INLINE F32Reg reg_clamp(F32Reg x, F32Reg low, F32Reg high) {
  return _mm256_max_ps(low, _mm256_min_ps(high, x));
}

/// The upper halves of the products of unsigned lanes.
SINTER_INLINE I32Reg reg_multiply_high(I32Reg a, I32Reg b) {
  const __m256i even = _mm256_mul_epu32(raw(a), raw(b));
  const __m256i odd =
      _mm256_mul_epu32(_mm256_srli_epi64(raw(a), 32), _mm256_srli_epi64(raw(b), 32));
  return reinterpret_cast<I32Reg>(_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa));
}

SINTER_INLINE F32Reg reg_scale(F32Reg x, F32Reg n) {
  const I32Reg whole = reinterpret_cast<I32Reg>(_mm256_cvtps_epi32(n)), first = whole >> 1;
  return x * reinterpret_cast<F32Reg>((first + 127) << 23) *
         reinterpret_cast<F32Reg>((whole - first + 127) << 23);
}

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
