/// \file
/// Philox4x32-10, a counter-based random number generator (Salmon, Moraes, Dror, Shaw: "Parallel
/// Random Numbers: As Easy as 1, 2, 3", SC 2011), in the common subset of C++ and CUDA.
///
/// A draw is named by a seed and an ordinal. The key is the seed (low half, high half); block k of
/// the draw is the output of the counter (k low, k high, ordinal low, ordinal high), four words.
///   random_uniform  element e: word e % 4 of block e / 4, as (word >> 8) * 2^-24
///   random_normal   elements 4k and 4k + 1 from words 0 and 1 of block k, elements 4k + 2 and
///                   4k + 3 from words 2 and 3, by Box and Muller: with u = ((first word >> 8) + 1)
///                   * 2^-24, v = (second word >> 8) * 2^-24 and r = sqrt(-2 * log(u)) they are
///                   r * cos(t) and r * sin(t), t = 6.2831853 * v, in f32 with the functions of
///                   math.h
///   random_bits     element e: words 2 * (e % 2), the low half, and the one after it of block e /
///   2
#pragma once

#include <cstdint>

#include "kernels/math.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {

/// One block of four words; W is std::uint32_t or a vector of words, a block in each lane.
template <class W>
struct PhiloxBlock {
  W word[4];
};

SINTER_INLINE std::uint32_t philox_word(std::uint32_t value, const std::uint32_t*) { return value; }
/// The upper half of the product.
SINTER_INLINE std::uint32_t multiply_high(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(a) * b) >> 32);
}

/// Ten rounds on a counter. `philox_word` and `multiply_high` are found where W is declared.
template <class W>
SINTER_INLINE PhiloxBlock<W> philox_rounds(const PhiloxBlock<W>& counter, std::uint64_t seed) {
  const W* const kind = nullptr;
  const W first = philox_word(0xd2511f53u, kind), second = philox_word(0xcd9e8d57u, kind);
  auto key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
  W c0 = counter.word[0], c1 = counter.word[1], c2 = counter.word[2], c3 = counter.word[3];
  for (int round = 0; round < 10; ++round) {
    const W high0 = multiply_high(c0, first), high2 = multiply_high(c2, second);
    const W low0 = c0 * first, low2 = c2 * second;
    c0 = high2 ^ c1 ^ philox_word(key0, kind);
    c2 = high0 ^ c3 ^ philox_word(key1, kind);
    c1 = low2;
    c3 = low0;
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  return {{c0, c1, c2, c3}};
}

/// Block `block` of the draw (seed, ordinal).
SINTER_INLINE PhiloxBlock<std::uint32_t> philox(std::uint64_t seed, std::uint64_t ordinal,
                                                std::uint64_t block) {
  return philox_rounds<std::uint32_t>(
      {{static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
        static_cast<std::uint32_t>(ordinal), static_cast<std::uint32_t>(ordinal >> 32)}},
      seed);
}

/// A word as a number in [0, 1).
SINTER_INLINE float philox_uniform(std::uint32_t word) {
  return static_cast<float>(static_cast<std::int32_t>(word >> 8)) * 0x1p-24f;
}

// One element of a draw.

SINTER_INLINE float random_uniform(std::uint64_t seed, std::uint64_t ordinal,
                                   std::int64_t element) {
  const auto block = philox(seed, ordinal, static_cast<std::uint64_t>(element / 4));
  return philox_uniform(block.word[element % 4]);
}

SINTER_INLINE float random_normal(std::uint64_t seed, std::uint64_t ordinal, std::int64_t element) {
  const auto block = philox(seed, ordinal, static_cast<std::uint64_t>(element / 4));
  const std::uint32_t* const pair = block.word + element % 4 / 2 * 2;
  const float u = philox_uniform(pair[0]) + 0x1p-24f, v = philox_uniform(pair[1]);
  const float radius = m::sqrt(m::log(u) * -2.0f), angle = v * 6.2831853f;
  return radius * (element % 2 == 0 ? m::cos(angle) : m::sin(angle));
}

SINTER_INLINE std::int64_t random_bits(std::uint64_t seed, std::uint64_t ordinal,
                                       std::int64_t element) {
  const auto block = philox(seed, ordinal, static_cast<std::uint64_t>(element / 2));
  const std::uint32_t* const pair = block.word + element % 2 * 2;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(pair[1]) << 32 | pair[0]);
}

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
