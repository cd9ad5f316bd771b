#include <algorithm>

#include "jit/elements.h"
#include "jit/interpret_subjects.h"

namespace sinter::jit {
namespace {

/// Calls body(index) for the first element of every line along `axis`.
template <typename Body>
void for_each_line(Shape shape, int axis, Body&& body) {
  shape[axis] = std::min<std::int64_t>(shape[axis], 1);
  for_each_index(shape, body);
}

template <typename C>
bool comes_before(C a, C b, bool descending) {
  if constexpr (std::is_floating_point_v<C>) {
    const bool a_is_nan = std::isnan(a), b_is_nan = std::isnan(b);
    if (a_is_nan || b_is_nan) return a_is_nan == b_is_nan ? false : a_is_nan == descending;
  }
  return descending ? a > b : a < b;
}

}  // namespace

void interpret_cumsum(const Step& step) {
  const ConstView& in = step.inputs[0];
  const int axis = static_cast<int>(step.node.fixed()[0]);
  with_compute_type(in.dtype, [&]<typename C>(C) {
    for_each_line(in.shape, axis, [&](Dims index) {
      C sum = read<C>(in, index);
      write<C>(step.outputs[0], index, sum);
      while (++index[axis] < in.shape[axis]) {
        sum = sum + read<C>(in, index);
        write<C>(step.outputs[0], index, sum);
      }
    });
  });
}

void interpret_sort(const Step& step) {
  const ConstView& in = step.inputs[0];
  const View &values = step.outputs[0], &positions = step.outputs[1];
  const int axis = static_cast<int>(step.node.fixed()[0]);
  const bool descending = step.node.fixed()[1] != 0;
  with_compute_type(in.dtype, [&]<typename C>(C) {
    for_each_line(values.shape, axis, [&](const Dims& start) {
      const auto at = [&](std::int64_t place) {
        Dims index = start;
        index[axis] = place;
        return index;
      };
      // Insertion of one element after the other behind those that are not larger: stable.
      std::vector<std::int64_t> order;
      for (std::int64_t place = 0; place < in.shape[axis]; ++place) {
        const C element = read<C>(in, at(place));
        const auto behind = std::find_if(order.begin(), order.end(), [&](std::int64_t other) {
          return comes_before(element, read<C>(in, at(other)), descending);
        });
        order.insert(behind, place);
      }
      for (std::int64_t i = 0; i < values.shape[axis]; ++i) {
        const std::int64_t place = order[static_cast<std::size_t>(i)];
        copy_element(in, at(place), values, at(i));
        write<std::int64_t>(positions, at(i), place);
      }
    });
  });
}

}  // namespace sinter::jit
