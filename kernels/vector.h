/// \file
/// The logical vector of sixteen: one AVX-512 register, two AVX2 ones or portable code, for the
/// same results on every machine. Lane i is element i.
///
/// Operators +, -, *, / on floats round once each (IEEE 754); integers wrap. Comparisons give a
/// `Mask`; NaN compares false, except with `!=`. Loads and stores need no alignment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/register.h"
#include "kernels/scalar.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {

inline constexpr int vector_size = 16;

/// Sixteen elements of T: float, double, std::int32_t or std::int64_t.
template <class T>
struct Vec {
  using Element = T;
  using Register = typename RegisterOf<T>::type;
  static constexpr int lanes = register_bytes / static_cast<int>(sizeof(T));  // of one register
  static constexpr int parts = vector_size / lanes;

  Register part[parts];

  Vec() = default;
  SINTER_INLINE Vec(const Vec& other) { copy(other, Parts()); }
  SINTER_INLINE Vec& operator=(const Vec& other) {  // NOLINT(bugprone-unhandled-self-assignment)
    copy(other, Parts());
    return *this;
  }
  /// All lanes x.
  SINTER_INLINE Vec(T x) { fill(splat(x, std::make_integer_sequence<int, lanes>()), Parts()); }

  SINTER_INLINE static Vec load(const T* from) { return load(from, Parts()); }
  SINTER_INLINE void store(T* to) const { store(to, Parts()); }

  /// The first n (0..16) from memory, `fill` in the other lanes; reads nothing else.
  SINTER_INLINE static Vec load_partial(const T* from, std::ptrdiff_t n, T fill) {
    T buffer[vector_size];
    for (std::ptrdiff_t i = 0; i < vector_size; ++i) buffer[i] = i < n ? from[i] : fill;
    return load(buffer);
  }
  SINTER_INLINE void store_partial(T* to, std::ptrdiff_t n) const {
    T buffer[vector_size];
    store(buffer);
    for (std::ptrdiff_t i = 0; i < n; ++i) to[i] = buffer[i];
  }

  /// 0, 1, 2, ... 15.
  SINTER_INLINE static Vec iota() {
    T buffer[vector_size];
    for (int i = 0; i < vector_size; ++i) buffer[i] = static_cast<T>(i);
    return load(buffer);
  }

 private:
  using Parts = std::make_integer_sequence<int, parts>;

  // Register by register: the compiler keeps an array that is copied as a whole in memory.
  template <int... I>
  SINTER_INLINE static Vec load(const T* from, std::integer_sequence<int, I...>) {
    Vec v;
    (__builtin_memcpy(&v.part[I], from + I * lanes, sizeof(Register)), ...);
    return v;
  }
  template <int... I>
  SINTER_INLINE void store(T* to, std::integer_sequence<int, I...>) const {
    (__builtin_memcpy(to + I * lanes, &part[I], sizeof(Register)), ...);
  }
  template <int... I>
  SINTER_INLINE void copy(const Vec& other, std::integer_sequence<int, I...>) {
    ((part[I] = other.part[I]), ...);
  }
  template <int... I>
  SINTER_INLINE void fill(Register all, std::integer_sequence<int, I...>) {
    ((part[I] = all), ...);
  }
  template <int... I>
  SINTER_INLINE static Register splat(T x, std::integer_sequence<int, I...>) {
    return Register{(static_cast<void>(I), x)...};
  }
};

/// The outcome of a comparison of two vectors of T; those of float and int32, and those of double
/// and int64, are one type.
template <int bytes>
struct Mask;
template <>
struct Mask<4> {
  static constexpr int parts = Vec<float>::parts;
  Mask4 part[parts];
};
template <>
struct Mask<8> {
  static constexpr int parts = Vec<double>::parts;
  Mask8 part[parts];
};
template <class T>
using MaskOf = Mask<static_cast<int>(sizeof(T))>;

using VecF = Vec<float>;
using VecD = Vec<double>;
using VecI = Vec<std::int64_t>;
using VecI32 = Vec<std::int32_t>;

