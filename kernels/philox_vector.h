/// \file
/// Philox (philox.h) on vectors. Only for files compiled for each instruction set.
#pragma once

#include "kernels/philox.h"
#include "kernels/vector.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {

SINTER_INLINE VecI32 philox_word(std::uint32_t value, const VecI32*) {
  return VecI32(static_cast<std::int32_t>(value));
}

SINTER_INLINE VecI32 multiply_high(const VecI32& a, const VecI32& b) {
  return by_register<VecI32>(
      [](I32Reg x, I32Reg y) __attribute__((always_inline)) { return reg_multiply_high(x, y); }, a,
      b);
}

/// Words as numbers in [0, 1).
SINTER_INLINE VecF philox_uniform(const VecI32& word) {
  const VecF whole = by_register<VecF>(
      [](I32Reg r) __attribute__((always_inline)) { return __builtin_convertvector(r, F32Reg); },
      shift_right_logical(word, 8));
  return whole * 0x1p-24f;
}

/// The elements at `position` of a draw, which each lane works out for itself.
SINTER_INLINE VecF random_uniform(std::uint64_t seed, std::uint64_t ordinal, const VecI& position) {
  const VecI block = shift_right_logical(position, 2);
  const VecI32 low = to_i32(block), high = to_i32(shift_right_logical(block, 32));
  const VecI32 which = to_i32(position & 3);
  const VecI32* const kind = nullptr;
  const auto words =
      philox_rounds<VecI32>({{low, high, philox_word(static_cast<std::uint32_t>(ordinal), kind),
                              philox_word(static_cast<std::uint32_t>(ordinal >> 32), kind)}},
                            seed);
  const VecI32 first = select(which == 0, words.word[0], words.word[1]);
  const VecI32 second = select(which == 2, words.word[2], words.word[3]);
  return philox_uniform(select(which < VecI32(2), first, second));
}

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
