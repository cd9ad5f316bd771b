/// \file
/// Running sums.
#pragma once

#include "kernels/view.h"

namespace sinter::kernels {

/// out[.., i, ..] is the sum of elements 0 to i along `axis`, added in that order in the compute
/// type of `in`'s dtype; each element is rounded once. `out` is row-major without gaps, of `in`'s
/// dtype where floating, i64 for bool and integers.
void cumsum(const ConstView& in, int axis, const View& out);

}  // namespace sinter::kernels
