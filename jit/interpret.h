/// \file
/// The meaning of every op: a slow and obvious evaluator. Every faster path is compared with it.
#pragma once

#include "jit/step.h"

namespace sinter::jit {

/// Computes the step element by element. Views copy like any other op.
///
/// Elementwise ops use the scalar forms of kernels/math.h (the exact class is the same bits on
/// every path); reductions add in the order that kernels/reduce.h documents, one element after
/// the other.
void interpret(const Step& step);

}  // namespace sinter::jit
