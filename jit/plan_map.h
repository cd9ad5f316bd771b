/// \file
/// Plan: a map as one launch of generated kernels.
#pragma once

#include <vector>

#include "jit/map.h"
#include "jit/plan.h"

namespace sinter::jit {

/// Schedules a loop for each way in which positions are read. `wanted[r]`: whether result r is
/// read.
PlannedMap plan_map(const Trace& trace, const Primitives& primitives, Map map,
                    std::vector<bool> wanted);

}  // namespace sinter::jit
