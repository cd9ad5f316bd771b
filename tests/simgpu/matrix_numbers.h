/// \file
/// Numbers that matrices of mma and wmma have, by their definition (PTX ISA 5.2.2 and 5.2.3), and
/// matrices spread over the lanes of a warp by the formulas of the text.
#pragma once

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "tests/simgpu/fragments_by_text.h"
#include "tests/simgpu/one_warp.h"

namespace simgpu {

struct NumberFormat {
  std::string_view name;
  int bits = 0;
  int exponent_bits = 0, mantissa_bits = 0;  ///< 0 for integers
  bool has_sign = true;
  bool has_infinity = true;
};

inline constexpr NumberFormat number_formats[] = {
    {"f16", 16, 5, 10},
    {"bf16", 16, 8, 7},
    {"tf32", 32, 8, 23},
    {"e4m3", 8, 4, 3, true, false},
    {"e5m2", 8, 5, 2},
    {"f32", 32, 8, 23},
    {"f64", 64, 11, 52},
    {"s8", 8},
    {"u8", 8, 0, 0, false},
    {"s4", 4},
    {"u4", 4, 0, 0, false},
    {"b1", 1, 0, 0, false},
    {"s32", 32},
};

inline const NumberFormat& number_format(std::string_view name) {
  for (const NumberFormat& format : number_formats)
    if (format.name == name) return format;
  FAIL("no number format ", name);
  return number_formats[0];
}

inline double decode(const NumberFormat& format, std::uint64_t word) {
  if (format.exponent_bits == 0) {
    const bool negative = format.has_sign && (word >> (format.bits - 1) & 1) != 0;
    const double value = static_cast<double>(word);
    return negative ? value - std::ldexp(1.0, format.bits) : value;
  }
  const std::uint64_t mantissa = word & ((std::uint64_t{1} << format.mantissa_bits) - 1);
  const std::uint64_t most = (std::uint64_t{1} << format.exponent_bits) - 1;
  const std::uint64_t exponent = word >> format.mantissa_bits & most;
  const double sign = (word >> (format.bits - 1) & 1) != 0 ? -1.0 : 1.0;
  const int bias = static_cast<int>(most >> 1);
  if (exponent == most && format.has_infinity)
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  if (!format.has_infinity && (word & 0x7f) == 0x7f)
    return std::numeric_limits<double>::quiet_NaN();
  const double fraction = std::ldexp(static_cast<double>(mantissa), -format.mantissa_bits);
  return exponent == 0 ? sign * std::ldexp(fraction, 1 - bias)
                       : sign * std::ldexp(1 + fraction, static_cast<int>(exponent) - bias);
}

/// The word of an integer that the format holds.
inline std::uint64_t encode_integer(const NumberFormat& format, int value) {
  if (format.exponent_bits == 0)
    return static_cast<std::uint64_t>(value) & (~std::uint64_t{0} >> (64 - format.bits));
  if (value == 0) return 0;
  const std::uint64_t magnitude = static_cast<std::uint64_t>(value < 0 ? -value : value);
  const int exponent = static_cast<int>(std::bit_width(magnitude)) - 1;
  const std::uint64_t bias = (std::uint64_t{1} << (format.exponent_bits - 1)) - 1;
  const std::uint64_t mantissa = (magnitude << format.mantissa_bits >> exponent) &
                                 ((std::uint64_t{1} << format.mantissa_bits) - 1);
  const std::uint64_t word =
      (bias + static_cast<std::uint64_t>(exponent)) << format.mantissa_bits | mantissa;
  REQUIRE(decode(format, word) == static_cast<double>(magnitude));
  return value < 0 ? word | std::uint64_t{1} << (format.bits - 1) : word;
}

/// Registers of a fragment, each element of which is value(lane, i): their offsets.
template <class Value>
std::vector<std::uint32_t> add_fragment(OneWarp& warp, int bits, int elements, Value value) {
  std::vector<std::uint32_t> offsets;
  const int in_register = bits >= 32 ? 1 : 32 / bits;
  for (int first = 0; first < elements; first += in_register) {
    if (bits == 64) {
      offsets.push_back(warp.add<std::uint64_t>([&](int lane) { return value(lane, first); }));
      continue;
    }
    offsets.push_back(warp.add<std::uint32_t>([&](int lane) {
      std::uint64_t word = 0;
      for (int n = 0; n < in_register; ++n) word |= value(lane, first + n) << (n * bits);
      return word;
    }));
  }
  return offsets;
}

/// Element i of a lane.
inline std::uint64_t fragment_element(OneWarp& warp, const std::vector<std::uint32_t>& offsets,
                                      int bits, int lane, int i) {
  if (bits == 64) return warp.at<std::uint64_t>(offsets[static_cast<std::size_t>(i)])[lane];
  const int in_register = 32 / bits;
  const std::uint32_t word =
      warp.at<std::uint32_t>(offsets[static_cast<std::size_t>(i / in_register)])[lane];
  return word >> (i % in_register * bits) & (~std::uint32_t{0} >> (32 - bits));
}

/// Words of matrices, one matrix after the other, row after row.
struct Matrices {
  int count = 1, rows = 0, columns = 0;
  std::vector<std::uint64_t> words;

  Matrices(int count_of, int rows_of, int columns_of)
      : count(count_of), rows(rows_of), columns(columns_of) {
    words.resize(static_cast<std::size_t>(count * rows * columns));
  }
  std::uint64_t& at(int matrix, int row, int column) {
    return words[static_cast<std::size_t>((matrix * rows + row) * columns + column)];
  }
  std::uint64_t at(int matrix, int row, int column) const {
    return words[static_cast<std::size_t>((matrix * rows + row) * columns + column)];
  }
  int elements_of_a_lane() const { return count * rows * columns / warp_size; }
};

}  // namespace simgpu
