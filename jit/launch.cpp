#include "jit/launch.h"

#include <algorithm>
#include <atomic>

#include "kernels/loop_walk.h"
#include "kernels/row_access.h"
#include "runtime/cpu/pool.h"
#include "runtime/error.h"

namespace sinter::jit {
namespace {

/// Elements that a unit should have: enough to hide its start, few enough to share the work.
constexpr std::int64_t unit_elements = 8192;
/// Columns in a piece of a long row; a multiple of the vector.
constexpr std::int64_t piece_columns = 8192;
/// The same where rows are summed.
constexpr std::int64_t summed_piece_columns = 1024;

void cut_into_units(const Loop& loop, kernels::LoopArguments& arguments) {
  const bool sums = loop.adds_rows();
  const std::int64_t columns = std::max<std::int64_t>(arguments.columns, 1);
  const std::int64_t piece = sums ? summed_piece_columns : piece_columns;
  arguments.unit_columns = loop.whole_rows() ? columns : std::min(columns, piece);
  arguments.unit_rows =
      sums ? summed_rows : std::max<std::int64_t>(1, unit_elements / arguments.unit_columns);
}

void refuse_index(const kernels::LoopArguments& arguments, std::int64_t, std::int64_t) {
  static_cast<std::atomic<bool>*>(arguments.host->faults)->store(true, std::memory_order_relaxed);
}

}  // namespace

static_assert(kernels::scratch_slots >= kernels::loop_max_row_buffers);

std::int64_t row_block_count(const Shape& rows) {
  return (element_count(rows) + summed_rows - 1) / summed_rows;
}

bool launch(const Loop& loop, kernels::LoopFunction function, const Launch& launch) {
  invariant(launch.accesses.size() == loop.accesses.size() &&
                launch.numbers.size() == loop.numbers.size() &&
                launch.rows.rank() <= kernels::loop_max_axes,
            "a launch that does not fit its loop");
  std::atomic<bool> refused{false};
  kernels::LoopHost host{};
  host.faults = &refused;
  host.refuse_index = refuse_index;
  host.begin_unit = kernels::begin_unit;
  host.next_row = kernels::next_row;
  host.scratch = kernels::scratch_bytes;
  kernels::LoopArguments arguments{};
  arguments.accesses = launch.accesses.data();
  arguments.numbers = launch.numbers.data();
  arguments.access_count = static_cast<std::int64_t>(launch.accesses.size());
  arguments.axes = launch.rows.rank();
  for (int axis = 0; axis < launch.rows.rank(); ++axis) arguments.extents[axis] = launch.rows[axis];
  arguments.rows = element_count(launch.rows);
  arguments.columns = launch.columns;
  arguments.host = &host;
  cut_into_units(loop, arguments);
  cpu::parallel_for(kernels::unit_count(arguments),
                    [&](std::int64_t unit) { function(&arguments, unit, unit + 1); });
  return !refused.load(std::memory_order_relaxed);
}

}  // namespace sinter::jit
