/// \file
/// bf16 and f16 in integer code, for one float or a vector: the same bits on every machine.
#pragma once

#include "kernels/scalar.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {

/// The 16 bits of bf16 in a lane, as `BFloat16` of runtime/dtype.h converts: to nearest even, NaN
/// quiet, denormals kept (the hardware's instruction flushes them).
template <class V>
SINTER_INLINE V from_bf16(const Bits<V>& bits) {
  return as_float(bits << 16);
}
template <class V>
SINTER_INLINE Bits<V> to_bf16(const V& x) {
  const Bits<V> u = as_int(x);
  const Bits<V> rounded = shift_right_logical(u + ((shift_right_logical(u, 16) & 1) + 0x7fff), 16);
  return select(x != x, shift_right_logical(u, 16) | 0x40, rounded);
}

/// The same for f16, as `Half` of runtime/dtype.h.
template <class V>
SINTER_INLINE V from_f16(const Bits<V>& bits) {
  const Bits<V> sign = (bits & 0x8000) << 16, magnitude = (bits & 0x7fff) << 13;
  // The exponent moves from bias 15 to bias 127 by a multiplication, which is exact for denormals.
  const V value = as_float(magnitude) * V(0x1p112f);
  return as_float(
      select(magnitude >= Bits<V>(0x7c00 << 13), magnitude | 0x7f800000, as_int(value)) | sign);
}
template <class V>
SINTER_INLINE Bits<V> to_f16(const V& x) {
  const Bits<V> sign = shift_right_logical(as_int(x), 16) & 0x8000;
  const V a = abs(x);
  const Bits<V> m = as_int(a);
  const Bits<V> normal =
      shift_right_logical((m + ((shift_right_logical(m, 13) & 1) + 0xfff)) - 0x38000000, 13);
  // Adding 1/2 leaves the multiple of 2^-24, rounded to nearest even, in the low bits.
  const Bits<V> denormal = as_int(a + V(0.5f)) - 0x3f000000;
  const Bits<V> finite = select(a < V(0x1p-14f), denormal, normal);
  const Bits<V> large = select(x != x, Bits<V>(0x7e00), Bits<V>(0x7c00));
  return sign | select(a < V(65520.0f), finite, large);
}

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
