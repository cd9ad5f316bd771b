/// \file
/// Elements in order.
#pragma once

#include "kernels/view.h"

namespace sinter::kernels {

/// The first elements along `axis` in ascending or descending order, as many as `values` has there:
/// all of them for a sort. Of equal elements the one in front comes first; NaN is larger than
/// everything; zeros are equal whatever their sign. `values` and `positions` (i64) are row-major
/// without gaps.
void sort(const ConstView& in, int axis, bool descending, const View& values,
          const View& positions);

}  // namespace sinter::kernels
