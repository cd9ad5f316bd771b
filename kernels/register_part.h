/// \file
/// The first lanes of a vector from memory and to it, without a loop over them where the machine
/// has masked moves. Only for files compiled for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/vector.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {

#if defined SINTER_AVX512

/// A mask of the first n of `lanes` lanes, for any n.
SINTER_INLINE unsigned first_lanes(std::ptrdiff_t n, int lanes) {
  return n <= 0 ? 0u : n >= lanes ? (1u << lanes) - 1 : (1u << n) - 1;
}
/// The first n lanes from memory, for any n, `fill` in the others; nothing else is read.
SINTER_INLINE F32Reg reg_load_first(const float* from, std::ptrdiff_t n, F32Reg fill) {
  return _mm512_mask_loadu_ps(fill, static_cast<Mask4>(first_lanes(n, 16)), from);
}
SINTER_INLINE F64Reg reg_load_first(const double* from, std::ptrdiff_t n, F64Reg fill) {
  return _mm512_mask_loadu_pd(fill, static_cast<Mask8>(first_lanes(n, 8)), from);
}
SINTER_INLINE I32Reg reg_load_first(const std::int32_t* from, std::ptrdiff_t n, I32Reg fill) {
  const auto mask = static_cast<Mask4>(first_lanes(n, 16));
  return reinterpret_cast<I32Reg>(_mm512_mask_loadu_epi32(raw(fill), mask, from));
}
SINTER_INLINE I64Reg reg_load_first(const std::int64_t* from, std::ptrdiff_t n, I64Reg fill) {
  const auto mask = static_cast<Mask8>(first_lanes(n, 8));
  return reinterpret_cast<I64Reg>(_mm512_mask_loadu_epi64(raw(fill), mask, from));
}
SINTER_INLINE void reg_store_first(F32Reg x, std::ptrdiff_t n, float* to) {
  _mm512_mask_storeu_ps(to, static_cast<Mask4>(first_lanes(n, 16)), x);
}
SINTER_INLINE void reg_store_first(F64Reg x, std::ptrdiff_t n, double* to) {
  _mm512_mask_storeu_pd(to, static_cast<Mask8>(first_lanes(n, 8)), x);
}
SINTER_INLINE void reg_store_first(I32Reg x, std::ptrdiff_t n, std::int32_t* to) {
  _mm512_mask_storeu_epi32(to, static_cast<Mask4>(first_lanes(n, 16)), raw(x));
}
SINTER_INLINE void reg_store_first(I64Reg x, std::ptrdiff_t n, std::int64_t* to) {
  _mm512_mask_storeu_epi64(to, static_cast<Mask8>(first_lanes(n, 8)), raw(x));
}

#elif defined SINTER_AVX2

/// All bits set in the first n lanes, for any n.
SINTER_INLINE __m256i first_lanes(std::ptrdiff_t n, Mask4) {
  const int count = static_cast<int>(n);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
SINTER_INLINE __m256i first_lanes(std::ptrdiff_t n, Mask8) {
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
}
/// The first n lanes from memory, for any n, `fill` in the others; nothing else is read.
SINTER_INLINE F32Reg reg_load_first(const float* from, std::ptrdiff_t n, F32Reg fill) {
  const __m256i mask = first_lanes(n, Mask4());
  return _mm256_blendv_ps(fill, _mm256_maskload_ps(from, mask), _mm256_castsi256_ps(mask));
}
SINTER_INLINE F64Reg reg_load_first(const double* from, std::ptrdiff_t n, F64Reg fill) {
  const __m256i mask = first_lanes(n, Mask8());
  return _mm256_blendv_pd(fill, _mm256_maskload_pd(from, mask), _mm256_castsi256_pd(mask));
}
SINTER_INLINE I32Reg reg_load_first(const std::int32_t* from, std::ptrdiff_t n, I32Reg fill) {
  const __m256i mask = first_lanes(n, Mask4());
  return reinterpret_cast<I32Reg>(
      _mm256_blendv_epi8(raw(fill), _mm256_maskload_epi32(from, mask), mask));
}
SINTER_INLINE I64Reg reg_load_first(const std::int64_t* from, std::ptrdiff_t n, I64Reg fill) {
  const __m256i mask = first_lanes(n, Mask8());
  const auto* const words = reinterpret_cast<const long long*>(from);
  return reinterpret_cast<I64Reg>(
      _mm256_blendv_epi8(raw(fill), _mm256_maskload_epi64(words, mask), mask));
}
SINTER_INLINE void reg_store_first(F32Reg x, std::ptrdiff_t n, float* to) {
  _mm256_maskstore_ps(to, first_lanes(n, Mask4()), x);
}
SINTER_INLINE void reg_store_first(F64Reg x, std::ptrdiff_t n, double* to) {
  _mm256_maskstore_pd(to, first_lanes(n, Mask8()), x);
}
SINTER_INLINE void reg_store_first(I32Reg x, std::ptrdiff_t n, std::int32_t* to) {
  _mm256_maskstore_epi32(to, first_lanes(n, Mask4()), raw(x));
}
SINTER_INLINE void reg_store_first(I64Reg x, std::ptrdiff_t n, std::int64_t* to) {
  _mm256_maskstore_epi64(reinterpret_cast<long long*>(to), first_lanes(n, Mask8()), raw(x));
}

#endif

#if defined SINTER_AVX512 || defined SINTER_AVX2
template <class T, int... I>
SINTER_INLINE Vec<T> load_first(const T* from, std::ptrdiff_t n, const Vec<T>& fill,
                                std::integer_sequence<int, I...>) {
  constexpr int lanes = Vec<T>::lanes;
  Vec<T> v;
  ((v.part[I] = reg_load_first(from + I * lanes, n - I * lanes, fill.part[I])), ...);
  return v;
}
template <class T, int... I>
SINTER_INLINE void store_first(const Vec<T>& x, T* to, std::ptrdiff_t n,
                               std::integer_sequence<int, I...>) {
  constexpr int lanes = Vec<T>::lanes;
  (reg_store_first(x.part[I], n - I * lanes, to + I * lanes), ...);
}
/// As Vec::load_partial and store_partial.
template <class T>
SINTER_INLINE Vec<T> load_first(const T* from, std::ptrdiff_t n, T fill) {
  return load_first(from, n, Vec<T>(fill), std::make_integer_sequence<int, Vec<T>::parts>());
}
template <class T>
SINTER_INLINE void store_first(const Vec<T>& x, T* to, std::ptrdiff_t n) {
  store_first(x, to, n, std::make_integer_sequence<int, Vec<T>::parts>());
}
#else
template <class T>
SINTER_INLINE Vec<T> load_first(const T* from, std::ptrdiff_t n, T fill) {
  return Vec<T>::load_partial(from, n, fill);
}
template <class T>
SINTER_INLINE void store_first(const Vec<T>& x, T* to, std::ptrdiff_t n) {
  x.store_partial(to, n);
}
#endif

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
