#include "jit/elements.h"
#include "jit/interpret_reduce.h"
#include "jit/interpret_subjects.h"
#include "runtime/attributes.h"

namespace sinter::jit {
namespace {

/// The operands from input `first` on, as kernels/cross_entropy.h names them.
template <typename C>
struct CrossEntropy {
  std::size_t rows, classes;
  std::vector<C> logits, weight;
  std::vector<std::int64_t> targets;
  Reduction reduction;
  C f, b;
  bool smooth;

  CrossEntropy(const Step& step, std::size_t first)
      : classes(static_cast<std::size_t>(step.inputs[first].shape.back())),
        logits(read_all<C>(step.inputs[first])),
        targets(read_all<std::int64_t>(step.inputs[first + 1])),
        reduction(static_cast<Reduction>(step.node.fixed()[0])) {
    rows = targets.size();
    if (step.node.fixed()[1] != 0) weight = read_all<C>(step.inputs[first + 2]);
    const double smoothing = step.node.slots()[1].real;
    smooth = smoothing != 0;
    f = static_cast<C>(1 - smoothing);
    b = static_cast<C>(smoothing / static_cast<double>(classes));
    // From here on a target is a class, or -1 for a row that counts for nothing.
    const std::int64_t ignored = step.node.slots()[0].integer;
    const auto limit = static_cast<std::int64_t>(classes);
    for (std::size_t row = 0; row < rows; ++row) {
      std::int64_t& target = targets[row];
      if (target != ignored && (target < 0 || target >= limit)) {
        step.fault.report(kernels::FaultKind::index_out_of_range, static_cast<std::int64_t>(row),
                          target, limit);
        target = -1;
      } else if (target == ignored) {
        target = -1;
      }
    }
  }

  bool counts(std::size_t row) const { return targets[row] >= 0; }
  std::size_t target(std::size_t row) const { return static_cast<std::size_t>(targets[row]); }
  bool weighted() const { return !weight.empty(); }
  C row_weight(std::size_t row) const {
    if (!counts(row)) return C(0);
    return weighted() ? weight[target(row)] : C(1);
  }
  C total_weight() const {
    std::vector<C> weights;
    for (std::size_t row = 0; row < rows; ++row) weights.push_back(row_weight(row));
    return reduce_row(Op::sum, weights);
  }
  /// x - m of a row, exp of it, and the sum of those.
  struct Row {
    std::vector<C> below, powers;
    C sum;
  };
  Row row(std::size_t number) const {
    const auto start = logits.begin() + static_cast<std::ptrdiff_t>(number * classes);
    Row result;
    result.below.assign(start, start + static_cast<std::ptrdiff_t>(classes));
    const C largest = reduce_row(Op::amax, result.below);
    for (C& element : result.below) element = element - largest;
    for (const C element : result.below) result.powers.push_back(kernels::m::exp(element));
    result.sum = reduce_row(Op::sum, result.powers);
    return result;
  }
};

template <typename C>
C row_loss(const CrossEntropy<C>& ce, std::size_t number) {
  if (!ce.counts(number)) return C(0);
  const auto row = ce.row(number);
  const C l = kernels::m::log(row.sum);
  std::vector<C> q;
  for (std::size_t j = 0; j < ce.classes; ++j) {
    q.push_back(row.below[j] - l);
    if (ce.weighted()) q[j] = ce.weight[j] * q[j];
  }
  const C at_target = q[ce.target(number)];
  return ce.smooth ? -(ce.f * at_target + ce.b * reduce_row(Op::sum, q)) : -at_target;
}

template <typename C>
void cross_entropy(const Step& step) {
  const CrossEntropy<C> ce(step, 0);
  std::vector<C> losses;
  for (std::size_t row = 0; row < ce.rows; ++row) losses.push_back(row_loss(ce, row));
  if (ce.reduction == Reduction::none) return write_all(step.outputs[0], losses);
  const C sum = reduce_row(Op::sum, losses);
  const C loss = ce.reduction == Reduction::mean ? sum / ce.total_weight() : sum;
  write_all(step.outputs[0], std::vector<C>{loss});
}

template <typename C>
void cross_entropy_grad(const Step& step) {
  const CrossEntropy<C> ce(step, 1);
  const std::vector<C> g = read_all<C>(step.inputs[0]);
  const C classes_weight =
      ce.weighted() ? reduce_row(Op::sum, ce.weight) : static_cast<C>(ce.classes);
  std::vector<C> dx(ce.logits.size(), C(0));
  for (std::size_t number = 0; number < ce.rows; ++number) {
    if (!ce.counts(number)) continue;
    const auto row = ce.row(number);
    const C h = ce.reduction == Reduction::none   ? g[number]
                : ce.reduction == Reduction::mean ? g[0] / ce.total_weight()
                                                  : g[0];
    const C at_target = ce.row_weight(number);
    const C a = ce.weighted() ? ce.f * at_target : ce.f;
    const C k = a + ce.b * classes_weight;
    for (std::size_t j = 0; j < ce.classes; ++j) {
      const C p = row.powers[j] / row.sum;
      C u = ce.weighted() ? p * at_target : p;
      if (ce.smooth) u = p * k - (ce.weighted() ? ce.b * ce.weight[j] : ce.b);
      if (j == ce.target(number)) u = u - (ce.smooth ? a : at_target);
      dx[number * ce.classes + j] = h * u;
    }
  }
  write_all(step.outputs[0], dx);
}

}  // namespace

void interpret_cross_entropy(const Step& step) {
  compute_dtype(step.inputs[0].dtype) == f64 ? cross_entropy<double>(step)
                                             : cross_entropy<float>(step);
}

void interpret_cross_entropy_grad(const Step& step) {
  compute_dtype(step.inputs[1].dtype) == f64 ? cross_entropy_grad<double>(step)
                                             : cross_entropy_grad<float>(step);
}

}  // namespace sinter::jit
