#include "models/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sinter::models {

double CosineSchedule::rate(std::int64_t step) const {
  if (step <= warmup_steps && warmup_steps > 0)
    return peak * static_cast<double>(step) / static_cast<double>(warmup_steps);
  const double length = static_cast<double>(std::max<std::int64_t>(total_steps - warmup_steps, 1));
  const double done = std::min(static_cast<double>(step - warmup_steps) / length, 1.0);
  return floor + (peak - floor) * 0.5 * (1.0 + std::cos(std::numbers::pi * done));
}

}  // namespace sinter::models
