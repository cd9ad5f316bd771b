#include "kernels/loop_host.h"

#include <algorithm>

#include "kernels/random_tiles.h"

namespace sinter::kernels {
namespace {

std::int64_t pieces_of_row(const LoopArguments& a) {
  return (a.columns + a.unit_columns - 1) / a.unit_columns;
}

}  // namespace

std::int64_t begin_unit(const LoopArguments& a, std::int64_t unit, LoopRow& row) {
  const std::int64_t pieces = pieces_of_row(a);
  const std::int64_t first_row = unit / pieces * a.unit_rows;
  const std::int64_t first_column = unit % pieces * a.unit_columns;
  std::int64_t rest = first_row;
  for (std::int64_t axis = a.axes - 1; axis >= 0; --axis) {
    row.index[axis] = rest % a.extents[axis];
    rest /= a.extents[axis];
  }
  for (std::int64_t k = 0; k < a.access_count; ++k) {
    const LoopAccess& access = a.accesses[k];
    row.offset[k] = access.origin + first_column * access.column_stride;
    if (access.sums_rows) row.offset[k] += unit / pieces * access.row_strides[0];
    for (std::int64_t axis = 0; axis < a.axes && !access.sums_rows; ++axis)
      row.offset[k] += row.index[axis] * access.row_strides[axis];
  }
  row.columns = std::min(a.unit_columns, a.columns - first_column);
  return std::min(a.unit_rows, a.rows - first_row);
}

void next_row(const LoopArguments& a, LoopRow& row) {
  for (std::int64_t axis = a.axes - 1; axis >= 0; --axis) {
    const bool more = ++row.index[axis] < a.extents[axis];
    const std::int64_t steps = more ? 1 : 1 - a.extents[axis];
    for (std::int64_t k = 0; k < a.access_count; ++k)
      if (!a.accesses[k].sums_rows) row.offset[k] += steps * a.accesses[k].row_strides[axis];
    if (more) return;
    row.index[axis] = 0;
  }
}

void draw_uniform(const LoopDraw& draw, std::int64_t first, std::int64_t stride, std::int64_t count,
                  float* out) {
  const auto seed = static_cast<std::uint64_t>(draw.seed);
  const auto ordinal = static_cast<std::uint64_t>(draw.ordinal);
  const RandomTiles& tiles = random_tiles();
  if (stride == 1) return tiles.uniform(seed, ordinal, first, count, out);
  for (std::int64_t i = 0; i < count; ++i)
    tiles.uniform(seed, ordinal, first + i * stride, 1, out + i);
}

std::int64_t unit_count(const LoopArguments& a) {
  if (a.rows == 0 || a.columns == 0) return 0;
  return (a.rows + a.unit_rows - 1) / a.unit_rows * pieces_of_row(a);
}

}  // namespace sinter::kernels
