/// \file
/// The source of random draws.
#pragma once

#include <atomic>
#include <cstdint>

namespace sinter {

/// A stream of random draws: Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as
/// 1, 2, 3", 2011) keyed by (seed, ordinal), counter = element. Each op that draws takes the next
/// ordinal when it is recorded, so what is drawn depends on the program's order alone.
class Generator {
 public:
  explicit Generator(std::uint64_t seed = 0) : seed_(seed) {}
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  std::uint64_t seed() const { return seed_; }
  /// How many draws have been recorded; with the seed, the whole state.
  std::uint64_t ordinal() const { return ordinal_.load(std::memory_order_relaxed); }
  void set_state(std::uint64_t seed, std::uint64_t ordinal) {
    seed_ = seed;
    ordinal_.store(ordinal, std::memory_order_relaxed);
  }
  void reseed(std::uint64_t seed) { set_state(seed, 0); }

  /// Takes the next draw number.
  std::uint64_t take() { return ordinal_.fetch_add(1, std::memory_order_relaxed); }

 private:
  std::uint64_t seed_;
  std::atomic<std::uint64_t> ordinal_{0};
};

/// The generator ops use where none is given; seed 0 until reseeded.
Generator& default_generator();

}  // namespace sinter
