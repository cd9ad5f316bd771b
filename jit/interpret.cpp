#include "jit/interpret.h"

#include "jit/interpret_subjects.h"

namespace sinter::jit {
namespace {

StepFunction interpret_view(Op op) {
  switch (op) {
    case Op::reshape:
    case Op::detach:
    case Op::custom_gradient: return interpret_copy;
    case Op::permute: return interpret_permute;
    case Op::expand: return interpret_expand;
    case Op::slice: return interpret_slice;
    default: return nullptr;
  }
}

StepFunction interpret_movement(Op op) {
  switch (op) {
    case Op::cast: return interpret_cast;
    case Op::concatenate: return interpret_concatenate;
    case Op::pad: return interpret_pad;
    case Op::slice_update: return interpret_slice_update;
    case Op::take: return interpret_take;
    case Op::index_add: return interpret_index_add;
    case Op::gather: return interpret_gather;
    case Op::scatter_add: return interpret_scatter_add;
    case Op::cumsum: return interpret_cumsum;
    case Op::sort:
    case Op::topk: return interpret_sort;
    default: return nullptr;
  }
}

StepFunction interpret_composite(Op op) {
  switch (op) {
    case Op::mean:
    case Op::var:
    case Op::logsumexp:
    case Op::norm: return interpret_reduce;
    case Op::softmax:
    case Op::log_softmax: return interpret_softmax;
    case Op::softmax_grad:
    case Op::log_softmax_grad: return interpret_softmax_grad;
    case Op::layer_norm:
    case Op::rms_norm: return interpret_norm;
    case Op::layer_norm_grad:
    case Op::rms_norm_grad: return interpret_norm_grad;
    case Op::cross_entropy: return interpret_cross_entropy;
    case Op::cross_entropy_grad: return interpret_cross_entropy_grad;
    case Op::dropout: return interpret_dropout;
    default: return nullptr;
  }
}

StepFunction interpret_library(Op op) {
  switch (op) {
    case Op::matmul: return interpret_matmul;
    case Op::linear: return interpret_linear;
    case Op::attention: return interpret_attention;
    case Op::attention_grad: return interpret_attention_grad;
    default: return nullptr;
  }
}

StepFunction interpreter_of(Op op) {
  switch (info(op).kind) {
    case OpKind::elementwise: return interpret_elementwise;
    case OpKind::foreach: return interpret_foreach_map;
    case OpKind::generator:
      if (op == Op::constant) return interpret_constant;
      return op == Op::arange ? interpret_arange : interpret_random;
    case OpKind::reduction:
      return op == Op::argmax || op == Op::argmin ? interpret_arg_reduce : interpret_reduce;
    case OpKind::leaf:
    case OpKind::view: return interpret_view(op);
    case OpKind::movement: return interpret_movement(op);
    case OpKind::composite: return interpret_composite(op);
    case OpKind::library: return interpret_library(op);
  }
  return nullptr;
}

}  // namespace

void interpret(const Step& step) {
  const StepFunction run = interpreter_of(step.node.op);
  // data and pick hold values that are there already: no step computes them.
  invariant(run != nullptr, "an op without a meaning was interpreted");
  run(step);
}

}  // namespace sinter::jit
