/// \file
/// The handwritten digits inside the program; generated from `digits/digits.csv`.
#pragma once

#include <cstdint>

namespace sinter::models {

inline constexpr int digit_count = 1797;
inline constexpr int digit_side = 8;
inline constexpr int digit_values = digit_side * digit_side + 1;

/// For each image its 64 pixels from 0 to 16, row by row, then the digit it shows.
extern const std::uint8_t digit_table[digit_count][digit_values];

}  // namespace sinter::models
