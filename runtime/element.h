/// \file
/// Single elements: how one is read from memory, and its value as another type.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "runtime/dtype.h"

namespace sinter {

template <typename T>
inline constexpr bool is_half = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

/// The value as another type, by the rules runtime/elementwise.h gives for `cast`.
template <typename To, typename From>
To converted(From x) {
  if constexpr (is_half<From>) {
    return converted<To>(static_cast<float>(x));
  } else if constexpr (is_half<To>) {
    return To(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From{};
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    constexpr To lowest = std::numeric_limits<To>::min();
    const double whole = std::trunc(static_cast<double>(x));
    const double end = std::ldexp(1.0, std::numeric_limits<To>::digits);
    return whole >= static_cast<double>(lowest) && whole < end ? static_cast<To>(whole) : lowest;
  } else {
    return static_cast<To>(x);
  }
}

/// The element of type T at `data[offset]`. A bool is any byte: the host's own memory may hold more
/// than 0 and 1.
template <typename T>
T element_at(const void* data, std::int64_t offset) {
  if constexpr (std::is_same_v<T, bool>) return static_cast<const std::uint8_t*>(data)[offset] != 0;
  else return static_cast<const T*>(data)[offset];
}

}  // namespace sinter