template <class R, class F, int... I>
SINTER_INLINE R build(F f, std::integer_sequence<int, I...>) {
  R r;
  ((r.part[I] = f(I)), ...);
  return r;
}

/// An R whose register i is f of the i-th registers of a...
template <class R, class F, class... A>
SINTER_INLINE R by_register(F f, const A&... a) {
  return build<R>(
      [&](int i) __attribute__((always_inline)) { return f(a.part[i]...); },
      std::make_integer_sequence<int, R::parts>());
}

/// `x` with the same type, for arguments that shall not take part in deduction.
template <class T>
struct Same {
  using type = T;
};
template <class T>
using Like = typename Same<T>::type;

#define SINTER_EACH(...) \
  [](auto... r) __attribute__((always_inline)) { return __VA_ARGS__; }

#define SINTER_OPERATOR(op)                                                          \
  template <class T>                                                                 \
  SINTER_INLINE Vec<T> operator op(const Vec<T>& a, const Vec<T>& b) {               \
    return by_register<Vec<T>>(                                                      \
        [](auto x, auto y) __attribute__((always_inline)) { return x op y; }, a, b); \
  }                                                                                  \
  template <class T>                                                                 \
  SINTER_INLINE Vec<T> operator op(const Vec<T>& a, Like<T> b) {                     \
    return a op Vec<T>(b);                                                           \
  }                                                                                  \
  template <class T>                                                                 \
  SINTER_INLINE Vec<T> operator op(Like<T> a, const Vec<T>& b) {                     \
    return Vec<T>(a) op b;                                                           \
  }
SINTER_OPERATOR(+)
SINTER_OPERATOR(-)
SINTER_OPERATOR(*)
SINTER_OPERATOR(&)
SINTER_OPERATOR(|)
SINTER_OPERATOR(^)
#undef SINTER_OPERATOR

/// IEEE division; there is no operator / of integer vectors (see math_integer.h).
SINTER_INLINE VecF operator/(const VecF& a, const VecF& b) {
  return by_register<VecF>([](F32Reg x, F32Reg y) { return x / y; }, a, b);
}
SINTER_INLINE VecD operator/(const VecD& a, const VecD& b) {
  return by_register<VecD>([](F64Reg x, F64Reg y) { return x / y; }, a, b);
}

template <class T>
SINTER_INLINE Vec<T> operator-(const Vec<T>& a) {
  return by_register<Vec<T>>(
      [](auto x) __attribute__((always_inline)) { return -x; }, a);
}
template <class T>
SINTER_INLINE Vec<T> operator~(const Vec<T>& a) {
  return by_register<Vec<T>>(
      [](auto x) __attribute__((always_inline)) { return ~x; }, a);
}
/// Shifts of integers by a count in 0..bits-1; to the right the sign is repeated.
template <class T>
SINTER_INLINE Vec<T> operator<<(const Vec<T>& a, int count) {
  return by_register<Vec<T>>(
      [=](auto x) __attribute__((always_inline)) { return x << count; }, a);
}
template <class T>
SINTER_INLINE Vec<T> operator>>(const Vec<T>& a, int count) {
  return by_register<Vec<T>>(
      [=](auto x) __attribute__((always_inline)) { return x >> count; }, a);
}
SINTER_INLINE VecI32 shift_right_logical(const VecI32& a, int count) {
  return by_register<VecI32>(
      [=](I32Reg x) __attribute__((always_inline)) {
        return reinterpret_cast<I32Reg>(reinterpret_cast<U32Reg>(x) >>
                                        static_cast<unsigned>(count));
      },
      a);
}
SINTER_INLINE VecI shift_right_logical(const VecI& a, int count) {
  return by_register<VecI>(
      [=](I64Reg x) __attribute__((always_inline)) {
        return reinterpret_cast<I64Reg>(reinterpret_cast<U64Reg>(x) >>
                                        static_cast<unsigned>(count));
      },
      a);
}

#define SINTER_COMPARE(op, name, first, second)                            \
  template <class T>                                                       \
  SINTER_INLINE MaskOf<T> operator op(const Vec<T>& a, const Vec<T>& b) {  \
    return by_register<MaskOf<T>>(SINTER_EACH(name(r...)), first, second); \
  }                                                                        \
  template <class T>                                                       \
  SINTER_INLINE MaskOf<T> operator op(const Vec<T>& a, Like<T> b) {        \
    return a op Vec<T>(b);                                                 \
  }
