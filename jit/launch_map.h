/// \file
/// Launch: the generated kernels of a map, for all positions of its lists at once.
#pragma once

#include <span>
#include <vector>

#include "jit/observer.h"
#include "jit/plan.h"
#include "kernels/view.h"

namespace sinter::jit {

/// Runs the map. `inputs` are its operands, `outputs` the results that are wanted, one list after
/// the other: row-major without gaps, in memory of their own or in that of an operand at their
/// position of the same dtype and shape which is read at no other position.
void launch_map(const PlannedMap& map, std::span<const kernels::ConstView> inputs,
                std::span<const kernels::View> outputs,
                const std::vector<kernels::LoopNumber>& numbers, Observers observers = {});

}  // namespace sinter::jit
