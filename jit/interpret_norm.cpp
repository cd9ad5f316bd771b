#include "jit/elements.h"
#include "jit/interpret_reduce.h"
#include "jit/interpret_subjects.h"

namespace sinter::jit {
namespace {

/// The operands of a norm from input `first` on, as kernels/norm.h names them.
template <typename C>
struct Norm {
  bool centred;  ///< layer_norm
  std::size_t rows = 1, n = 1;
  std::vector<C> x, weight, bias;
  C epsilon;

  Norm(const Step& step, std::size_t first)
      : centred(step.node.op == Op::layer_norm || step.node.op == Op::layer_norm_grad),
        x(read_all<C>(step.inputs[first])),
        epsilon(static_cast<C>(step.node.slots()[0].real)) {
    const Shape& shape = step.inputs[first].shape;
    const auto fixed = step.node.fixed();
    for (int axis = 0; axis < shape.rank(); ++axis)
      (axis < shape.rank() - fixed[0] ? rows : n) *= static_cast<std::size_t>(shape[axis]);
    std::size_t next = first + 1;
    if (fixed[1] != 0) weight = read_all<C>(step.inputs[next++]);
    if (centred && fixed[2] != 0) bias = read_all<C>(step.inputs[next]);
  }

  C count() const { return static_cast<C>(n); }

  /// d of a row, and r.
  struct Row {
    std::vector<C> d;
    C r;
  };
  Row row(std::size_t number) const {
    Row result;
    const auto start = x.begin() + static_cast<std::ptrdiff_t>(number * n);
    result.d.assign(start, start + static_cast<std::ptrdiff_t>(n));
    for (int pass = 0; centred && pass < 2; ++pass) {
      const C mean = reduce_row(Op::sum, result.d) / count();
      for (C& element : result.d) element = element - mean;
    }
    std::vector<C> squares = result.d;
    for (C& element : squares) element = element * element;
    const C v = reduce_row(Op::sum, squares) / count();
    result.r = C(1) / kernels::m::sqrt(v + epsilon);
    return result;
  }
};

template <typename C>
void norm(const Step& step) {
  const Norm<C> norm(step, 0);
  std::vector<C> y;
  for (std::size_t number = 0; number < norm.rows && norm.n > 0; ++number) {
    const auto row = norm.row(number);
    for (std::size_t i = 0; i < norm.n; ++i) {
      C element = row.d[i] * row.r;
      if (!norm.weight.empty()) element = element * norm.weight[i];
      if (!norm.bias.empty()) element = element + norm.bias[i];
      y.push_back(element);
    }
  }
  write_all(step.outputs[0], y);
}

template <typename C>
void norm_grad(const Step& step) {
  const std::vector<C> g = read_all<C>(step.inputs[0]);
  const Norm<C> norm(step, 1);
  std::vector<C> dx, g_times_z;
  for (std::size_t number = 0; number < norm.rows && norm.n > 0; ++number) {
    const auto row = norm.row(number);
    std::vector<C> z, h, h_times_z;
    for (std::size_t i = 0; i < norm.n; ++i) {
      const C gradient = g[number * norm.n + i];
      z.push_back(row.d[i] * row.r);
      h.push_back(norm.weight.empty() ? gradient : gradient * norm.weight[i]);
      h_times_z.push_back(h[i] * z[i]);
      g_times_z.push_back(gradient * z[i]);
    }
    const C c = reduce_row(Op::sum, h_times_z) / norm.count();
    const C a = norm.centred ? reduce_row(Op::sum, h) / norm.count() : C(0);
    for (std::size_t i = 0; i < norm.n; ++i) {
      const C centred = norm.centred ? h[i] - a : h[i];
      dx.push_back((centred - z[i] * c) * row.r);
    }
  }
  write_all(step.outputs[0], dx);
  const auto rows = static_cast<std::int64_t>(norm.rows), n = static_cast<std::int64_t>(norm.n);
  std::size_t output = 1;
  if (step.node.fixed()[1] != 0)
    write_all(step.outputs[output++], reduce_pass(Op::sum, g_times_z, 1, rows, n));
  if (norm.centred && step.node.fixed()[2] != 0)
    write_all(step.outputs[output], reduce_pass(Op::sum, g, 1, rows, n));
}

}  // namespace

void interpret_norm(const Step& step) {
  const bool wide = step.node.op == Op::layer_norm || compute_dtype(step.inputs[0].dtype) == f64;
  wide ? norm<double>(step) : norm<float>(step);
}

void interpret_norm_grad(const Step& step) {
  const bool wide =
      step.node.op == Op::layer_norm_grad || compute_dtype(step.inputs[1].dtype) == f64;
  wide ? norm_grad<double>(step) : norm_grad<float>(step);
}

}  // namespace sinter::jit
