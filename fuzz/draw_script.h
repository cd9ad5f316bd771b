/// \file
/// Random programs: all ops that the public interface reaches, all dtypes, odd sizes and layouts.
#pragma once

#include <cstdint>

#include "fuzz/script.h"

namespace sinter::fuzz {

struct DrawOptions {
  int steps = 30;       ///< about how many steps follow the leaves
  bool faults = false;  ///< with indices out of range and divisions by zero now and then
  bool library = true;  ///< with matrix products and attention
  bool large = false;   ///< with rows and columns that are cut among threads
};

/// The same for the same seed and options.
Script draw_script(std::uint64_t seed, const DrawOptions& options);

/// The options that belong to a seed: most Scripts are small, some have faults.
DrawOptions options_for(std::uint64_t seed);

}  // namespace sinter::fuzz
