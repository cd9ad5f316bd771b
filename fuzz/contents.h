/// \file
/// The elements of a leaf: given one by one, or drawn from a seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/dtype.h"

namespace sinter::fuzz {

struct Contents {
  double low = -2, high = 2;     ///< drawn in [low, high], whole numbers for integers
  std::uint64_t seed = 0;        ///< the same seed draws the same numbers
  std::uint32_t specials = 0;    ///< one element in so many is NaN, infinite, denormal, -0 or large
  std::vector<std::byte> given;  ///< the elements themselves, in order of memory; else drawn
};

/// The bytes of `count` elements in order of memory. `turn` draws others from the same seed; what
/// is given stays.
std::vector<std::byte> elements(const Contents& contents, DType dtype, std::size_t count,
                                std::uint64_t turn);

/// The same numbers as C++ text: functions that a printed program begins with.
extern const char* const drawing_text;

}  // namespace sinter::fuzz
