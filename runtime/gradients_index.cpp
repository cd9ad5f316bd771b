#include <array>

#include "runtime/attributes.h"
#include "runtime/creation.h"
#include "runtime/gradients.h"
#include "runtime/indexing.h"
#include "runtime/record.h"
#include "runtime/views.h"

namespace sinter {
namespace {

std::int64_t axis_of(const GradientContext& context) { return context.node.fixed()[0]; }

Tensor zeros_of(const Tensor& a, Where at) { return zeros(a.shape(), a.dtype(), at); }

/// The box of `shape` in `g` at `starts`, every `steps`-th place.
Tensor box(const Tensor& g, const Shape& shape, std::span<const std::int64_t> steps,
           std::span<const Slot> starts, Where at) {
  const NodeRef input = g.ref();
  return record_op({.op = Op::slice,
                    .dtype = g.dtype(),
                    .shape = shape,
                    .inputs = {&input, 1},
                    .fixed = steps,
                    .slots = starts,
                    .where = at});
}

std::vector<Tensor> take_gradient(const GradientContext& context) {
  const Tensor &a = context.inputs[0], &indices = context.inputs[1];
  // The axes of the indices become one, as index_add takes them.
  Shape source = a.shape();
  source[static_cast<int>(axis_of(context))] = indices.element_count();
  return {index_add(zeros_of(a, context.where), axis_of(context), flatten(indices, context.where),
                    reshape(context.g(), source, context.where), context.where),
          {}};
}

std::vector<Tensor> index_add_gradient(const GradientContext& context) {
  Tensor source;
  if (context.wanted[2])
    source = take(context.g(), context.inputs[1], axis_of(context), context.where);
  return {context.g(), {}, source};
}

std::vector<Tensor> gather_gradient(const GradientContext& context) {
  const Tensor zero = zeros_of(context.inputs[0], context.where);
  return {scatter_add(zero, axis_of(context), context.inputs[1], context.g(), context.where), {}};
}

std::vector<Tensor> scatter_add_gradient(const GradientContext& context) {
  Tensor source;
  if (context.wanted[2])
    source = gather(context.g(), axis_of(context), context.inputs[1], context.where);
  return {context.g(), {}, source};
}

std::vector<Tensor> slice_update_gradient(const GradientContext& context) {
  const auto slots = context.node.slots();
  const Tensor& update = context.inputs[1];
  std::vector<Tensor> gradients(2);
  if (context.wanted[0]) {
    Dims starts;
    for (const Slot& slot : slots) starts.push_back(slot.integer);
    gradients[0] = slice_update(context.g(), zeros_of(update, context.where), starts,
                                Dims(context.node.fixed()), context.where);
  }
  if (context.wanted[1])
    gradients[1] = box(context.g(), update.shape(), context.node.fixed(), slots, context.where);
  return gradients;
}

std::vector<Tensor> concatenate_gradient(const GradientContext& context) {
  std::vector<Tensor> gradients(context.inputs.size());
  std::int64_t start = 0;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const std::int64_t length = context.inputs[i].size(axis_of(context));
    if (context.wanted[i])
      gradients[i] = narrow(context.g(), axis_of(context), start, length, context.where);
    start += length;
  }
  return gradients;
}

std::vector<Tensor> pad_gradient(const GradientContext& context) {
  const Shape& shape = context.inputs[0].shape();
  const std::vector<std::int64_t> steps(static_cast<std::size_t>(shape.rank()), 1);
  return {box(context.g(), shape, steps, context.node.slots().subspan(1), context.where)};
}

std::vector<Tensor> cumsum_gradient(const GradientContext& context) {
  // Element i is in the sums from i on: the running sum from the other end.
  const Dims axis{axis_of(context)};
  const Tensor reversed = flip(context.g(), axis, context.where);
  return {flip(cumsum(reversed, axis[0], context.where), axis, context.where)};
}

/// sort and topk: the gradients go back to where the values came from.
std::vector<Tensor> order_gradient(const GradientContext& context) {
  if (!context.g().defined()) return {Tensor()};
  // Position gradients do not exist; the positions themselves are result 1 of the node.
  const NodeRef node = context.result.ref();
  const Tensor positions = pick_result(node, 1, context.where);
  return {scatter_add(zeros_of(context.inputs[0], context.where), axis_of(context), positions,
                      context.g(), context.where)};
}

}  // namespace

GradientRule index_gradient_rule(Op op) {
  switch (op) {
    case Op::take: return take_gradient;
    case Op::index_add: return index_add_gradient;
    case Op::gather: return gather_gradient;
    case Op::scatter_add: return scatter_add_gradient;
    case Op::slice_update: return slice_update_gradient;
    case Op::concatenate: return concatenate_gradient;
    case Op::pad: return pad_gradient;
    case Op::cumsum: return cumsum_gradient;
    case Op::sort:
    case Op::topk: return order_gradient;
    default: return nullptr;
  }
}

}  // namespace sinter
