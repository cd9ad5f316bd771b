/// \file
/// The logical vector of one: what a thread of a GPU works on. In the place of kernels/vector.h,
/// with the part of its interface that elementwise code uses; the outcome of a comparison is bool.
///
/// Integers wrap as there, so their arithmetic is that of unsigned ones.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/half.h"
#include "kernels/scalar.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {

inline constexpr int vector_size = 1;

template <class T>
struct Vec {
  using Element = T;

  T lane;

  Vec() = default;
  SINTER_INLINE Vec(T x) : lane(x) {}

  SINTER_INLINE static Vec load(const T* from) { return Vec(*from); }
  SINTER_INLINE void store(T* to) const { *to = lane; }
};

using VecF = Vec<float>;
using VecD = Vec<double>;
using VecI = Vec<std::int64_t>;
using VecI32 = Vec<std::int32_t>;

template <>
struct Wide<VecF> {
  using type = VecD;
};
template <class T>
struct BitsOf<Vec<T>> {
  using type = Vec<Bits<T>>;
};

/// `x` with the same type, for arguments that shall not take part in deduction.
template <class T>
struct Same {
  using type = T;
};
template <class T>
using Like = typename Same<T>::type;

/// In which arithmetic on T wraps or rounds.
template <class T>
struct Wrapping {
  using type = T;
};
template <>
struct Wrapping<std::int32_t> {
  using type = std::uint32_t;
};
template <>
struct Wrapping<std::int64_t> {
  using type = std::uint64_t;
};
template <class T>
SINTER_INLINE typename Wrapping<T>::type wrapping(T x) {
  return static_cast<typename Wrapping<T>::type>(x);
}

#define SINTER_OPERATOR(op)                                            \
  template <class T>                                                   \
  SINTER_INLINE Vec<T> operator op(const Vec<T>& a, const Vec<T>& b) { \
    return static_cast<T>(wrapping(a.lane) op wrapping(b.lane));       \
  }                                                                    \
  template <class T>                                                   \
  SINTER_INLINE Vec<T> operator op(const Vec<T>& a, Like<T> b) {       \
    return a op Vec<T>(b);                                             \
  }                                                                    \
  template <class T>                                                   \
  SINTER_INLINE Vec<T> operator op(Like<T> a, const Vec<T>& b) {       \
    return Vec<T>(a) op b;                                             \
  }
SINTER_OPERATOR(+)
SINTER_OPERATOR(-)
SINTER_OPERATOR(*)
SINTER_OPERATOR(&)
SINTER_OPERATOR(|)
SINTER_OPERATOR(^)
#undef SINTER_OPERATOR

/// IEEE division; there is no operator / of integers (see math_integer.h).
SINTER_INLINE VecF operator/(const VecF& a, const VecF& b) { return a.lane / b.lane; }
SINTER_INLINE VecD operator/(const VecD& a, const VecD& b) { return a.lane / b.lane; }

#define SINTER_COMPARE(op)                                           \
  template <class T>                                                 \
  SINTER_INLINE bool operator op(const Vec<T>& a, const Vec<T>& b) { \
    return a.lane op b.lane;                                         \
  }                                                                  \
  template <class T>                                                 \
  SINTER_INLINE bool operator op(const Vec<T>& a, Like<T> b) {       \
    return a.lane op b;                                              \
  }
SINTER_COMPARE(<)
SINTER_COMPARE(<=)
SINTER_COMPARE(>)
SINTER_COMPARE(>=)
SINTER_COMPARE(==)
SINTER_COMPARE(!=)
#undef SINTER_COMPARE

template <class T>
SINTER_INLINE Vec<T> operator-(const Vec<T>& a) {
  return static_cast<T>(-wrapping(a.lane));
}
template <class T>
SINTER_INLINE Vec<T> operator~(const Vec<T>& a) {
  return ~a.lane;
}
/// Shifts of integers by a count in 0..bits-1; to the right the sign is repeated.
template <class T>
SINTER_INLINE Vec<T> operator<<(const Vec<T>& a, int count) {
  return static_cast<T>(wrapping(a.lane) << count);
}
template <class T>
SINTER_INLINE Vec<T> operator>>(const Vec<T>& a, int count) {
  return a.lane >> count;
}

