#include "jit/interpret_reduce.h"

#include "jit/elements.h"
#include "jit/interpret_subjects.h"
#include "kernels/math.h"
#include "runtime/attributes.h"

namespace sinter::jit {
namespace {

/// The reduction of all axes in `mask`: group after group of neighbours, the innermost first, each
/// a pass over [outer, extent, inner].
template <typename C>
std::vector<C> reduce_axes(Op op, std::vector<C> elements, Shape shape, std::int64_t mask) {
  int last = shape.rank() - 1;
  while (last >= 0) {
    if (!has_axis(mask, last) || shape[last] == 1) {
      --last;
      continue;
    }
    // Axes of size 1 are neighbours of anything.
    int first = last;
    while (first > 0 && (has_axis(mask, first - 1) || shape[first - 1] == 1)) --first;
    std::int64_t outer = 1, extent = 1, inner = 1;
    for (int axis = 0; axis < shape.rank(); ++axis)
      (axis < first ? outer : axis <= last ? extent : inner) *= shape[axis];
    elements = reduce_pass(op, elements, outer, extent, inner);
    for (int axis = first; axis <= last; ++axis) shape[axis] = 1;
    last = first - 1;
  }
  return elements;
}

/// `elements` minus `subtrahend`, which has size 1 on the axes in `mask`.
template <typename C>
std::vector<C> minus(std::vector<C> elements, const std::vector<C>& subtrahend, const Shape& shape,
                     std::int64_t mask) {
  Shape reduced = shape;
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (has_axis(mask, axis)) reduced[axis] = 1;
  std::size_t position = 0;
  const Strides strides = contiguous_strides(reduced);
  for_each_index(shape, [&](const Dims& index) {
    const std::int64_t from = offset_of(strides, broadcast_index(index, reduced));
    elements[position] = elements[position] - subtrahend[static_cast<std::size_t>(from)];
    ++position;
  });
  return elements;
}

template <typename C>
struct Reduction {
  std::vector<C> elements;
  Shape shape;
  std::int64_t mask;

  std::int64_t count() const {
    std::int64_t product = 1;
    for (int axis = 0; axis < shape.rank(); ++axis)
      if (has_axis(mask, axis)) product *= shape[axis];
    return product;
  }
  std::vector<C> pass(Op op, const std::vector<C>& from) const {
    return reduce_axes(op, from, shape, mask);
  }

  std::vector<C> mean() const {
    std::vector<C> sums = pass(Op::sum, elements);
    for (C& sum : sums) sum = sum / static_cast<C>(count());
    return sums;
  }
  std::vector<C> var(std::int64_t correction) const {
    std::vector<C> squares = minus(elements, mean(), shape, mask);
    for (C& element : squares) element = element * element;
    std::vector<C> sums = pass(Op::sum, squares);
    for (C& sum : sums) sum = sum / static_cast<C>(var_divisor(count(), correction));
    return sums;
  }
  std::vector<C> logsumexp() const {
    std::vector<C> largest = pass(Op::amax, elements);
    // Infinities are not subtracted from themselves.
    for (C& element : largest)
      if (std::isinf(element)) element = C(0);
    std::vector<C> powers = minus(elements, largest, shape, mask);
    for (C& element : powers) element = kernels::m::exp(element);
    std::vector<C> sums = pass(Op::sum, powers);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = kernels::m::log(sums[i]) + largest[i];
    return sums;
  }
  std::vector<C> norm() const {
    std::vector<C> squares = elements;
    for (C& element : squares) element = element * element;
    std::vector<C> sums = pass(Op::sum, squares);
    for (C& sum : sums) sum = kernels::m::sqrt(sum);
    return sums;
  }
};

/// In double: distances to a mean that was rounded to f32 are wrong far from zero.
void interpret_var(const Step& step) {
  const ConstView& in = step.inputs[0];
  const Reduction<double> reduction{read_all<double>(in), in.shape, step.node.fixed()[0]};
  write_all(step.outputs[0], reduction.var(step.node.fixed()[1]));
}

}  // namespace

void interpret_reduce(const Step& step) {
  const Op op = step.node.op;
  const View& out = step.outputs[0];
  if (op == Op::var) return interpret_var(step);
  with_compute_type(step.inputs[0].dtype, [&]<typename C>(C) {
    Reduction<C> reduction{read_all<C>(step.inputs[0]), step.inputs[0].shape, step.node.fixed()[0]};
    if (op == Op::any || op == Op::all)
      for (C& element : reduction.elements) element = C(element != C(0));
    if constexpr (std::is_floating_point_v<C>) {
      switch (op) {
        case Op::mean: return write_all(out, reduction.mean());
        case Op::logsumexp: return write_all(out, reduction.logsumexp());
        case Op::norm: return write_all(out, reduction.norm());
        default: break;
      }
    }
    write_all(out, reduction.pass(op, reduction.elements));
  });
}

void interpret_arg_reduce(const Step& step) {
  const ConstView& in = step.inputs[0];
  const int axis = static_cast<int>(step.node.fixed()[0]);
  with_compute_type(in.dtype, [&]<typename C>(C) {
    for_each_index(step.outputs[0].shape, [&](const Dims& start) {
      std::int64_t best = 0;
      C best_element = read<C>(in, start);
      for (Dims index = start; ++index[axis] < in.shape[axis];) {
        const C element = read<C>(in, index);
        if (best_element != best_element) break;  // NaN: the first one wins
        const bool better =
            step.node.op == Op::argmax ? element > best_element : element < best_element;
        if (!better && element == element) continue;
        best = index[axis];
        best_element = element;
      }
      write<std::int64_t>(step.outputs[0], start, best);
    });
  });
}

}  // namespace sinter::jit
