/// \file
/// From compares of lanes to the bits of a predicate. It is done by vectors as long as the host's
/// registers, since the instructions that gather the signs of a vector's elements are what loops
/// over lanes do not become.
#pragma once

#include "tools/simgpu/lanes/lanes.h"

namespace simgpu::SIMGPU_ISA {

#ifdef __AVX2__
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif

template <class T>
struct VectorOf {
  using Type [[gnu::vector_size(vector_bytes)]] = T;
};
template <class T>
using Vector = typename VectorOf<T>::Type;

template <class T>
SIMGPU_INLINE Vector<T> vector_at(const T* lanes) {
  Vector<T> vector;
  std::memcpy(&vector, lanes, sizeof vector);
  return vector;
}

#ifdef __SSE2__
/// The signs of elements of 4 or 8 bytes, one bit each.
template <int bytes, class V>
SIMGPU_INLINE u32 signs(V v) {
  const auto singles = reinterpret_cast<Vector<float>>(v);
  const auto doubles = reinterpret_cast<Vector<double>>(v);
#ifdef __AVX2__
  return static_cast<u32>(bytes == 4 ? __builtin_ia32_movmskps256(singles)
                                     : __builtin_ia32_movmskpd256(doubles));
#else
  return static_cast<u32>(bytes == 4 ? __builtin_ia32_movmskps(singles)
                                     : __builtin_ia32_movmskpd(doubles));
#endif
}

/// The signs of two vectors of elements of 2 bytes, one after the other.
template <class V>
SIMGPU_INLINE u32 signs_of_two(V low, V high) {
#ifdef __AVX2__
  using Long = Vector<long long>;
  const auto packed = reinterpret_cast<Long>(__builtin_ia32_packsswb256(
      reinterpret_cast<Vector<short>>(low), reinterpret_cast<Vector<short>>(high)));
  const Long in_order = __builtin_shufflevector(packed, packed, 0, 2, 1, 3);
  return static_cast<u32>(__builtin_ia32_pmovmskb256(reinterpret_cast<Vector<char>>(in_order)));
#else
  return static_cast<u32>(__builtin_ia32_pmovmskb128(__builtin_ia32_packsswb128(
      reinterpret_cast<Vector<short>>(low), reinterpret_cast<Vector<short>>(high))));
#endif
}
#endif

/// f(a[lane], b[lane]), one bit a lane. It compares vectors too, element by element.
template <auto f, class T>
SIMGPU_INLINE u32 bits_of(const T* a, const T* b) {
#ifdef __SSE2__
  constexpr int bytes = sizeof(T), count = vector_bytes / bytes;
  const auto compared = [&](int lane) { return f(vector_at(a + lane), vector_at(b + lane)); };
  u32 bits = 0;
  if constexpr (bytes == 2) {
    for (int lane = 0; lane < warp_size; lane += 2 * count)
      bits |= signs_of_two(compared(lane), compared(lane + count)) << lane;
  } else {
    for (int lane = 0; lane < warp_size; lane += count)
      bits |= signs<bytes>(compared(lane)) << lane;
  }
  return bits;
#else
  return bits_where([&](int lane) { return f(a[lane], b[lane]); });
#endif
}

}  // namespace simgpu::SIMGPU_ISA