template <class T>
SINTER_INLINE Vec<T> select(bool mask, const Vec<T>& a, const Vec<Like<T>>& b) {
  return mask ? a.lane : b.lane;
}
template <class T>
SINTER_INLINE Vec<T> fma(const Vec<T>& a, const Vec<Like<T>>& b, const Vec<Like<T>>& c) {
  return fma(a.lane, b.lane, c.lane);
}
template <class T>
SINTER_INLINE Vec<T> copysign(const Vec<T>& x, const Vec<Like<T>>& sign) {
  return copysign(x.lane, sign.lane);
}
SINTER_INLINE VecF clamp(const VecF& x, const VecF& low, const VecF& high) {
  return clamp(x.lane, low.lane, high.lane);
}
SINTER_INLINE VecF scale(const VecF& x, const VecF& n) { return scale(x.lane, n.lane); }
template <class T>
SINTER_INLINE Vec<T> shift_right_logical(const Vec<T>& x, int count) {
  return shift_right_logical(x.lane, count);
}

#define SINTER_LANE(name)                      \
  template <class T>                           \
  SINTER_INLINE Vec<T> name(const Vec<T>& x) { \
    return name(x.lane);                       \
  }
SINTER_LANE(sqrt)
SINTER_LANE(floor)
SINTER_LANE(ceil)
SINTER_LANE(trunc)
SINTER_LANE(round)
SINTER_LANE(abs)
#undef SINTER_LANE

SINTER_INLINE VecI32 as_int(const VecF& x) { return as_int(x.lane); }
SINTER_INLINE VecI as_int(const VecD& x) { return as_int(x.lane); }
SINTER_INLINE VecF as_float(const VecI32& x) { return as_float(x.lane); }
SINTER_INLINE VecD as_float(const VecI& x) { return as_float(x.lane); }

/// Between element types, as in scalar.h.
template <class T>
SINTER_INLINE VecD to_f64(const Vec<T>& x) {
  return static_cast<double>(x.lane);
}
template <class T>
SINTER_INLINE VecF to_f32(const Vec<T>& x) {
  return static_cast<float>(x.lane);
}
template <class T>
SINTER_INLINE VecI to_i64(const Vec<T>& x) {
  return static_cast<std::int64_t>(x.lane);
}
SINTER_INLINE VecI32 to_i32(const VecI& x) {  // the low 32 bits
  return static_cast<std::int32_t>(x.lane);
}

template <class T, class F>
SINTER_INLINE Vec<T> map(F f, const Vec<T>& x) {
  return f(x.lane);
}
template <class T, class F>
SINTER_INLINE Vec<T> map(F f, const Vec<T>& x, const Vec<T>& y) {
  return f(x.lane, y.lane);
}

SINTER_INLINE VecI32 load_u8(const std::uint8_t* from) { return std::int32_t{*from}; }
SINTER_INLINE void store_u8(const VecI32& x, std::uint8_t* to) {
  *to = static_cast<std::uint8_t>(x.lane);
}
SINTER_INLINE VecF load_bf16(const std::uint16_t* from) { return from_bf16<VecF>(VecI32(*from)); }
SINTER_INLINE void store_bf16(const VecF& x, std::uint16_t* to) {
  *to = static_cast<std::uint16_t>(to_bf16(x).lane);
}
SINTER_INLINE VecF load_f16(const std::uint16_t* from) { return from_f16<VecF>(VecI32(*from)); }
SINTER_INLINE void store_f16(const VecF& x, std::uint16_t* to) {
  *to = static_cast<std::uint16_t>(to_f16(x).lane);
}

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
