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
  std::uint64_t kernels_run = 0;  ///< a view that moves no data is none

  // Where the time of evaluation went, in nanoseconds.
  std::uint64_t linearise_ns = 0;  ///< from roots to canonical traces
  std::uint64_t match_ns = 0;      ///< finding the Program that fits
  std::uint64_t build_ns = 0;      ///< building Programs
  std::uint64_t execute_ns = 0;    ///< running kernels
  std::uint64_t commit_ns = 0;     ///< giving nodes their values, letting go of the graph
};

/// The counts of this process.
EvaluationStatistics evaluation_statistics();

/// Forgets every Program, so that the next evaluation builds its own. The counts go on.
void reset_programs();

}  // namespace sinter
