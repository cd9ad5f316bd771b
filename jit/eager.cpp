#include "jit/eager.h"

namespace sinter::jit {

EagerKernel eager_kernel(Op op) {
  if (info(op).kind == OpKind::elementwise) return {run_elementwise, InPlace::any_input};
  switch (op) {
    case Op::cast: return {run_cast};
    case Op::foreach_map: return {run_foreach_map, InPlace::own_position};
    case Op::constant: return {run_constant};
    case Op::arange: return {run_arange};
    case Op::random_uniform:
    case Op::random_normal:
    case Op::random_bits: return {run_random};
    case Op::sum:
    case Op::prod:
    case Op::amax:
    case Op::amin:
    case Op::any:
    case Op::all:
    case Op::mean:
    case Op::var:
    case Op::logsumexp:
    case Op::norm: return {run_reduce};
    case Op::argmax:
    case Op::argmin: return {run_arg_reduce};
    case Op::concatenate: return {run_concatenate};
    case Op::pad: return {run_pad};
    case Op::slice_update: return {run_slice_update};
    case Op::take: return {run_take};
    case Op::index_add: return {run_index_add};
    case Op::gather: return {run_gather};
    case Op::scatter_add: return {run_scatter_add};
    case Op::cumsum: return {run_cumsum};
    case Op::sort:
    case Op::topk: return {run_sort};
    case Op::matmul: return {run_matmul};
    case Op::linear: return {run_linear};
    case Op::softmax:
    case Op::log_softmax: return {run_softmax};
    case Op::softmax_grad:
    case Op::log_softmax_grad: return {run_softmax_grad};
    case Op::layer_norm: return {run_layer_norm};
    case Op::layer_norm_grad: return {run_layer_norm_grad};
    case Op::rms_norm: return {run_rms_norm};
    case Op::rms_norm_grad: return {run_rms_norm_grad};
    case Op::cross_entropy: return {run_cross_entropy};
    case Op::cross_entropy_grad: return {run_cross_entropy_grad};
    case Op::dropout: return {run_dropout, InPlace::any_input};
    case Op::attention: return {run_attention};
    case Op::attention_grad: return {run_attention_grad};
    default: return {};
  }
}

}  // namespace sinter::jit
