#include "runtime/results.h"

#include "runtime/foreach_body.h"

namespace sinter {
namespace {

Result like(const NodeRef& node) { return {node->dtype, node->shape}; }

std::vector<Result> foreach_results(const Node& node) {
  const auto& body = static_cast<const ForeachTrace&>(*node.payload);
  const std::size_t length = static_cast<std::size_t>(node.fixed()[1]);
  std::vector<Result> all;
  for (const int value : body.results) {
    for (std::size_t i = 0; i < length; ++i) {
      Shape shape;
      for (std::size_t list = 0; list < static_cast<std::size_t>(body.lists); ++list)
        if (const Shape& own = node.inputs()[list * length + i]->shape; !own.empty()) shape = own;
      all.push_back({body.dtype_of_value(value), shape});
    }
  }
  return all;
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

std::vector<Result> results(const Node& node) {
  const Result own{node.dtype, node.shape};
  switch (node.op) {
    case Op::sort:
    case Op::topk: return {own, {i64, node.shape}};
    // Inputs: the gradient of the result, then the operands of the forward op.
    case Op::attention_grad: return {own, like(node.input(2)), like(node.input(3))};
    case Op::layer_norm_grad:
    case Op::rms_norm_grad: {
      std::vector<Result> all{own};
      for (std::size_t i = 2; i < node.inputs().size(); ++i) all.push_back(like(node.inputs()[i]));
      return all;
    }
    case Op::foreach_map: return foreach_results(node);
    default: return {own};
  }
}

}  // namespace sinter
