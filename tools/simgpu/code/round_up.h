/// \file
/// Counts of units, and sizes made multiples of them.
#pragma once

#include <cstdint>

namespace simgpu {

/// How many units hold the value.
constexpr std::uint64_t units_of(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit;
}
/// The least multiple of the unit that is not below the value.
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return units_of(value, unit) * unit;
}

}  // namespace simgpu
