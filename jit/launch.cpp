#include "jit/launch.h"

#include <algorithm>
#include <atomic>

#include "kernels/loop_host.h"
#include "kernels/row_access.h"
#include "kernels/sum_blocks.h"
#include "runtime/cpu/pool.h"
#include "runtime/error.h"

namespace sinter::jit {
namespace {

/// Elements that a unit should have: enough to hide its start, few enough to share the work.
constexpr std::int64_t unit_elements = 4096;
/// Columns in a piece of a long row; a multiple of the vector.
constexpr std::int64_t piece_columns = 8192;
/// The same where rows are summed.
constexpr std::int64_t summed_piece_columns = 1024;
/// What starting a unit costs, in elements.
constexpr std::int64_t unit_start = 256;

void cut_into_units(const Loop& loop, kernels::LoopArguments& arguments) {
  const bool sums = loop.adds_rows();
  const std::int64_t columns = std::max<std::int64_t>(arguments.columns, 1);
  const std::int64_t piece = sums ? summed_piece_columns : piece_columns;
  arguments.unit_columns = loop.whole_rows() ? columns : std::min(columns, piece);
  const std::int64_t most_rows = std::max<std::int64_t>(1, unit_elements / arguments.unit_columns);
  const std::int64_t blocks =
      std::max<std::int64_t>(1, (arguments.rows + most_rows - 1) / most_rows);
  arguments.unit_rows =
      sums ? kernels::column_block : (arguments.rows + blocks - 1) / blocks;  // as many each
}

void refuse_index(const kernels::LoopArguments& arguments, std::int64_t, std::int64_t) {
  static_cast<std::atomic<bool>*>(arguments.host->faults)->store(true, std::memory_order_relaxed);
}

}  // namespace

static_assert(kernels::scratch_slots >= kernels::loop_max_row_buffers);

std::int64_t row_block_count(const Shape& rows) {
  return (element_count(rows) + kernels::column_block - 1) / kernels::column_block;
}

kernels::LoopAccess access_to(const void* base, std::int64_t column_stride,
                              std::int64_t row_stride) {
  kernels::LoopAccess access{};
  access.base = const_cast<void*>(base);
  access.column_stride = column_stride;
  access.row_strides[0] = row_stride;
  return access;
}

kernels::LoopArguments arguments_of(const Loop& loop, const Launch& launch) {
  invariant(launch.accesses.size() == loop.accesses.size() &&
                launch.numbers.size() == loop.numbers.size() &&
                launch.rows.rank() <= kernels::loop_max_axes,
            "a launch that does not fit its loop");
  kernels::LoopArguments arguments{};
  arguments.accesses = launch.accesses.data();
  arguments.numbers = launch.numbers.data();
  arguments.access_count = static_cast<std::int64_t>(launch.accesses.size());
  arguments.axes = launch.rows.rank();
  for (int axis = 0; axis < launch.rows.rank(); ++axis) arguments.extents[axis] = launch.rows[axis];
  arguments.rows = element_count(launch.rows);
  arguments.columns = launch.columns;
  cut_into_units(loop, arguments);
  return arguments;
}

namespace {

/// What all parts of a launch call.
class Host {
 public:
  Host() {
    host_.faults = &refused_;
    host_.refuse_index = refuse_index;
    host_.begin_unit = kernels::begin_unit;
    host_.next_row = kernels::next_row;
    host_.draw_uniform = kernels::draw_uniform;
    host_.scratch = kernels::scratch_bytes;
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  kernels::LoopArguments arguments(const Loop& loop, const Launch& launch) const {
    kernels::LoopArguments arguments = arguments_of(loop, launch);
    arguments.host = &host_;
    return arguments;
  }

  bool refused() const { return refused_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> refused_{false};
  kernels::LoopHost host_{};
};

/// Where a task begins; it ends where the next one begins.
struct TaskStart {
  std::size_t part;
  std::int64_t unit;
};

/// Tasks of about as many elements as a unit, for the units of all parts.
std::vector<TaskStart> cut_into_tasks(const std::vector<kernels::LoopArguments>& parts) {
  std::vector<TaskStart> tasks;
  std::int64_t gathered = unit_elements;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const std::int64_t units = kernels::unit_count(parts[p]);
    const std::int64_t elements = parts[p].rows * parts[p].columns;
    for (std::int64_t unit = 0; unit < units; ++unit) {
      if (gathered >= unit_elements) {
        tasks.push_back({p, unit});
        gathered = 0;
      }
      gathered += elements / units + unit_start;
    }
  }
  tasks.push_back({parts.size(), 0});
  return tasks;
}

}  // namespace

bool launch(const Loop& loop, kernels::LoopFunction function, const Launch& launch) {
  const Host host;
  const kernels::LoopArguments arguments = host.arguments(loop, launch);
  cpu::parallel_for(kernels::unit_count(arguments),
                    [&](std::int64_t unit) { function(&arguments, unit, unit + 1); });
  return !host.refused();
}

bool launch_together(const std::vector<LaunchPart>& parts) {
  const Host host;
  std::vector<kernels::LoopArguments> arguments;
  for (const LaunchPart& part : parts) arguments.push_back(host.arguments(*part.loop, part.launch));
  const std::vector<TaskStart> tasks = cut_into_tasks(arguments);
  cpu::parallel_for(static_cast<std::int64_t>(tasks.size()) - 1, [&](std::int64_t task) {
    const TaskStart begin = tasks[static_cast<std::size_t>(task)],
                    end = tasks[static_cast<std::size_t>(task) + 1];
    for (std::size_t p = begin.part; p < parts.size() && p <= end.part; ++p) {
      const std::int64_t first = p == begin.part ? begin.unit : 0;
      const std::int64_t last = p == end.part ? end.unit : kernels::unit_count(arguments[p]);
      if (first < last) parts[p].function(&arguments[p], first, last);
    }
  });
  return !host.refused();
}

}  // namespace sinter::jit
