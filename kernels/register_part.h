/// \file
/// The first lanes of a vector from memory and to it, without a loop over them where the machine
/// has masked moves. Only for files compiled for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/vector.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {

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