SINTER_COMPARE(<, reg_less, a, b)
SINTER_COMPARE(<=, reg_less_equal, a, b)
SINTER_COMPARE(>, reg_less, b, a)
SINTER_COMPARE(>=, reg_less_equal, b, a)
SINTER_COMPARE(==, reg_equal, a, b)
#undef SINTER_COMPARE

template <int bytes>
SINTER_INLINE Mask<bytes> both(const Mask<bytes>& a, const Mask<bytes>& b) {
  return by_register<Mask<bytes>>(SINTER_EACH(reg_and(r...)), a, b);
}
template <int bytes>
SINTER_INLINE Mask<bytes> either(const Mask<bytes>& a, const Mask<bytes>& b) {
  return by_register<Mask<bytes>>(SINTER_EACH(reg_or(r...)), a, b);
}
template <int bytes>
SINTER_INLINE Mask<bytes> operator!(const Mask<bytes>& a) {
  return by_register<Mask<bytes>>(SINTER_EACH(reg_not(r...)), a);
}
template <class T>
SINTER_INLINE MaskOf<T> operator!=(const Vec<T>& a, const Vec<T>& b) {
  return !(a == b);
}
template <class T>
SINTER_INLINE MaskOf<T> operator!=(const Vec<T>& a, Like<T> b) {
  return !(a == Vec<T>(b));
}
template <int bytes>
SINTER_INLINE bool any(const Mask<bytes>& mask) {
  bool found = false;
  for (auto part : mask.part) found |= reg_any(part);
  return found;
}

/// Lane by lane a where the mask is set, else b.
template <class T>
SINTER_INLINE Vec<T> select(const MaskOf<T>& mask, const Vec<T>& a, const Vec<Like<T>>& b) {
  return by_register<Vec<T>>(SINTER_EACH(reg_select(r...)), mask, a, b);
}

#if defined SINTER_AVX512
template <class T>
SINTER_INLINE Vec<T> settled(const Vec<T>& x) {
  return by_register<Vec<T>>(SINTER_EACH(reg_settled(r...)), x);
}
#endif

template <class T>
SINTER_INLINE Vec<T> fma(const Vec<T>& a, const Vec<Like<T>>& b, const Vec<Like<T>>& c) {
  return by_register<Vec<T>>(SINTER_EACH(reg_fma(r...)), a, b, c);
}
#define SINTER_UNARY(name)                                        \
  template <class T>                                              \
  SINTER_INLINE Vec<T> name(const Vec<T>& x) {                    \
    return by_register<Vec<T>>(SINTER_EACH(reg_##name(r...)), x); \
  }
SINTER_UNARY(sqrt)
SINTER_UNARY(floor)
SINTER_UNARY(ceil)
SINTER_UNARY(trunc)
SINTER_UNARY(round)
#undef SINTER_UNARY

/// Lane by lane b where a < b, else a: a where one is NaN.
template <class T>
SINTER_INLINE Vec<T> larger(const Vec<T>& a, const Vec<T>& b) {
  return by_register<Vec<T>>(SINTER_EACH(reg_max(r...)), b, a);
}
/// b where b < a, else a.
template <class T>
SINTER_INLINE Vec<T> smaller(const Vec<T>& a, const Vec<T>& b) {
  return by_register<Vec<T>>(SINTER_EACH(reg_min(r...)), b, a);
}
SINTER_INLINE VecF clamp(const VecF& x, const VecF& low, const VecF& high) {
  return by_register<VecF>(SINTER_EACH(reg_clamp(r...)), x, low, high);
}
SINTER_INLINE VecF scale(const VecF& x, const VecF& n) {
  return by_register<VecF>(SINTER_EACH(reg_scale(r...)), x, n);
}

}  // namespace SINTER_ISA
}  // namespace sinter::kernels

#include "kernels/vector_convert.h"  // NOLINT: the second half of this file
