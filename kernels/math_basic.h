/// \file
/// Arithmetic, rounding, comparison and logic that every element type has: float, double, int64 and
/// their vectors. Included by math.h.
///
/// Truth values are 1 and 0 of the operands' own type; any other value than 0 is true, NaN too.
#pragma once

#include "kernels/vector.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {
namespace m {

using kernels::abs;
using kernels::ceil;
using kernels::copysign;
using kernels::floor;
using kernels::fma;
using kernels::round;
using kernels::sqrt;
using kernels::trunc;

template <class V>
struct ElementOf {
  using type = V;
};
template <class T>
struct ElementOf<Vec<T>> {
  using type = T;
};
template <class V>
using Element = typename ElementOf<V>::type;
template <class V>
inline constexpr bool is_integer = Element<V>(0.5) == Element<V>(0);

/// x broadcast to V, converted from a constant that fits every type.
template <class V>
SINTER_INLINE V constant(int x) {
  return V(static_cast<Element<V>>(x));
}
template <class V, class M>
SINTER_INLINE V truth(const M& mask) {
  return select(mask, constant<V>(1), constant<V>(0));
}
template <class V>
SINTER_INLINE auto is_true(const V& x) {
  return x != constant<V>(0);
}

template <class V>
SINTER_INLINE V less(const V& a, const V& b) {
  return truth<V>(a < b);
}
template <class V>
SINTER_INLINE V less_equal(const V& a, const V& b) {
  return truth<V>(a <= b);
}
template <class V>
SINTER_INLINE V equal(const V& a, const V& b) {
  return truth<V>(a == b);
}
template <class V>
SINTER_INLINE V not_equal(const V& a, const V& b) {
  return truth<V>(a != b);
}
template <class V>
SINTER_INLINE V greater(const V& a, const V& b) {
  return truth<V>(b < a);
}
template <class V>
SINTER_INLINE V greater_equal(const V& a, const V& b) {
  return truth<V>(b <= a);
}

template <class V>
SINTER_INLINE V logical_and(const V& a, const V& b) {
  return truth<V>(both(is_true(a), is_true(b)));
}
template <class V>
SINTER_INLINE V logical_or(const V& a, const V& b) {
  return truth<V>(either(is_true(a), is_true(b)));
}
template <class V>
SINTER_INLINE V logical_xor(const V& a, const V& b) {
  return not_equal(truth<V>(is_true(a)), truth<V>(is_true(b)));
}
template <class V>
SINTER_INLINE V logical_not(const V& a) {
  return truth<V>(a == constant<V>(0));
}

/// a where c is not 0, else b; NaN counts as not 0.
template <class V>
SINTER_INLINE V where(const V& c, const V& a, const V& b) {
  return select(is_true(c), settled(a), settled(b));
}

/// The larger one; NaN if either is. Of zeros +0 is the larger, so that the order of the operands
/// does not matter. (`a < b ? b : a` loses one of the NaNs, and so does the machine's instruction.)
template <class V>
SINTER_INLINE V maximum(const V& a, const V& b) {
  const V larger = select(a < b, b, a);
  if constexpr (is_integer<V>) return larger;
  else
    return select(a == b, as_float(as_int(a) & as_int(b)),
                  select(either(a != a, b != b), a + b, larger));
}
template <class V>
SINTER_INLINE V minimum(const V& a, const V& b) {
  const V smaller = select(b < a, b, a);
  if constexpr (is_integer<V>) return smaller;
  else
    return select(a == b, as_float(as_int(a) | as_int(b)),
                  select(either(a != a, b != b), a + b, smaller));
}

/// 0 where x <= 0 (so also for -0), else x; NaN stays.
template <class V>
SINTER_INLINE V relu(const V& x) {
  return select(x <= constant<V>(0), constant<V>(0), x);
}
/// -1, 0 or 1; zeros and NaN as they are.
template <class V>
SINTER_INLINE V sign(const V& x) {
  const V negative = select(x < constant<V>(0), constant<V>(-1), x);
  return select(x > constant<V>(0), constant<V>(1), negative);
}
template <class V>
SINTER_INLINE V square(const V& x) {
  return x * x;
}

template <class V>
SINTER_INLINE V isnan(const V& x) {
  return truth<V>(x != x);
}
template <class V>
SINTER_INLINE V isfinite(const V& x) {
  return truth<V>(x - x == constant<V>(0));
}
template <class V>
SINTER_INLINE V isinf(const V& x) {
  return truth<V>(both(x == x, x - x != constant<V>(0)));
}

template <class V>
SINTER_INLINE V reciprocal(const V& x) {
  static_assert(!is_integer<V>, "the reciprocal of an integer is a float");
  return constant<V>(1) / x;
}

}  // namespace m
}  // namespace SINTER_ISA
}  // namespace sinter::kernels
