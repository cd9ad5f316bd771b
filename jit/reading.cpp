#include "jit/reading.h"

#include <optional>

namespace sinter::jit {
namespace {

/// For each axis of a view's input the axis of the view, -1 where its size is 1; nothing where the
/// view does more than add, drop and broadcast axes of size 1.
std::optional<Dims> axes_through(const Node& view, const Shape& input) {
  Dims axes = Dims::filled(input.rank(), -1);
  if (view.op == Op::expand) {
    for (int i = 0; i < input.rank(); ++i)
      if (input[i] != 1) axes[i] = i + view.shape.rank() - input.rank();
    return axes;
  }
  if (view.op != Op::reshape) return std::nullopt;
  for (int i = 0; i < view.shape.rank(); ++i) {
    const std::int64_t from = view.fixed()[static_cast<std::size_t>(i)];
    if (view.shape[i] == 1) continue;
    if (from < 0) return std::nullopt;
    axes[static_cast<int>(from)] = i;
  }
  for (int i = 0; i < input.rank(); ++i)
    if (input[i] != 1 && axes[i] < 0) return std::nullopt;
  return axes;
}

}  // namespace

const Shape& reader_shape(const Trace& trace, const Primitives& primitives, PrimitiveId i) {
  const Node& n = *primitives.steps[i].node;
  if (info(n.op).kind == OpKind::reduction || n.op == Op::gather)
    return shape_of(trace, primitives, primitives.operands_of(i)[0]);
  return n.shape;
}

bool is_inlined(const Node& node) {
  return node.op == Op::constant || (node.op == Op::arange && !is_floating(node.dtype));
}

const Shape& shape_of(const Trace& trace, const Primitives& primitives, Operand o) {
  return o.leaf ? trace.leaves[o.index]->shape : primitives.steps[o.index].node->shape;
}

DType dtype_of(const Trace& trace, const Primitives& primitives, Operand o) {
  return o.leaf ? trace.leaves[o.index]->dtype : primitives.steps[o.index].node->dtype;
}

Dims wide_sizes(const Shape& shape) {
  Dims sizes;
  for (const std::int64_t size : shape)
    if (size != 1) sizes.push_back(size);
  return sizes;
}

Reading read_through(const Trace& trace, const Primitives& primitives, const Shape& reader,
                     Operand o) {
  const Shape* shape = &shape_of(trace, primitives, o);
  Dims axes;  // the reader's axis for each axis of `shape`, -1 where its size is 1
  for (int i = 0; i < shape->rank(); ++i)
    axes.push_back((*shape)[i] == 1 ? -1 : i + reader.rank() - shape->rank());
  while (!o.leaf) {
    const Node& view = *primitives.steps[o.index].node;
    if (view.op != Op::expand && view.op != Op::reshape) break;
    const Operand input = primitives.operands_of(o.index)[0];
    const Shape& inner = shape_of(trace, primitives, input);
    const auto through = axes_through(view, inner);
    if (!through) break;
    Dims next;
    for (int i = 0; i < inner.rank(); ++i)
      next.push_back((*through)[i] < 0 ? -1 : axes[static_cast<int>((*through)[i])]);
    axes = next;
    o = input;
    shape = &inner;
  }
  Reading reading{o, {}};
  if (!o.leaf && primitives.steps[o.index].node->op == Op::constant) return reading;
  for (int i = 0; i < shape->rank(); ++i) {
    if ((*shape)[i] == 1) continue;
    int wide = 0;
    for (int axis = 0; axis < axes[i]; ++axis) wide += reader[axis] != 1;
    reading.axes.push_back(wide);
  }
  return reading;
}

namespace {

/// A slice of the table for each index: the axes of the indices come first.
std::vector<Reading> readings_of_take(const Trace& trace, const Primitives& primitives,
                                      PrimitiveId i) {
  const Operand table = primitives.operands_of(i)[0], indices = primitives.operands_of(i)[1];
  const Shape& of_table = shape_of(trace, primitives, table);
  const Shape& of_indices = shape_of(trace, primitives, indices);
  Reading slices{table, {}};
  int axis = wide_sizes(of_indices).rank();
  for (int k = 1; k < of_table.rank(); ++k)
    if (of_table[k] != 1) slices.axes.push_back(axis++);
  return {slices, read_through(trace, primitives, of_indices, indices)};
}

}  // namespace

std::vector<Reading> readings_of(const Trace& trace, const Primitives& primitives, PrimitiveId i) {
  if (primitives.steps[i].node->op == Op::take) return readings_of_take(trace, primitives, i);
  std::vector<Reading> readings;
  const auto operands = primitives.operands_of(i);
  readings.reserve(operands.size());
  for (const Operand o : operands)
    readings.push_back(read_through(trace, primitives, reader_shape(trace, primitives, i), o));
  return readings;
}

std::vector<Operand> find_bases(const Trace& trace, const Primitives& primitives) {
  std::vector<Operand> bases;
  bases.reserve(primitives.steps.size());
  for (PrimitiveId i = 0; i < primitives.steps.size(); ++i) {
    const Node& n = *primitives.steps[i].node;
    Operand base = Operand::of_step(i);
    if (n.op == Op::expand || n.op == Op::reshape) {
      const Operand from = primitives.operands_of(i)[0];
      if (axes_through(n, shape_of(trace, primitives, from)))
        base = from.leaf ? from : bases[from.index];
    }
    bases.push_back(base);
  }
  return bases;
}

}  // namespace sinter::jit
