/// \file
/// What evaluation has done so far, in numbers.
#pragma once

#include <cstdint>

namespace sinter {

struct EvaluationStatistics {
  std::uint64_t programs_built = 0;  ///< traces that no Program fitted
  std::uint64_t programs_found = 0;  ///< traces that found theirs
  std::uint64_t programs_held = 0;   ///< in the cache now
  std::uint64_t nodes_evaluated = 0;
};

/// The counts of this process.
EvaluationStatistics evaluation_statistics();

/// Forgets every Program, so that the next evaluation builds its own. The counts go on.
void reset_programs();

}  // namespace sinter
