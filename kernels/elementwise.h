/// \file
/// Elementwise kernels: the rows of ops.def over strided operands.
#pragma once

#include <span>

#include "kernels/fault.h"
#include "kernels/view.h"
#include "runtime/op.h"

namespace sinter::kernels {

/// out = op(inputs...). Every input has out's shape already (broadcast axes with stride 0) and any
/// dtype; the arithmetic is done in `compute` (f32, f64 or i64) and converted to out's dtype once.
/// Integer floor_divide, remainder and fmod by zero, and integers to a negative power, set the
/// fault and write 0.
/// `out` may be exactly the memory of an input with its dtype and strides.
void elementwise(Op op, DType compute, std::span<const ConstView> inputs, const View& out,
                 Fault& fault);

/// Conversion of elements, also between equal dtypes: a strided copy.
void copy(const ConstView& in, const View& out);

}  // namespace sinter::kernels
