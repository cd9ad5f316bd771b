/// \file
/// Runs of random numbers, compiled for each instruction set; what they are is in philox.h.
#pragma once

#include <cstdint>

namespace sinter::kernels {

/// Writes the elements [first, first + count) of the draw (seed, ordinal) to `out`.
template <class T>
using RandomFunction = void (*)(std::uint64_t seed, std::uint64_t ordinal, std::int64_t first,
                                std::int64_t count, T* out);

struct RandomTiles {
  RandomFunction<float> uniform;
  RandomFunction<float> normal;
  RandomFunction<std::int64_t> bits;
};

/// Those of the instruction set in use.
const RandomTiles& random_tiles();

}  // namespace sinter::kernels
