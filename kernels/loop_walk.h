/// \file
/// The walk of a generated kernel over its rows: the functions that LoopHost points to.
#pragma once

#include "kernels/loop_arguments.h"

namespace sinter::kernels {

/// As LoopHost documents them.
std::int64_t begin_unit(const LoopArguments& arguments, std::int64_t unit, LoopRow& row);
void next_row(const LoopArguments& arguments, LoopRow& row);

/// Units a launch has: blocks of rows by pieces of the columns.
std::int64_t unit_count(const LoopArguments& arguments);

}  // namespace sinter::kernels
