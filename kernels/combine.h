/// \file
/// The ways in which the elements of a reduction become one. Of amax and amin, NaN wins. Only for
/// files compiled for each instruction set.
#pragma once

#include "kernels/math.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {

// Each way to combine, with the element that changes nothing, which lanes without an element hold
// (for sums of floats that is -0, as -0 + 0 is 0), and the result of no elements at all.

struct Sum {
  static constexpr bool has_quick = false;
  template <class V>
  SINTER_INLINE static V of(const V& a, const V& b) {
    return a + b;
  }
  template <class C>
  static constexpr C neutral = static_cast<C>(-0.0);
  template <class C>
  static constexpr C identity = 0;
};
struct Prod {
  static constexpr bool has_quick = false;
  template <class V>
  SINTER_INLINE static V of(const V& a, const V& b) {
    return a * b;
  }
  template <class C>
  static constexpr C neutral = 1;
  template <class C>
  static constexpr C identity = 1;
};
// Of floats that are not NaN. Of two zeros the first.
struct Larger {
  template <class V>
  SINTER_INLINE static V of(const V& a, const V& b) {
    return larger(a, b);
  }
};
struct Smaller {
  template <class V>
  SINTER_INLINE static V of(const V& a, const V& b) {
    return smaller(a, b);
  }
};
struct BothSet {
  template <class V>
  SINTER_INLINE static V of(const V& a, const V& b) {
    return a & b;
  }
};
struct EitherSet {
  template <class V>
  SINTER_INLINE static V of(const V& a, const V& b) {
    return a | b;
  }
};
struct Amax {
  static constexpr bool has_quick = true;
  using Quick = Larger;
  using Zeros = BothSet;  // of bits: -0 if all are
  template <class V>
  SINTER_INLINE static V of(const V& a, const V& b) {
    return m::maximum(a, b);
  }
  template <class C>
  static constexpr C neutral = static_cast<C>(-__builtin_inf());
  template <class C>
  static constexpr C identity = neutral<C>;
};
template <>
constexpr std::int64_t Amax::neutral<std::int64_t> = -0x7fffffffffffffff - 1;
struct Amin {
  static constexpr bool has_quick = true;
  using Quick = Smaller;
  using Zeros = EitherSet;
  template <class V>
  SINTER_INLINE static V of(const V& a, const V& b) {
    return m::minimum(a, b);
  }
  template <class C>
  static constexpr C neutral = static_cast<C>(__builtin_inf());
  template <class C>
  static constexpr C identity = neutral<C>;
};
template <>
constexpr std::int64_t Amin::neutral<std::int64_t> = 0x7fffffffffffffff;

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
