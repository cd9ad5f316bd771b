/// \file
/// Philox (philox.h) for the vector of one. In the place of kernels/philox_vector.h.
#pragma once

#include "kernels/philox.h"
#include "kernels/vector.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {

/// The element at `position` of a draw. The word is selected, for an index that is no constant
/// would put the block into memory.
SINTER_INLINE VecF random_uniform(std::uint64_t seed, std::uint64_t ordinal, const VecI& position) {
  const auto place = static_cast<std::uint64_t>(position.lane);
  const auto block = philox(seed, ordinal, place >> 2);
  const std::uint32_t first = (place & 1) == 0 ? block.word[0] : block.word[1];
  const std::uint32_t second = (place & 1) == 0 ? block.word[2] : block.word[3];
  return philox_uniform((place & 2) == 0 ? first : second);
}

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
