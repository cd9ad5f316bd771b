/// \file
/// Simplify: what is computed twice is computed once.
#pragma once

#include "jit/decompose.h"

namespace sinter::jit {

/// Whoever reads a reduction that is the same as an earlier one reads that one. Elementwise values
/// stay: they are computed again wherever they are read, which costs less than their memory; that
/// they are the same is noted, for kernels that make both. Draws of random numbers are never the
/// same.
void simplify(const Trace& trace, Primitives& primitives);

}  // namespace sinter::jit
