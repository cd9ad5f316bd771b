#include "kernels/scan.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "kernels/lines.h"
#include "runtime/cpu/pool.h"

namespace sinter::kernels {
namespace {

/// Elements a task should have at least, so that handing it out costs less than doing it.
constexpr std::int64_t task_elements = 16384;

template <typename C, typename T, typename Out>
void scan_lines(const ConstView& in, int axis, const View& out) {
  const Lines from = lines(in, axis), to = lines(out, axis);
  const std::int64_t columns = from.inner_count(), extent = from.extent;
  const T* const data = static_cast<const T*>(in.data);
  Out* const results = static_cast<Out*>(out.data);
  // Neighbouring lines go along together, so that memory is read in its own order.
  const std::int64_t width = std::clamp<std::int64_t>(columns, 1, 64);
  const std::int64_t blocks = (columns + width - 1) / width;
  const auto scan_block = [&](std::int64_t number) {
    const std::int64_t o = number / blocks, first = number % blocks * width;
    const std::int64_t last = std::min(columns, first + width);
    std::vector<C> sums(static_cast<std::size_t>(last - first));
    for (std::int64_t j = 0; j < extent; ++j) {
      for (std::int64_t c = first; c < last; ++c) {
        C& sum = sums[static_cast<std::size_t>(c - first)];
        const C element = static_cast<C>(data[from.at(o, c) + j * from.stride]);
        // The first is taken as it is: 0 + -0 would lose the sign.
        sum = j == 0 ? element : static_cast<C>(sum + element);
        results[to.at(o, c) + j * to.stride] = static_cast<Out>(sum);
      }
    }
  };
  const std::int64_t all = from.outer_count() * blocks;
  const std::int64_t blocks_a_task =
      std::max<std::int64_t>(1, task_elements / std::max<std::int64_t>(1, extent * width));
  cpu::parallel_for((all + blocks_a_task - 1) / blocks_a_task, [&](std::int64_t task) {
    const std::int64_t end = std::min(all, (task + 1) * blocks_a_task);
    for (std::int64_t number = task * blocks_a_task; number < end; ++number) scan_block(number);
  });
}

}  // namespace

void cumsum(const ConstView& in, int axis, const View& out) {
  if (element_count(out.shape) == 0) return;
  with_storage_type(in.dtype, [&]<typename T>(T) {
    with_compute_type(in.dtype, [&]<typename C>(C) {
      using Out = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;
      // The pairs that do not belong together are never met.
      if constexpr (std::is_integral_v<T> == std::is_integral_v<C> &&
                    (std::is_same_v<T, double> == std::is_same_v<C, double>))
        scan_lines<C, T, Out>(in, axis, out);
    });
  });
}

}  // namespace sinter::kernels
