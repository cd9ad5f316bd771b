#include "jit/group_launch.h"

#include <algorithm>

namespace sinter::jit {
namespace {

/// Axes that are walked as one: axis i is followed by i + 1 in memory.
bool are_neighbours(const std::vector<LaidOperand>& operands, const Dims& sizes, int i) {
  return std::all_of(operands.begin(), operands.end(), [&](const LaidOperand& operand) {
    return operand.strides[i] == operand.strides[i + 1] * sizes[i + 1];
  });
}

/// Makes axes i and i + 1 one.
void merge_axes(std::vector<LaidOperand>& operands, Dims& sizes, int i) {
  const auto drop = [&](Dims& values) {
    Dims rest;
    for (int axis = 0; axis < values.rank(); ++axis)
      if (axis != i) rest.push_back(values[axis]);
    values = rest;
  };
  sizes[i + 1] *= sizes[i];
  drop(sizes);
  for (LaidOperand& operand : operands) drop(operand.strides);
}

}  // namespace

std::int64_t row_blocks(const ScheduledGroup& group, const Dims& space) {
  Shape rows;
  for (int axis = 0; axis < group.rows; ++axis) rows.push_back(space[axis]);
  return row_block_count(rows);
}

void join_axes(std::vector<LaidOperand>& operands, Dims& sizes, int& rows, bool one_by_one) {
  while (one_by_one && rows > 0 && rows < sizes.rank() && are_neighbours(operands, sizes, rows - 1))
    merge_axes(operands, sizes, --rows);
  for (int axis = rows - 2; axis >= 0; --axis) {
    if (!are_neighbours(operands, sizes, axis)) continue;
    merge_axes(operands, sizes, axis);
    --rows;
  }
}

Strides strides_in_space(const Shape& shape, const Strides& strides, const std::vector<int>& axes,
                         int space_axes, int first) {
  Strides in_space = Strides::filled(space_axes, 0);
  std::size_t wide = 0;
  for (int axis = first; axis < shape.rank(); ++axis)
    if (shape[axis] != 1) in_space[axes[wide++]] = strides[axis];
  return in_space;
}

bool fits_columns(const ScheduledGroup& group, const Dims& space, std::size_t operand,
                  const Strides& strides) {
  for (int axis = group.rows; axis + 1 < group.axes; ++axis)
    if (strides[axis] != strides[axis + 1] * space[axis + 1]) return false;
  const bool in_columns =
      std::any_of(group.operands[operand].axes.begin(), group.operands[operand].axes.end(),
                  [&](int axis) { return axis >= group.rows; });
  return !in_columns || group.loop.accesses[operand].columns == Columns::strided ||
         strides[group.axes - 1] == 1;
}

Launch make_launch(const ScheduledGroup& group, const Dims& space,
                   const std::vector<LaidOperand>& operands,
                   std::vector<kernels::LoopNumber> numbers) {
  std::vector<LaidOperand> laid = operands;
  Dims sizes = space;
  int rows = group.rows;
  while (sizes.rank() > rows + 1) merge_axes(laid, sizes, rows);
  const std::int64_t picked_columns = sizes.rank() > rows ? sizes[rows] : 1;
  join_axes(laid, sizes, rows, !group.loop.whole_rows() && !group.loop.adds_rows());
  Launch launch;
  for (int axis = 0; axis < rows; ++axis) launch.rows.push_back(sizes[axis]);
  launch.columns = rows < sizes.rank() ? sizes[rows] : 1;
  for (std::size_t k = 0; k < laid.size(); ++k) {
    kernels::LoopAccess access =
        access_to(laid[k].base, rows < sizes.rank() ? laid[k].strides[rows] : 0);
    for (int axis = 0; axis < rows; ++axis) access.row_strides[axis] = laid[k].strides[axis];
    const bool taken = group.operands[k].taken;
    access.index_stride = taken ? laid[k].index_stride : access.column_stride;
    access.index_extent = taken ? laid[k].index_extent : picked_columns;
    if (group.operands[k].kind == LoopOperand::Kind::block_sums) {
      access.sums_rows = true;
      access.row_strides[0] = launch.columns;
    }
    launch.accesses.push_back(access);
  }
  launch.numbers = std::move(numbers);
  return launch;
}

}  // namespace sinter::jit
