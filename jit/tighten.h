/// \file
/// Tighten: a loop without work that its columns need not do. It runs on every loop that is built.
#pragma once

#include "jit/loop.h"

namespace sinter::jit {

/// The loop with the same results. What is the same for all columns of a row is made once for the
/// row; what is made twice from the same values in one place is made once; a column's number that
/// is compared with a value of the row becomes a `match`; values that nothing reads are dropped.
/// The accesses and numbers stay as they are.
Loop tighten(const Loop& loop);

}  // namespace sinter::jit
