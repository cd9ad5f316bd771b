/// \file
/// Which primitives can be a part of a kernel with others.
#pragma once

#include "jit/decompose.h"

namespace sinter::jit {

/// Whether the primitive is elementwise, a draw, a reduction or a pick along the last axis, and has
/// elements.
bool may_join(const Trace& trace, const Primitives& primitives, PrimitiveId i);

/// Whether the op is a reduction to the value of an element.
bool is_fold(Op op);

}  // namespace sinter::jit
