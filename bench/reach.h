/// \file
/// How near generated kernels come to what the machine lets them reach.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sinter {

/// Rates are of the bytes that must move: each operand read once, each result written once. What a
/// kernel can reach is the lower of two: that of a copy of as many bytes by as many threads, and
/// its own rate on rows that stay in the threads' caches.
struct Reach {
  std::string name;
  double microseconds;
  double rate, copy_rate, cached_rate;  ///< GB/s

  double share() const { return rate / (copy_rate < cached_rate ? copy_rate : cached_rate); }
};

/// softmax, layer_norm, gelu, cross_entropy with its gradient and Adam, on `rows` rows of `width`
/// floats, at the level that is set; medians of `repeats` runs.
std::vector<Reach> measure_reach(std::int64_t rows, std::int64_t width, int repeats);

}  // namespace sinter
