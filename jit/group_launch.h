/// \file
/// The arguments of a group's kernel, from how its operands lie in memory.
#pragma once

#include <vector>

#include "jit/launch.h"
#include "jit/schedule.h"

namespace sinter::jit {

/// An operand of a group in memory: strides along the axes of the space, 0 where it has none.
struct LaidOperand {
  void* base = nullptr;
  Strides strides;
  std::int64_t index_stride = 0, index_extent = 0;  ///< of what is taken by an index
};

/// The strides along the axes of a space of a value of this shape, whose axes from `first` on lie
/// along `axes` of it.
Strides strides_in_space(const Shape& shape, const Strides& strides, const std::vector<int>& axes,
                         int space_axes, int first = 0);

/// Whether the columns can be walked as one axis by this operand, and as its kernel expects.
bool fits_columns(const ScheduledGroup& group, const Dims& space, std::size_t operand,
                  const Strides& strides);

/// The blocks of rows that a group sums its columns by.
std::int64_t row_blocks(const ScheduledGroup& group, const Dims& space);

/// Makes axes one that are neighbours in memory for all operands: those of the rows and, where
/// elements are walked one by one, the columns too.
void join_axes(std::vector<LaidOperand>& operands, Dims& sizes, int& rows, bool one_by_one);

/// One long row, or few long rows, where elements lie so.
Launch make_launch(const ScheduledGroup& group, const Dims& space,
                   const std::vector<LaidOperand>& operands,
                   std::vector<kernels::LoopNumber> numbers);

}  // namespace sinter::jit
