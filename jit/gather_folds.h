/// \file
/// Gather: sums of whole tensors that go into one concatenation become a part of it.
#pragma once

#include "jit/decompose.h"

namespace sinter::jit {

/// Concatenations of what is computed from one sum each, in the same way, and read by nothing else,
/// read the tensors that are summed instead, if these are in memory that long anyway: so the norms
/// of all gradients are one launch. It runs before kernels are fused, as it must not hang on which
/// sums would be in one with something else.
void gather_folds(const Trace& trace, Primitives& primitives);

}  // namespace sinter::jit
