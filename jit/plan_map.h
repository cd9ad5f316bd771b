/// \file
/// Plan: a map as one launch of generated kernels.
#pragma once

#include <vector>

#include "jit/map.h"
#include "jit/plan.h"

namespace sinter::jit {

/// Schedules a loop for each way in which positions lie in memory; those without elements have
/// loop 0. `wanted[r]`: whether result r is read. The layouts are as schedule() takes them.
PlannedMap plan_map(const Trace& trace, const Primitives& primitives, Map map,
                    std::vector<bool> wanted, const std::vector<bool>& contiguous_leaf,
                    const std::vector<bool>& contiguous_step);

}  // namespace sinter::jit
