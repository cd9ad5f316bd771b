/// \file
/// Launch: the sums of a list of tensors.
#pragma once

#include <span>

#include "jit/observer.h"
#include "jit/plan.h"
#include "kernels/view.h"

namespace sinter::jit {

/// Writes one element of `output`, which has no gaps, for each of the tensors: the sums of blocks
/// of all tensors are one launch, and what becomes of them another.
void launch_fold(const PlannedFold& fold, std::span<const kernels::ConstView> tensors,
                 const kernels::View& output, Observers observers = {});

}  // namespace sinter::jit
