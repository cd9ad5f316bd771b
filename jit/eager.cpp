#include "jit/eager.h"

namespace sinter::jit {

EagerKernel eager_kernel(Op op) {
  if (info(op).kind == OpKind::elementwise) return {run_elementwise, true};
  switch (op) {
    case Op::cast: return {run_cast, false};
    case Op::foreach_map: return {run_foreach_map, true};
    case Op::constant: return {run_constant, false};
    case Op::arange: return {run_arange, false};
    case Op::random_uniform:
    case Op::random_normal:
    case Op::random_bits: return {run_random, false};
    case Op::sum:
    case Op::prod:
    case Op::amax:
    case Op::amin:
    case Op::any:
    case Op::all:
    case Op::mean:
    case Op::var:
    case Op::logsumexp:
    case Op::norm: return {run_reduce, false};
    case Op::argmax:
    case Op::argmin: return {run_arg_reduce, false};
    case Op::concatenate: return {run_concatenate, false};
    case Op::pad: return {run_pad, false};
    case Op::slice_update: return {run_slice_update, false};
    case Op::take: return {run_take, false};
    case Op::index_add: return {run_index_add, false};
    case Op::gather: return {run_gather, false};
    case Op::scatter_add: return {run_scatter_add, false};
    case Op::cumsum: return {run_cumsum, false};
    case Op::sort:
    case Op::topk: return {run_sort, false};
    case Op::matmul: return {run_matmul, false};
    case Op::linear: return {run_linear, false};
    case Op::softmax:
    case Op::log_softmax: return {run_softmax, false};
    case Op::softmax_grad:
    case Op::log_softmax_grad: return {run_softmax_grad, false};
    case Op::layer_norm: return {run_layer_norm, false};
    case Op::layer_norm_grad: return {run_layer_norm_grad, false};
    case Op::rms_norm: return {run_rms_norm, false};
    case Op::rms_norm_grad: return {run_rms_norm_grad, false};
    case Op::cross_entropy: return {run_cross_entropy, false};
    case Op::cross_entropy_grad: return {run_cross_entropy_grad, false};
    case Op::dropout: return {run_dropout, true};
    case Op::attention: return {run_attention, false};
    case Op::attention_grad: return {run_attention_grad, false};
    default: return {};
  }
}

}  // namespace sinter::jit
