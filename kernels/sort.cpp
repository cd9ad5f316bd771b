#include "kernels/sort.h"

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <vector>

#include "kernels/lines.h"
#include "runtime/cpu/pool.h"

namespace sinter::kernels {
namespace {

/// Elements a task should have at least, so that handing it out costs less than doing it.
constexpr std::int64_t task_elements = 2048;

/// What elements are compared as.
template <typename T>
using Key = std::conditional_t<std::is_same_v<T, double>, double,
                               std::conditional_t<std::is_integral_v<T>, std::int64_t, float>>;

template <typename K>
bool below(K a, K b) {
  if constexpr (std::is_floating_point_v<K>) return a < b || (b != b && a == a);
  return a < b;
}

/// The places of a line in order; the first `count` of them are right.
template <typename K>
void order(const std::vector<K>& keys, bool descending, std::size_t count,
           std::vector<std::int64_t>& places) {
  std::iota(places.begin(), places.end(), std::int64_t{0});
  const auto before = [&](std::int64_t i, std::int64_t j) {
    const K a = keys[static_cast<std::size_t>(i)], b = keys[static_cast<std::size_t>(j)];
    if (descending ? below(b, a) : below(a, b)) return true;
    if (descending ? below(a, b) : below(b, a)) return false;
    return i < j;
  };
  if (count == places.size()) {
    std::sort(places.begin(), places.end(), before);
  } else {
    std::partial_sort(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(count),
                      places.end(), before);
  }
}

template <typename T>
void sort_lines(const ConstView& in, int axis, bool descending, const View& values,
                const View& positions) {
  const Lines from = lines(in, axis), to = lines(values, axis);
  const std::size_t extent = static_cast<std::size_t>(from.extent);
  const std::size_t count = static_cast<std::size_t>(to.extent);
  const std::int64_t columns = from.inner_count(), all = from.outer_count() * columns;
  const std::int64_t lines_a_task = std::max<std::int64_t>(1, task_elements / from.extent);
  const auto sort_line = [&](std::int64_t line, std::vector<Key<T>>& keys,
                             std::vector<std::int64_t>& places) {
    const T* const data = static_cast<const T*>(in.data) + from.at(line / columns, line % columns);
    const std::int64_t start = to.at(line / columns, line % columns);
    for (std::size_t j = 0; j < extent; ++j)
      keys[j] = static_cast<Key<T>>(data[static_cast<std::int64_t>(j) * from.stride]);
    order(keys, descending, count, places);
    for (std::size_t j = 0; j < count; ++j) {
      const std::int64_t offset = start + static_cast<std::int64_t>(j) * to.stride;
      static_cast<T*>(values.data)[offset] = data[places[j] * from.stride];
      static_cast<std::int64_t*>(positions.data)[offset] = places[j];
    }
  };
  cpu::parallel_for((all + lines_a_task - 1) / lines_a_task, [&](std::int64_t task) {
    std::vector<Key<T>> keys(extent);
    std::vector<std::int64_t> places(extent);
    const std::int64_t end = std::min(all, (task + 1) * lines_a_task);
    for (std::int64_t line = task * lines_a_task; line < end; ++line) sort_line(line, keys, places);
  });
}

}  // namespace

void sort(const ConstView& in, int axis, bool descending, const View& values,
          const View& positions) {
  if (element_count(values.shape) == 0) return;
  with_storage_type(in.dtype,
                    [&]<typename T>(T) { sort_lines<T>(in, axis, descending, values, positions); });
}

}  // namespace sinter::kernels
