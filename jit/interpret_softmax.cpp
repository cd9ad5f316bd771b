#include "jit/elements.h"
#include "jit/interpret_reduce.h"
#include "jit/interpret_subjects.h"

namespace sinter::jit {
namespace {

/// A shape seen as [outer, extent, inner] around the axis of the node.
struct Seen {
  std::int64_t outer = 1, extent = 1, inner = 1;

  explicit Seen(const Step& step) {
    const Shape& shape = step.outputs[0].shape;
    const int axis = static_cast<int>(step.node.fixed()[0]);
    for (int i = 0; i < shape.rank(); ++i)
      (i < axis ? outer : i == axis ? extent : inner) *= shape[i];
  }
  /// Where element i of [outer, extent, inner] is in an array [outer, 1, inner].
  std::size_t line(std::size_t i) const {
    const auto width = static_cast<std::size_t>(inner);
    return i / (static_cast<std::size_t>(extent) * width) * width + i % width;
  }
  template <typename C>
  std::vector<C> pass(Op op, const std::vector<C>& elements) const {
    return reduce_pass(op, elements, outer, extent, inner);
  }
};

template <typename C>
void softmax(const Step& step) {
  namespace m = kernels::m;
  const Seen seen(step);
  std::vector<C> y = read_all<C>(step.inputs[0]);
  if (y.empty()) return;
  const std::vector<C> largest = seen.pass(Op::amax, y);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = y[i] - largest[seen.line(i)];
  std::vector<C> powers = y;
  for (C& power : powers) power = m::exp(power);
  const std::vector<C> sums = seen.pass(Op::sum, powers);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const C sum = sums[seen.line(i)];
    y[i] = step.node.op == Op::softmax ? powers[i] / sum : y[i] - m::log(sum);
  }
  write_all(step.outputs[0], y);
}

template <typename C>
void softmax_grad(const Step& step) {
  const Seen seen(step);
  const std::vector<C> g = read_all<C>(step.inputs[0]), y = read_all<C>(step.inputs[1]);
  if (y.empty()) return;
  const bool plain = step.node.op == Op::softmax_grad;
  std::vector<C> terms = g;
  if (plain)
    for (std::size_t i = 0; i < y.size(); ++i) terms[i] = g[i] * y[i];
  const std::vector<C> sums = seen.pass(Op::sum, terms);
  std::vector<C> dx = g;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const C sum = sums[seen.line(i)];
    dx[i] = plain ? (g[i] - sum) * y[i] : g[i] - kernels::m::exp(y[i]) * sum;
  }
  write_all(step.outputs[0], dx);
}

}  // namespace

void interpret_softmax(const Step& step) {
  compute_dtype(step.outputs[0].dtype) == f64 ? softmax<double>(step) : softmax<float>(step);
}

void interpret_softmax_grad(const Step& step) {
  compute_dtype(step.outputs[0].dtype) == f64 ? softmax_grad<double>(step)
                                              : softmax_grad<float>(step);
}

}  // namespace sinter::jit
