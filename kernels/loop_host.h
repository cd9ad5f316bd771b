/// \file
/// What generated kernels on the CPU call: the functions that LoopHost points to.
#pragma once

#include "kernels/loop_arguments.h"

namespace sinter::kernels {

/// As LoopHost documents them.
std::int64_t begin_unit(const LoopArguments& arguments, std::int64_t unit, LoopRow& row);
void next_row(const LoopArguments& arguments, LoopRow& row);

void draw_uniform(const LoopDraw& draw, std::int64_t first, std::int64_t stride, std::int64_t count,
                  float* out);

/// Units a launch has: blocks of rows by pieces of the columns.
std::int64_t unit_count(const LoopArguments& arguments);

}  // namespace sinter::kernels
