#include <array>
#include <vector>

#include "runtime/attributes.h"
#include "runtime/composites.h"
#include "runtime/composites_parts.h"
#include "runtime/elementwise.h"
#include "runtime/gradients.h"
#include "runtime/nn.h"
#include "runtime/record.h"
#include "runtime/reductions.h"
#include "runtime/views.h"

namespace sinter {
namespace {

using Gradients = std::vector<Tensor>;

Tensor flipped(const Tensor& a, Where at) { return transpose(a, -2, -1, at); }

/// `a` as one matrix: leading axes joined, a vector as one row.
Tensor as_rows(const Tensor& a, Where at) {
  std::int64_t rows = 1;
  for (int axis = 0; axis < a.rank() - 1; ++axis) rows *= a.shape()[axis];
  return a.rank() == 2 ? a : reshape(a, {rows, a.shape().back()}, at);
}

bool is_one_matrix(const Tensor& a) {
  for (int axis = 0; axis < a.rank() - 2; ++axis)
    if (a.shape()[axis] != 1) return false;
  return true;
}

/// Whether all axes but the last agree.
bool same_rows(const Tensor& a, const Tensor& b) {
  if (a.rank() != b.rank()) return false;
  for (int axis = 0; axis < a.rank() - 1; ++axis)
    if (a.shape()[axis] != b.shape()[axis]) return false;
  return true;
}

Gradients matmul_gradient(const GradientContext& c) {
  const Where at = c.where;
  const Tensor &a = c.inputs[0], &b = c.inputs[1], &g = c.g();
  Gradients all(2);
  if (c.wanted[0]) all[0] = sum_to(matmul(g, flipped(b, at), at), a.shape(), at);
  if (!c.wanted[1]) return all;
  // One matrix that every product shares has its gradient in one product over all rows, which needs
  // no sum of many small ones afterwards.
  if (is_one_matrix(b) && same_rows(a, g)) {
    const Tensor product = matmul(flipped(as_rows(a, at), at), as_rows(g, at), at);
    all[1] = b.rank() == 2 ? product : reshape(product, b.shape(), at);
  } else {
    all[1] = sum_to(matmul(flipped(a, at), g, at), b.shape(), at);
  }
  return all;
}

Tensor activation_derivative(Activation activation, const Tensor& a, const Tensor& g, Where at) {
  switch (activation) {
    case Activation::relu: return where(greater(a, 0.0, at), g, 0.0, at);
    case Activation::gelu: return mul(g, gelu_derivative(a, at), at);
    case Activation::gelu_tanh: return mul(g, gelu_tanh_derivative(a, at), at);
    case Activation::silu: return mul(g, silu_derivative(a, at), at);
    default: return g;
  }
}

/// The gradient of the value before the activation, which is computed again.
Tensor before_activation(const GradientContext& c) {
  const Where at = c.where;
  const auto activation = static_cast<Activation>(c.node.fixed()[0]);
  if (activation == Activation::none) return c.g();
  const Tensor bias = c.node.fixed()[1] != 0 ? c.inputs[2] : Tensor();
  const Tensor before = linear(c.inputs[0], c.inputs[1], bias, Activation::none, {}, at);
  return activation_derivative(activation, before, c.g(), at);
}

/// Whether a matrix is the transpose of what is in memory, as weights of [in, out] are for linear.
bool is_turned(const Tensor& a) {
  const Node* node = a.node();
  while (node->op == Op::cast && !node->inputs().empty()) node = node->input(0).get();
  return node->op == Op::permute && a.rank() == 2 && node->fixed()[0] == 1;
}

/// The gradient of linear's weight, laid as the weight is, so that what it is transposed to for an
/// [in, out] weight has its elements in order.
Tensor weight_gradient(const Tensor& g, const Tensor& x, const Tensor& weight, Where at) {
  if (is_turned(weight)) return flipped(matmul(flipped(x, at), g, at), at);
  return matmul(flipped(g, at), x, at);
}

Gradients linear_gradient(const GradientContext& c) {
  const Where at = c.where;
  const Tensor &x = c.inputs[0], &weight = c.inputs[1];
  const bool has_bias = c.node.fixed()[1] != 0, has_residual = c.node.fixed()[2] != 0;
  Gradients all(c.inputs.size());
  if (has_residual && c.wanted[all.size() - 1]) all.back() = c.g();
  const bool wants_bias = has_bias && c.wanted[2];
  if (!c.wanted[0] && !c.wanted[1] && !wants_bias) return all;

  const Tensor g = before_activation(c);
  if (c.wanted[0]) {
    const Tensor dx = matmul(as_rows(g, at), weight, at);
    all[0] = x.rank() == 2 ? dx : reshape(dx, x.shape(), at);
  }
  if (c.wanted[1]) all[1] = weight_gradient(as_rows(g, at), as_rows(x, at), weight, at);
  if (wants_bias) all[2] = sum_to(g, c.inputs[2].shape(), at);
  return all;
}

/// A node of `op` on g and the operands of the forward node, with its attributes.
NodeRef record_gradient(Op op, const GradientContext& c, std::span<const NodeRef> inputs,
                        const Tensor& like) {
  return record({.op = op,
                 .dtype = like.dtype(),
                 .shape = like.shape(),
                 .inputs = inputs,
                 .fixed = c.node.fixed(),
                 .slots = c.node.slots(),
                 .where = c.where});
}

std::vector<NodeRef> g_and_operands(const GradientContext& c) {
  std::vector<NodeRef> inputs{c.g().ref()};
  for (const Tensor& input : c.inputs) inputs.push_back(input.ref());
  return inputs;
}

/// The results of a gradient node, each for the forward operand of its place.
Gradients picks(const NodeRef& node, const GradientContext& c) {
  Gradients all(c.inputs.size());
  for (std::size_t i = 0; i < result_count(*node); ++i)
    if (c.wanted[i]) all[i] = pick_result(node, i, c.where);
  return all;
}

Gradients softmax_gradient(const GradientContext& c) {
  const Op op = c.node.op == Op::softmax ? Op::softmax_grad : Op::log_softmax_grad;
  const std::array inputs{c.g().ref(), c.result.ref()};
  return {Tensor(record_gradient(op, c, inputs, c.inputs[0]))};
}

Gradients norm_gradient(const GradientContext& c) {
  const Op op = c.node.op == Op::layer_norm ? Op::layer_norm_grad : Op::rms_norm_grad;
  return picks(record_gradient(op, c, g_and_operands(c), c.inputs[0]), c);
}

Gradients cross_entropy_gradient(const GradientContext& c) {
  Gradients all(c.inputs.size());
  if (c.wanted[0])
    all[0] = Tensor(record_gradient(Op::cross_entropy_grad, c, g_and_operands(c), c.inputs[0]));
  return all;
}

Gradients dropout_gradient(const GradientContext& c) {
  // The same draw, applied to g.
  const NodeRef input = c.g().ref();
  return {Tensor(record_gradient(Op::dropout, c, {&input, 1}, c.inputs[0]))};
}

/// The gradient of an additive mask: that of the scores, summed where the mask was broadcast.
Tensor mask_gradient(const GradientContext& c) {
  const Tensor& mask = c.inputs[3];
  std::vector<Tensor> operands{c.g()};
  operands.insert(operands.end(), c.inputs.begin(), c.inputs.end());
  const Tensor scores = attention_score_gradient({c.node, operands, c.where});
  return in_dtype(sum_to(scores, mask.shape(), c.where), mask.dtype(), c.where);
}

Gradients attention_gradient(const GradientContext& c) {
  Gradients all(c.inputs.size());
  if (c.wanted[0] || c.wanted[1] || c.wanted[2])
    all = picks(record_gradient(Op::attention_grad, c, g_and_operands(c), c.inputs[0]), c);
  if (all.size() > 3 && c.wanted[3] && is_floating(c.inputs[3].dtype()) &&
      c.inputs[1].shape()[2] != 0)
    all[3] = mask_gradient(c);
  return all;
}

}  // namespace

GradientRule nn_gradient_rule(Op op) {
  switch (op) {
    case Op::matmul: return matmul_gradient;
    case Op::linear: return linear_gradient;
    case Op::softmax:
    case Op::log_softmax: return softmax_gradient;
    case Op::layer_norm:
    case Op::rms_norm: return norm_gradient;
    case Op::cross_entropy: return cross_entropy_gradient;
    case Op::dropout: return dropout_gradient;
    case Op::attention: return attention_gradient;
    default: return nullptr;
  }
}

}  // namespace sinter
