/// \file
/// The learning rate over the steps of a run.
#pragma once

#include <cstdint>

namespace sinter::models {

/// Warm-up in a straight line to `peak`, then half a cosine down to `floor` at the last step.
struct CosineSchedule {
  double peak = 1e-3;
  double floor = 0;
  std::int64_t warmup_steps = 0;
  std::int64_t total_steps = 1;

  /// For `step` counted from 1; beyond the last one it stays at `floor`.
  double rate(std::int64_t step) const;
};

}  // namespace sinter::models
