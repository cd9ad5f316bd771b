#include "runtime/dtype.h"

#include <algorithm>
#include <bit>

namespace sinter {

std::string_view to_string(DType dtype) {
  constexpr std::string_view names[dtype_count] = {"bool", "u8",   "i32", "i64",
                                                   "f16",  "bf16", "f32", "f64"};
  return names[static_cast<int>(dtype)];
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  const auto [low, high] = std::minmax(a, b);
  // The enumerators are in order of promotion, but for the two 16-bit floats: neither holds the
  // other's values.
  if (low == DType::f16 && high == DType::bf16) return DType::f32;
  return high;
}

BFloat16::BFloat16(float value) {
  const auto u = std::bit_cast<std::uint32_t>(value);
  if ((u & 0x7fffffffu) > 0x7f800000u) {
    bits = static_cast<std::uint16_t>((u >> 16) | 0x40u);  // quiet, so that it stays a NaN
    return;
  }
  bits = static_cast<std::uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}

BFloat16::operator float() const {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

Half::Half(float value) {
  const auto u = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((u >> 16) & 0x8000u);
  const std::uint32_t magnitude = u & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    bits = static_cast<std::uint16_t>(sign | 0x7e00u);
  } else if (magnitude >= 0x477ff000u) {  // 65520 and above round to infinity
    bits = static_cast<std::uint16_t>(sign | 0x7c00u);
  } else if (magnitude >= 0x38800000u) {  // a normal number of f16
    const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
    bits = static_cast<std::uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
  } else if (magnitude <= 0x33000000u) {  // 2^-25 and below round to zero
    bits = sign;
  } else {  // a denormal of f16: a multiple of 2^-24
    const std::uint32_t shift = 126u - (magnitude >> 23);
    const std::uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    const std::uint32_t kept = mantissa >> shift, rest = mantissa & ((1u << shift) - 1u);
    const std::uint32_t half = 1u << (shift - 1u);
    const std::uint32_t up = rest > half || (rest == half && (kept & 1u)) ? 1u : 0u;
    bits = static_cast<std::uint16_t>(sign | (kept + up));
  }
}

Half::operator float() const {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 31u, mantissa = bits & 1023u;
  if (exponent == 31u) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0u)
    return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (mantissa << 13));
  const float value = static_cast<float>(mantissa) * 0x1p-24f;
  return sign ? -value : value;
}

}  // namespace sinter
