/// \file
/// The random numbers of the data sets: a function of (seed, index) and the number of the draw, the
/// same on every machine.
#pragma once

#include <cstdint>

namespace sinter::models {

/// One step of splitmix64 from the state `z` (Steele, Lea and Flood, "Fast splittable pseudorandom
/// number generators", 2014).
constexpr std::uint64_t mix64(std::uint64_t z) {
  z += 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

/// The seed of a run's dropout: first values are drawn with the run's own seed, and a mask must not
/// repeat their draws.
constexpr std::uint64_t dropout_seed(std::uint64_t run_seed) {
  return mix64(run_seed ^ 0x64726f706f757421);
}

/// The draws of sample `index` of the data set with this seed.
class Draws {
 public:
  constexpr Draws(std::uint64_t seed, std::uint64_t index) : state_(mix64(mix64(seed) + index)) {}

  constexpr std::uint64_t next() {
    const std::uint64_t value = mix64(state_);
    state_ += 0x9E3779B97F4A7C15;
    return value;
  }

  /// An integer in [0, n), for n of at most 2^32.
  constexpr std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(((next() >> 32) * static_cast<std::uint64_t>(n)) >> 32);
  }

 private:
  std::uint64_t state_;
};

/// Where `position` goes in a random order of [0, size): a permutation for each (seed, epoch),
/// found without a table, so that any worker can ask for any position of a set of any size.
std::int64_t shuffled_index(std::uint64_t seed, std::int64_t epoch, std::int64_t position,
                            std::int64_t size);

}  // namespace sinter::models
