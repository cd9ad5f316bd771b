#include <limits>

#include "runtime/attributes.h"
#include "runtime/composites_parts.h"
#include "runtime/creation.h"
#include "runtime/elementwise.h"
#include "runtime/record.h"
#include "runtime/reductions.h"
#include "runtime/views.h"

namespace sinter {
namespace {

using Results = std::vector<Tensor>;

/// The axes a reduction node reduces, and how many elements meet in each of its results.
struct Reduced {
  Dims axes;
  std::int64_t count = 1;

  explicit Reduced(const CompositeContext& c) : axes(masked_axes(c.fixed(0), c.inputs[0].rank())) {
    for (const std::int64_t axis : axes) count *= c.inputs[0].shape()[static_cast<int>(axis)];
  }

  /// The mean of `a`, the reduced axes kept.
  Tensor mean_of(const Tensor& a, Where at) const;
};

/// A sum that keeps its axes; over no axes at all it is the tensor itself.
Tensor sum_kept(const Tensor& a, const Dims& axes, Where at) {
  return axes.empty() ? a : sum(a, axes, true, at);
}

Tensor Reduced::mean_of(const Tensor& a, Where at) const {
  return div(sum_kept(a, axes, at), static_cast<double>(count), at);
}

Results mean_parts(const CompositeContext& c) {
  const Reduced reduced(c);
  return {c.narrow(reduced.mean_of(c.wide(0), c.where))};
}

Results var_parts(const CompositeContext& c) {
  const Where at = c.where;
  const Reduced reduced(c);
  const Tensor x = in_dtype(c.inputs[0], f64, at);
  const Tensor distance = sub(x, reduced.mean_of(x, at), at);
  const Tensor squares = sum_kept(square(distance, at), reduced.axes, at);
  return {c.narrow(div(squares, var_divisor(reduced.count, c.fixed(1)), at))};
}

Results logsumexp_parts(const CompositeContext& c) {
  const Where at = c.where;
  const Reduced reduced(c);
  const Tensor x = c.wide(0);
  if (reduced.count == 0)
    return {full(c.node.shape, -std::numeric_limits<double>::infinity(), c.node.dtype, at)};
  if (reduced.axes.empty()) return {c.inputs[0]};
  const Tensor shift = shift_of(amax(x, reduced.axes, true, at), at);
  const Tensor total = sum(exp(sub(x, shift, at), at), reduced.axes, true, at);
  return {c.narrow(add(log(total, at), shift, at))};
}

Results norm_parts(const CompositeContext& c) {
  const Reduced reduced(c);
  const Tensor squares = sum_kept(square(c.wide(0), c.where), reduced.axes, c.where);
  return {c.narrow(sqrt(squares, c.where))};
}

/// exp(x - max), its sum, and x - max, along the axis.
struct Exponents {
  Tensor distance, exponential, total;

  explicit Exponents(const CompositeContext& c) {
    const Tensor x = c.wide(0);
    const Dims axis{c.fixed(0)};
    distance = sub(x, detach(amax(x, axis, true, c.where), c.where), c.where);
    exponential = exp(distance, c.where);
    total = sum(exponential, axis, true, c.where);
  }
};

Results softmax_parts(const CompositeContext& c) {
  if (element_count(c.node.shape) == 0) return {c.inputs[0]};
  const Exponents parts(c);
  return {c.narrow(div(parts.exponential, parts.total, c.where))};
}

Results log_softmax_parts(const CompositeContext& c) {
  if (element_count(c.node.shape) == 0) return {c.inputs[0]};
  const Exponents parts(c);
  return {c.narrow(sub(parts.distance, log(parts.total, c.where), c.where))};
}

Results softmax_grad_parts(const CompositeContext& c) {
  const Tensor g = c.wide(0), y = c.wide(1);
  const Tensor total = sum(mul(g, y, c.where), {c.fixed(0)}, true, c.where);
  return {c.narrow(mul(sub(g, total, c.where), y, c.where))};
}

Results log_softmax_grad_parts(const CompositeContext& c) {
  const Tensor g = c.wide(0), y = c.wide(1);
  const Tensor total = sum(g, {c.fixed(0)}, true, c.where);
  return {c.narrow(sub(g, mul(exp(y, c.where), total, c.where), c.where))};
}

}  // namespace

Tensor shift_of(const Tensor& a, Where at) {
  const Tensor cut = detach(a, at);
  return where(isfinite(cut, at), cut, 0.0, at);
}

Composite reduction_composite(Op op) {
  switch (op) {
    case Op::mean: return mean_parts;
    case Op::var: return var_parts;
    case Op::logsumexp: return logsumexp_parts;
    case Op::norm: return norm_parts;
    case Op::softmax: return softmax_parts;
    case Op::log_softmax: return log_softmax_parts;
    case Op::softmax_grad: return softmax_grad_parts;
    case Op::log_softmax_grad: return log_softmax_grad_parts;
    default: return nullptr;
  }
}

}  // namespace sinter
