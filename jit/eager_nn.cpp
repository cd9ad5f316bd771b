#include <array>

#include "jit/eager.h"
#include "kernels/attention.h"
#include "kernels/cross_entropy.h"
#include "kernels/dropout.h"
#include "kernels/gemm.h"
#include "kernels/norm.h"
#include "kernels/softmax.h"
#include "runtime/attributes.h"

namespace sinter::jit {
namespace {

using kernels::ConstView;
using kernels::View;

/// `a` as one of a stack of matrices with the leading axes of `shape`, repeated where it has fewer.
ConstView stacked(const ConstView& a, const Shape& shape) {
  ConstView view{a.data, a.dtype, shape, Strides::filled(shape.rank(), 0)};
  const int missing = shape.rank() - a.shape.rank();
  for (int axis = 0; axis < a.shape.rank(); ++axis) {
    const int to = axis + missing;
    const bool matrix = axis >= a.shape.rank() - 2;
    if (matrix) view.shape[to] = a.shape[axis];
    if (matrix || a.shape[axis] != 1) view.strides[to] = a.strides[axis];
  }
  return view;
}

/// At least two axes.
ConstView as_rows(const ConstView& a) {
  if (a.shape.rank() > 1) return a;
  return {a.data, a.dtype, {1, a.shape[0]}, {a.shape[0], a.strides[0]}};
}

std::uint64_t unsigned_slot(const Node& node, std::size_t i) {
  return static_cast<std::uint64_t>(node.slots()[i].integer);
}

/// The operands of a norm from input `first` on.
kernels::NormOperands norm_operands(const Step& step, std::size_t first) {
  const auto fixed = step.node.fixed();
  kernels::NormOperands operands;
  operands.x = step.inputs[first];
  operands.axes = static_cast<int>(fixed[0]);
  operands.epsilon = step.node.slots()[0].real;
  if (fixed[1] != 0) operands.weight = step.inputs[++first];
  if (fixed.size() > 2 && fixed[2] != 0) operands.bias = step.inputs[++first];
  return operands;
}

/// The operands of cross-entropy from input `first` on.
kernels::CrossEntropyOperands loss_operands(const Step& step, std::size_t first) {
  const Node& node = step.node;
  kernels::CrossEntropyOperands operands;
  operands.logits = step.inputs[first];
  operands.targets = step.inputs[first + 1];
  if (node.fixed()[1] != 0) operands.weight = step.inputs[first + 2];
  operands.reduction = static_cast<int>(node.fixed()[0]);
  operands.ignore_index = node.slots()[0].integer;
  operands.smoothing = node.slots()[1].real;
  return operands;
}

/// The operands of attention from input `first` on.
kernels::AttentionOperands attention_operands(const Step& step, std::size_t first) {
  const Node& node = step.node;
  kernels::AttentionOperands operands;
  operands.q = step.inputs[first];
  operands.k = step.inputs[first + 1];
  operands.v = step.inputs[first + 2];
  if (node.fixed()[1] != 0) operands.mask = step.inputs[first + 3];
  operands.causal = node.fixed()[0] != 0;
  operands.scale = node.slots()[0].real;
  operands.dropout = node.fixed()[2] != 0 ? node.slots()[1].real : 0;
  operands.seed = unsigned_slot(node, 2);
  operands.ordinal = unsigned_slot(node, 3);
  return operands;
}

}  // namespace

void run_matmul(const Step& step) {
  const View& out = step.outputs[0];
  kernels::matmul(stacked(step.inputs[0], out.shape), stacked(step.inputs[1], out.shape), out);
}

// The attribute is given to the kernel as it is.
static_assert(
    static_cast<int>(kernels::LinearActivation::relu) == static_cast<int>(Activation::relu) &&
    static_cast<int>(kernels::LinearActivation::gelu) == static_cast<int>(Activation::gelu) &&
    static_cast<int>(kernels::LinearActivation::gelu_tanh) ==
        static_cast<int>(Activation::gelu_tanh) &&
    static_cast<int>(kernels::LinearActivation::silu) == static_cast<int>(Activation::silu));

void run_linear(const Step& step) {
  const auto fixed = step.node.fixed();
  const bool has_bias = fixed[1] != 0, has_residual = fixed[2] != 0;
  const ConstView& stored = step.inputs[1];
  const ConstView weight{stored.data,
                         stored.dtype,
                         {stored.shape[1], stored.shape[0]},
                         {stored.strides[1], stored.strides[0]}};
  ConstView residual;
  if (has_residual) residual = as_rows(step.inputs.back());
  View out = step.outputs[0];
  if (out.shape.rank() == 1)
    out = {out.data, out.dtype, {1, out.shape[0]}, {out.shape[0], out.strides[0]}};
  kernels::linear(as_rows(step.inputs[0]), weight, has_bias ? &step.inputs[2] : nullptr,
                  static_cast<kernels::LinearActivation>(fixed[0]),
                  has_residual ? &residual : nullptr, out);
}

void run_softmax(const Step& step) {
  const auto kind =
      step.node.op == Op::softmax ? kernels::SoftmaxKind::plain : kernels::SoftmaxKind::logarithm;
  kernels::softmax(kind, step.inputs[0], static_cast<int>(step.node.fixed()[0]), step.outputs[0]);
}

void run_softmax_grad(const Step& step) {
  const auto kind = step.node.op == Op::softmax_grad ? kernels::SoftmaxKind::plain
                                                     : kernels::SoftmaxKind::logarithm;
  kernels::softmax_grad(kind, step.inputs[0], step.inputs[1],
                        static_cast<int>(step.node.fixed()[0]), step.outputs[0]);
}

void run_layer_norm(const Step& step) {
  kernels::layer_norm(norm_operands(step, 0), step.outputs[0]);
}

void run_rms_norm(const Step& step) { kernels::rms_norm(norm_operands(step, 0), step.outputs[0]); }

void run_layer_norm_grad(const Step& step) {
  const auto fixed = step.node.fixed();
  std::size_t next = 1;
  const View dweight = fixed[1] != 0 ? step.outputs[next++] : View{};
  const View dbias = fixed[2] != 0 ? step.outputs[next] : View{};
  kernels::layer_norm_grad(step.inputs[0], norm_operands(step, 1), step.outputs[0], dweight, dbias);
}

void run_rms_norm_grad(const Step& step) {
  kernels::rms_norm_grad(step.inputs[0], norm_operands(step, 1), step.outputs[0],
                         step.node.fixed()[1] != 0 ? step.outputs[1] : View{});
}

void run_cross_entropy(const Step& step) {
  kernels::cross_entropy(loss_operands(step, 0), step.outputs[0], step.fault);
}

void run_cross_entropy_grad(const Step& step) {
  kernels::cross_entropy_grad(step.inputs[0], loss_operands(step, 1), step.outputs[0], step.fault);
}

void run_dropout(const Step& step) {
  kernels::dropout(step.inputs[0], step.node.slots()[0].real, unsigned_slot(step.node, 1),
                   unsigned_slot(step.node, 2), step.outputs[0]);
}

void run_attention(const Step& step) {
  kernels::attention(attention_operands(step, 0), step.outputs[0]);
}

void run_attention_grad(const Step& step) {
  kernels::attention_grad(step.inputs[0], attention_operands(step, 1), step.outputs[0],
                          step.outputs[1], step.outputs[2]);
}

}  // namespace sinter::jit
