#include "kernels/cross_entropy.h"

#include <algorithm>
#include <vector>

#include "kernels/row_access.h"
#include "kernels/row_kernels.h"
#include "runtime/cpu/pool.h"

namespace sinter::kernels {
namespace {

enum Reduction { none = 0, mean = 1, sum = 2 };

/// Elements that are worth a task of their own.
constexpr std::int64_t task_elements = 4096;

std::vector<std::int64_t> read_targets(const ConstView& view) {
  const auto count = element_count(view.shape);
  std::vector<std::int64_t> targets(static_cast<std::size_t>(count));
  if (count > 0) TileReader(view, DType::i64, tiles()).load_into(0, count, targets.data());
  return targets;
}

/// The operands as the rows need them.
template <class C>
class Loss {
 public:
  Loss(const CrossEntropyOperands& operands, Fault& fault)
      : functions(loss_functions<C>()),
        logits(operands.logits),
        targets(read_targets(operands.targets)),
        classes(operands.logits.shape.back()),
        rows(static_cast<std::int64_t>(targets.size())) {
    if (operands.weight.data != nullptr) {
      weight.resize(static_cast<std::size_t>(classes));
      const C* const from = RowReader<C>(operands.weight).load(0, classes, weight.data());
      std::copy_n(from, from == weight.data() ? 0 : classes, weight.data());
    }
    const double share = operands.smoothing / static_cast<double>(classes);
    row_ = {.x = nullptr,
            .classes = classes,
            .target = 0,
            .weight = weight.empty() ? nullptr : weight.data(),
            .smoothed = operands.smoothing != 0,
            .keep = static_cast<C>(1 - operands.smoothing),
            .share = static_cast<C>(share),
            .total_weight = weight.empty() ? static_cast<C>(classes)
                                           : functions.sum_row(weight.data(), classes)};
    for (std::int64_t r = 0; r < rows; ++r) check(r, operands.ignore_index, fault);
  }

  bool counts(std::int64_t r) const { return target(r) >= 0; }
  std::int64_t target(std::int64_t r) const { return targets[static_cast<std::size_t>(r)]; }

  LossRow<C> row(std::int64_t r, C* buffer) const {
    LossRow<C> row = row_;
    row.x = logits.load(r * classes, classes, buffer);
    row.target = target(r);
    return row;
  }

  /// The weights of the rows that count, summed.
  C total_weight() const {
    std::vector<C> weights(targets.size(), C(0));
    for (std::size_t r = 0; r < targets.size(); ++r)
      if (targets[r] >= 0)
        weights[r] = weight.empty() ? C(1) : weight[static_cast<std::size_t>(targets[r])];
    return functions.sum_row(weights.data(), rows);
  }

  /// body(row) for all rows.
  template <class Body>
  void for_rows(Body body) const {
    const std::int64_t each = std::max<std::int64_t>(1, task_elements / classes);
    cpu::parallel_for((rows + each - 1) / each, [&](std::int64_t task) {
      const std::int64_t end = std::min(rows, (task + 1) * each);
      for (std::int64_t r = task * each; r < end; ++r) body(r);
    });
  }

  const LossFunctions<C>& functions;
  RowReader<C> logits;
  std::vector<std::int64_t> targets;  // -1 where the row is ignored
  std::vector<C> weight;
  std::int64_t classes, rows;

 private:
  void check(std::int64_t r, std::int64_t ignore_index, Fault& fault) {
    std::int64_t& target = targets[static_cast<std::size_t>(r)];
    if (target == ignore_index) {
      target = -1;
    } else if (target < 0 || target >= classes) {
      fault.report(FaultKind::index_out_of_range, r, target, classes);
      target = -1;
    }
  }

  LossRow<C> row_;
};

template <class C>
void forward(const CrossEntropyOperands& operands, const View& loss, Fault& fault) {
  const Loss<C> rows(operands, fault);
  std::vector<C> losses(rows.targets.size(), C(0));
  rows.for_rows([&](std::int64_t r) {
    if (!rows.counts(r)) return;
    C* const buffer = rows.logits.direct() ? nullptr : scratch<C>(0, rows.classes);
    losses[static_cast<std::size_t>(r)] = rows.functions.forward(rows.row(r, buffer));
  });
  C* const out = static_cast<C*>(loss.data);
  if (operands.reduction == none) {
    std::copy(losses.begin(), losses.end(), out);
    return;
  }
  const C total = rows.functions.sum_row(losses.data(), rows.rows);
  *out = operands.reduction == mean ? total / rows.total_weight() : total;
}

template <class C>
void gradient(const ConstView& g, const CrossEntropyOperands& operands, const View& dx,
              Fault& fault) {
  const Loss<C> rows(operands, fault);
  const RowReader<C> of_g(g);
  const RowWriter<C> out(dx);
  C shared = C(0), buffer = C(0);
  if (operands.reduction != none) shared = *of_g.load(0, 1, &buffer);
  if (operands.reduction == mean) shared = shared / rows.total_weight();
  const std::int64_t n = rows.classes;
  rows.for_rows([&](std::int64_t r) {
    C* const to = out.place(r * n, out.direct() ? nullptr : scratch<C>(1, n));
    if (rows.counts(r)) {
      C own = C(0);
      const C h = operands.reduction == none ? *of_g.load(r, 1, &own) : shared;
      const LossRow<C> row = rows.row(r, rows.logits.direct() ? nullptr : scratch<C>(0, n));
      rows.functions.gradient(row, h, to);
    } else {
      std::fill_n(to, n, C(0));
    }
    out.store(to, r * n, n);
  });
}

}  // namespace

void cross_entropy(const CrossEntropyOperands& operands, const View& loss, Fault& fault) {
  (operands.logits.dtype == DType::f64 ? forward<double> : forward<float>)(operands, loss, fault);
}

void cross_entropy_grad(const ConstView& g, const CrossEntropyOperands& operands, const View& dx,
                        Fault& fault) {
  (operands.logits.dtype == DType::f64 ? gradient<double> : gradient<float>)(g, operands, dx,
                                                                             fault);
}

}  // namespace sinter::kernels
