#include "jit/fuse_candidate.h"

#include "jit/reading.h"

namespace sinter::jit {
namespace {

bool is_empty(const Shape& shape) { return element_count(shape) == 0; }

/// Of the elementwise ops only the integer forms can fail on data.
bool is_elementwise(const Node& node) {
  if (node.op == Op::cast) return true;
  if (info(node.op).kind != OpKind::elementwise) return false;
  return !can_fail_on_data(node.op) || is_floating(node.dtype);
}

/// Of a gather.
bool is_last_axis(const Node& node, const Shape& from) {
  return node.fixed()[0] == from.rank() - 1 && node.shape.back() == 1 && from.back() != 1;
}

/// Of a take: whether several indices pick slices along the first axis.
bool takes_slices(const Node& node, const Shape& indices) {
  const int axes = wide_sizes(indices).rank();
  return node.fixed()[0] == 0 && axes > 0 && wide_sizes(node.shape).rank() > axes;
}

}  // namespace

bool is_fold(Op op) { return op == Op::sum || op == Op::prod || op == Op::amax || op == Op::amin; }

bool may_join(const Trace& trace, const Primitives& primitives, PrimitiveId i) {
  const Node& n = *primitives.steps[i].node;
  if (is_empty(n.shape) || is_inlined(n) || primitives.gathered[i]) return false;
  const auto operands = primitives.operands_of(i);
  for (const Operand o : operands)
    if (is_empty(shape_of(trace, primitives, o))) return false;
  if (is_elementwise(n) || n.op == Op::random_uniform) return true;
  if (n.op == Op::gather) return is_last_axis(n, shape_of(trace, primitives, operands[0]));
  if (n.op == Op::take) return takes_slices(n, shape_of(trace, primitives, operands[1]));
  return is_fold(n.op) && n.fixed()[0] != 0;
}

}  // namespace sinter::jit
