/// \file
/// Storage types, the type arithmetic is done in, and type promotion.
///
/// Promotion follows PyTorch's rules: tensors of one or more dimensions, tensors of none, and host
/// scalars are three priorities; a lower priority changes the result's dtype only when its category
/// (bool < integer < floating) is higher.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace sinter {

enum class DType : std::uint8_t { boolean, u8, i32, i64, f16, bf16, f32, f64 };

inline constexpr int dtype_count = 8;
inline constexpr DType boolean = DType::boolean, u8 = DType::u8, i32 = DType::i32, i64 = DType::i64,
                       f16 = DType::f16, bf16 = DType::bf16, f32 = DType::f32, f64 = DType::f64;

/// Bytes of one element.
constexpr std::size_t item_size(DType dtype) {
  constexpr std::size_t sizes[dtype_count] = {1, 1, 4, 8, 2, 2, 4, 8};
  return sizes[static_cast<int>(dtype)];
}

constexpr bool is_floating(DType dtype) { return dtype >= DType::f16; }
constexpr bool is_integral(DType dtype) { return dtype >= DType::u8 && dtype <= DType::i64; }

/// `f32`, `i64`, `bool` and so on.
std::string_view to_string(DType dtype);

/// The type arithmetic on `dtype` is done in: i64 for bool and integers, f32 for f16, bf16 and f32,
/// f64 for f64. Results are rounded (floating) or wrapped (integers) to the storage type.
constexpr DType compute_dtype(DType dtype) {
  if (!is_floating(dtype)) return DType::i64;
  return dtype == DType::f64 ? DType::f64 : DType::f32;
}

/// The smallest dtype both convert to, for operands of equal priority.
DType promote(DType a, DType b);

/// Storage of one f16 (IEEE binary16) or bf16 element. Conversions round to nearest even, keep NaN
/// a NaN and denormals exact, in integer code: no hardware mode changes them.
struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  explicit Half(float value);
  explicit operator float() const;
};

struct BFloat16 {
  std::uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value);
  explicit operator float() const;
};

/// The dtype of a C++ element type: `dtype_of<float>` is f32. `int` is i32, `long long` i64.
template <typename T>
inline constexpr DType dtype_of = [] {
  if constexpr (std::is_same_v<T, bool>) return DType::boolean;
  else if constexpr (std::is_same_v<T, std::uint8_t>) return DType::u8;
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T> && sizeof(T) == 4)
    return DType::i32;
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T> && sizeof(T) == 8)
    return DType::i64;
  else if constexpr (std::is_same_v<T, Half>) return DType::f16;
  else if constexpr (std::is_same_v<T, BFloat16>) return DType::bf16;
  else if constexpr (std::is_same_v<T, float>) return DType::f32;
  else {
    static_assert(std::is_same_v<T, double>, "no sinter dtype stores this C++ type");
    return DType::f64;
  }
}();

/// Calls `body(T{})` with the C++ type that stores `dtype`.
template <typename Body>
decltype(auto) with_storage_type(DType dtype, Body&& body) {
  switch (dtype) {
    case DType::boolean: return body(bool{});
    case DType::u8: return body(std::uint8_t{});
    case DType::i32: return body(std::int32_t{});
    case DType::i64: return body(std::int64_t{});
    case DType::f16: return body(Half{});
    case DType::bf16: return body(BFloat16{});
    case DType::f32: return body(float{});
    default: return body(double{});
  }
}

/// Calls `body(C{})` with the C++ type of `compute_dtype(dtype)`: float, double or std::int64_t.
template <typename Body>
decltype(auto) with_compute_type(DType dtype, Body&& body) {
  switch (compute_dtype(dtype)) {
    case DType::f32: return body(float{});
    case DType::f64: return body(double{});
    default: return body(std::int64_t{});
  }
}

}  // namespace sinter
