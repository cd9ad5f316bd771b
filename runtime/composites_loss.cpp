#include <array>

#include "runtime/attributes.h"
#include "runtime/composites_parts.h"
#include "runtime/creation.h"
#include "runtime/elementwise.h"
#include "runtime/indexing.h"
#include "runtime/record.h"
#include "runtime/reductions.h"
#include "runtime/views.h"

namespace sinter {
namespace {

using Results = std::vector<Tensor>;

/// The parts of cross_entropy that its gradient shares; operands start at input `first`.
class Rows {
 public:
  Rows(const CompositeContext& c, std::size_t first)
      : targets_(c.inputs[first + 1]), ignored_(c.integer(0)), at_(c.where) {
    reduction = static_cast<Reduction>(c.fixed(0));
    smoothing = c.real(1);
    classes = c.inputs[first].shape().back();
    counts = not_equal(targets_, ignored_, at_);
    // Ignored rows are replaced before anything is computed: NaN there would spread.
    target = where(counts, targets_, 0, at_);
    const Tensor logits = where(unsqueeze(counts, -1, at_), c.wide(first), 0.0, at_);
    distance = sub(logits, detach(amax(logits, {-1}, true, at_), at_), at_);
    exponential = exp(distance, at_);
    total = sum(exponential, {-1}, true, at_);
    if (c.fixed(1) != 0) {
      weight = c.wide(first + 2);
      target_weight = take(weight, target, 0, at_);
    }
  }

  Tensor weighted(const Tensor& a, const Tensor& by) const {
    return by.defined() ? mul(a, by, at_) : a;
  }
  /// The weights of the rows that count, summed. Made of the targets alone and not of `counts`, so
  /// that it can be computed before the rows, and these in one kernel with what it divides.
  Tensor total_weight() const {
    const Tensor own_counts = not_equal(targets_, ignored_, at_);
    const Tensor own = weight.defined() ? take(weight, where(own_counts, targets_, 0, at_), 0, at_)
                                        : full({}, 1, distance.dtype(), at_);
    return sum(where(own_counts, own, 0.0, at_), {}, false, at_);
  }

  Reduction reduction;
  double smoothing;
  std::int64_t classes;
  Tensor counts, target;                // [n...]
  Tensor distance, exponential, total;  // [n..., classes], the last [n..., 1]
  Tensor weight, target_weight;         // [classes], [n...]; not defined without weights

 private:
  const Tensor& targets_;
  std::int64_t ignored_;
  Where at_;
};

Results cross_entropy_parts(const CompositeContext& c) {
  const Where at = c.where;
  const Rows rows(c, 0);
  const Tensor q = sub(rows.distance, log(rows.total, at), at);
  const Tensor picked = squeeze(gather(q, -1, unsqueeze(rows.target, -1, at), at), -1, at);
  Tensor loss = rows.weighted(picked, rows.target_weight);
  if (rows.smoothing != 0) {
    const Tensor all = sum(rows.weighted(q, rows.weight), {-1}, false, at);
    loss = add(mul(loss, 1 - rows.smoothing, at),
               mul(all, rows.smoothing / static_cast<double>(rows.classes), at), at);
  }
  loss = where(rows.counts, neg(loss, at), 0.0, at);
  if (rows.reduction != Reduction::none) loss = sum(loss, {}, false, at);
  if (rows.reduction == Reduction::mean) loss = div(loss, rows.total_weight(), at);
  return {c.narrow(loss)};
}

Results cross_entropy_grad_parts(const CompositeContext& c) {
  const Where at = c.where;
  const Rows rows(c, 1);
  const auto column = [&](const Tensor& a) { return a.defined() ? unsqueeze(a, -1, at) : a; };
  Tensor h = c.wide(0);
  if (rows.reduction == Reduction::mean) h = div(h, rows.total_weight(), at);
  if (rows.reduction == Reduction::none) h = column(h);

  const DType dtype = rows.distance.dtype();
  const Tensor p = div(rows.exponential, rows.total, at);
  Tensor own = rows.target_weight.defined() ? column(rows.target_weight) : full({}, 1, dtype, at);
  Tensor u;
  if (rows.smoothing == 0) {
    u = rows.weighted(p, column(rows.target_weight));
  } else {
    const double share = rows.smoothing / static_cast<double>(rows.classes);
    const Tensor weights = rows.weight.defined() ? rows.weight : ones({rows.classes}, dtype, at);
    own = mul(own, 1 - rows.smoothing, at);
    const Tensor k = add(own, mul(sum(weights, {}, false, at), share, at), at);
    u = sub(mul(p, k, at), mul(weights, share, at), at);
  }
  const Tensor hit = sinter::equal(column(rows.target), arange(rows.classes, DType::i64, at), at);
  u = where(hit, sub(u, own, at), u, at);
  return {c.narrow(where(column(rows.counts), mul(h, u, at), 0.0, at))};
}

Results dropout_parts(const CompositeContext& c) {
  const Where at = c.where;
  const double p = c.real(0);
  const Tensor kept = greater_equal(c.draw(1, c.node.shape), p, at);
  return {c.narrow(where(kept, mul(c.wide(0), 1 / (1 - p), at), 0.0, at))};
}

}  // namespace

Composite loss_composite(Op op) {
  switch (op) {
    case Op::cross_entropy: return cross_entropy_parts;
    case Op::cross_entropy_grad: return cross_entropy_grad_parts;
    case Op::dropout: return dropout_parts;
    default: return nullptr;
  }
}

}  // namespace sinter
