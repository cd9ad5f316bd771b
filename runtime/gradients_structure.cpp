// The derivatives of casts, views and reductions.

#include "runtime/attributes.h"
#include "runtime/creation.h"
#include "runtime/elementwise.h"
#include "runtime/gradients.h"
#include "runtime/reductions.h"
#include "runtime/views.h"

namespace sinter {

namespace {

std::vector<Tensor> pass_on(const GradientContext& context) { return {context.g()}; }

std::vector<Tensor> differentiate_reshape(const GradientContext& context) {
  return {reshape(context.g(), context.inputs[0].shape(), context.where)};
}

std::vector<Tensor> differentiate_permute(const GradientContext& context) {
  const auto order = context.node.fixed();
  Dims inverse = Dims::filled(static_cast<int>(order.size()), 0);
  for (std::size_t i = 0; i < order.size(); ++i)
    inverse[static_cast<int>(order[i])] = static_cast<std::int64_t>(i);
  return {permute(context.g(), inverse, context.where)};
}

Tensor spread(const Tensor& a, const GradientContext& context) {
  return expand(a, context.inputs[0].shape(), context.where);
}

std::vector<Tensor> differentiate_sum(const GradientContext& context) {
  return {spread(context.g(), context)};
}

/// The product of the others: y / x without zeros; with one zero only that element has any.
std::vector<Tensor> differentiate_prod(const GradientContext& context) {
  const Tensor& x = context.inputs[0];
  const Dims axes = masked_axes(context.node.fixed()[0], x.rank());
  if (axes.empty()) return {context.g()};
  const Tensor zero = sinter::equal(x, 0.0);
  const Tensor zeros_met = sum(cast(zero, i64), axes, true);
  const Tensor others = prod(where(zero, 1.0, x), axes, true);
  const Tensor at_zero = where(sinter::equal(zeros_met, 1), others, 0.0);
  const Tensor elsewhere = where(sinter::equal(zeros_met, 0), others, 0.0) / where(zero, 1.0, x);
  return {context.g() * where(zero, at_zero, elsewhere)};
}

/// g * x / norm, and 0 where the norm is 0: the direction of least length among the subgradients.
std::vector<Tensor> differentiate_norm(const GradientContext& context) {
  const Tensor& length = context.result;
  const Tensor zero = sinter::equal(length, 0.0);
  const Tensor scale = where(zero, 0.0, context.g() / where(zero, 1.0, length));
  return {context.inputs[0] * scale};
}

std::vector<Tensor> differentiate_extremum(const GradientContext& context) {
  const Tensor& x = context.inputs[0];
  const Dims axes = masked_axes(context.node.fixed()[0], x.rank());
  if (axes.empty()) return {context.g()};
  const Tensor chosen = sinter::equal(x, context.result);
  const Tensor ties = sum(cast(chosen, x.dtype()), axes, true);
  return {where(chosen, context.g() / ties, 0.0)};
}

}  // namespace

GradientRule structure_gradient_rule(Op op) {
  switch (op) {
    case Op::cast:
    case Op::expand: return pass_on;  // dtype and broadcasting are undone by the walk
    case Op::reshape: return differentiate_reshape;
    case Op::permute: return differentiate_permute;
    case Op::custom_gradient: return differentiate_custom;
    case Op::sum: return differentiate_sum;
    case Op::prod: return differentiate_prod;
    case Op::norm: return differentiate_norm;
    case Op::amax:
    case Op::amin: return differentiate_extremum;
    default: return nullptr;
  }
}

}  // namespace sinter
