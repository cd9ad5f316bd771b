/// \file
/// From compares of lanes to the bits of a predicate. It is done by vectors as long as the host's
/// registers, since the instructions that gather the signs of a vector's elements are what loops
/// over lanes do not become.
#pragma once

#include "tools/simgpu/lanes/apply.h"

namespace simgpu {
namespace SIMGPU_ISA {
namespace {

#ifdef __AVX512BW__
inline constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
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
/// The signs of elements of `bytes`, one bit each; of 2 bytes only where a mask register takes
/// them.
template <int bytes, class V>
SIMGPU_INLINE u32 signs(V v) {
#ifdef __AVX512BW__
  if constexpr (bytes == 2) return __builtin_ia32_cvtw2mask512(reinterpret_cast<Vector<short>>(v));
  if constexpr (bytes == 4) return __builtin_ia32_cvtd2mask512(reinterpret_cast<Vector<int>>(v));
  if constexpr (bytes == 8)
    return __builtin_ia32_cvtq2mask512(reinterpret_cast<Vector<long long>>(v));
#elif defined(__AVX2__)
  if constexpr (bytes == 4)
    return static_cast<u32>(__builtin_ia32_movmskps256(reinterpret_cast<Vector<float>>(v)));
  if constexpr (bytes == 8)
    return static_cast<u32>(__builtin_ia32_movmskpd256(reinterpret_cast<Vector<double>>(v)));
#else
  if constexpr (bytes == 4)
    return static_cast<u32>(__builtin_ia32_movmskps(reinterpret_cast<Vector<float>>(v)));
  if constexpr (bytes == 8)
    return static_cast<u32>(__builtin_ia32_movmskpd(reinterpret_cast<Vector<double>>(v)));
#endif
}

#ifndef __AVX512BW__
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
#endif

/// F::of of a[lane] and b[lane], one bit a lane. F compares vectors too, element by element.
template <class F, class T>
SIMGPU_INLINE u32 bits_of(const T* a, const T* b) {
#ifdef __SSE2__
  constexpr int bytes = sizeof(T), count = vector_bytes / bytes;
  const auto compared = [&](int lane) { return F::of(vector_at(a + lane), vector_at(b + lane)); };
  u32 bits = 0;
  if constexpr (bytes == 2 && vector_bytes < 64) {
    for (int lane = 0; lane < warp_size; lane += 2 * count)
      bits |= signs_of_two(compared(lane), compared(lane + count)) << lane;
  } else {
    for (int lane = 0; lane < warp_size; lane += count)
      bits |= signs<bytes>(compared(lane)) << lane;
  }
  return bits;
#else
  return bits_where([&](int lane) { return F::of(a[lane], b[lane]); });
#endif
}

struct Equal {
  template <class T>
  static auto of(T a, T b) {
    return a == b;
  }
};
struct Unequal {
  template <class T>
  static auto of(T a, T b) {
    return a != b;
  }
};
struct Less {
  template <class T>
  static auto of(T a, T b) {
    return a < b;
  }
};
struct LessOrEqual {
  template <class T>
  static auto of(T a, T b) {
    return a <= b;
  }
};
struct Greater {
  template <class T>
  static auto of(T a, T b) {
    return a > b;
  }
};
struct GreaterOrEqual {
  template <class T>
  static auto of(T a, T b) {
    return a >= b;
  }
};

// What .BoolOp makes of a compare and a predicate, for 32 lanes at once.
struct And {
  static u32 of(u32 compared, u32 other) { return compared & other; }
};
struct Or {
  static u32 of(u32 compared, u32 other) { return compared | other; }
};
struct Xor {
  static u32 of(u32 compared, u32 other) { return compared ^ other; }
};

}  // namespace
}  // namespace SIMGPU_ISA
}  // namespace simgpu
