#include "models/draws.h"

#include <bit>

namespace sinter::models {
namespace {

constexpr int feistel_rounds = 6;

/// A permutation of the integers of 2 * half_bits bits (Luby and Rackoff 1988).
std::uint64_t feistel(std::uint64_t key, int half_bits, std::uint64_t value) {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
  std::uint64_t left = value >> half_bits, right = value & mask;
  for (int round = 0; round < feistel_rounds; ++round) {
    const std::uint64_t keyed = mix64(key + static_cast<std::uint64_t>(round));
    const std::uint64_t next = left ^ (mix64(keyed ^ right) & mask);
    left = right;
    right = next;
  }
  return left << half_bits | right;
}

}  // namespace

std::int64_t shuffled_index(std::uint64_t seed, std::int64_t epoch, std::int64_t position,
                            std::int64_t size) {
  const auto count = static_cast<std::uint64_t>(size);
  const int half_bits = (static_cast<int>(std::bit_width(count - 1)) + 1) / 2;
  const std::uint64_t key = Draws(seed, static_cast<std::uint64_t>(epoch)).next();
  // The permuted range is at most four times the set: follow the cycle until it is inside again.
  auto value = static_cast<std::uint64_t>(position);
  do value = feistel(key, half_bits, value);
  while (value >= count);
  return static_cast<std::int64_t>(value);
}

}  // namespace sinter::models
