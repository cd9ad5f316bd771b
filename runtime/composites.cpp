#include "runtime/composites.h"

#include "runtime/composites_parts.h"
#include "runtime/record.h"

namespace sinter {
namespace {

Composite composite(Op op) {
  for (const auto subject :
       {reduction_composite, norm_composite, loss_composite, product_composite})
    if (const Composite found = subject(op)) return found;
  return nullptr;
}

}  // namespace

Tensor CompositeContext::wide(std::size_t i) const {
  return in_dtype(inputs[i], compute_dtype(inputs[i].dtype()), where);
}

Tensor CompositeContext::draw(std::size_t slot, const Shape& shape) const {
  return record_op({.op = Op::random_uniform,
                    .dtype = DType::f32,
                    .shape = shape,
                    .inputs = {},
                    .slots = node.slots().subspan(slot),
                    .differentiable = false,
                    .where = where});
}

Tensor CompositeContext::narrow(const Tensor& a) const { return in_dtype(a, node.dtype, where); }

bool has_decomposition(Op op) { return composite(op) != nullptr; }

std::vector<Tensor> decompose(const Node& node, std::span<const Tensor> inputs, Where where) {
  const Composite found = composite(node.op);
  invariant(found != nullptr, "an op that is no composite was to be decomposed");
  return found({node, inputs, where});
}

}  // namespace sinter
