#include "runtime/results.h"

#include "runtime/foreach_body.h"

namespace sinter {
namespace {

Result like(const NodeRef& node) { return {node->dtype, node->shape}; }

const ForeachTrace& body_of(const Node& node) {
  return static_cast<const ForeachTrace&>(*node.payload);
}

Result foreach_result(const Node& node, std::size_t index) {
  const ForeachTrace& body = body_of(node);
  const auto length = static_cast<std::size_t>(node.fixed()[1]);
  const std::size_t position = index % length;
  Shape shape;
  for (std::size_t list = 0; list < static_cast<std::size_t>(body.lists); ++list)
    if (const Shape& own = node.inputs()[list * length + position]->shape; !own.empty())
      shape = own;
  return {body.dtype_of_value(body.results[index / length]), shape};
}

}  // namespace

bool has_several_results(Op op) {
  switch (op) {
    case Op::sort:
    case Op::topk:
    case Op::attention_grad:
    case Op::layer_norm_grad:
    case Op::rms_norm_grad:
    case Op::foreach_map: return true;
    default: return false;
  }
}

std::size_t result_count(const Node& node) {
  switch (node.op) {
    case Op::sort:
    case Op::topk: return 2;
    case Op::attention_grad: return 3;
    // Inputs: the gradient of the result, then the operands of the forward op.
    case Op::layer_norm_grad:
    case Op::rms_norm_grad: return node.inputs().size() - 1;
    case Op::foreach_map:
      return body_of(node).results.size() * static_cast<std::size_t>(node.fixed()[1]);
    default: return 1;
  }
}

Result result_of(const Node& node, std::size_t index) {
  if (node.op == Op::foreach_map) return foreach_result(node, index);
  if (index == 0) return {node.dtype, node.shape};
  if (node.op == Op::sort || node.op == Op::topk) return {i64, node.shape};
  return like(node.inputs()[index + 1]);  // of the operand that it is the gradient of
}

}  // namespace sinter
