/// \file
/// The values that are in memory while a Plan runs, found by the operands of its primitives.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/alias.h"
#include "jit/layout.h"
#include "jit/plan_values.h"
#include "jit/value_memory.h"

namespace sinter::jit {

class LiveValues {
 public:
  /// Refers to all three while it lives.
  LiveValues(const Plan& plan, const Layout& layout, const Trace& trace)
      : plan_(plan), primitives_(layout.primitives), trace_(trace), values_(plan.value_count) {}

  const Plan& plan() const { return plan_; }
  const Primitives& primitives() const { return primitives_; }
  const Trace& trace() const { return trace_; }

  /// The node of a primitive; of one that is a step of the trace, the current trace's.
  const Node& node(PrimitiveId i) const {
    const Primitive& primitive = primitives_.steps[i];
    return primitive.whole ? *trace_.steps[primitive.origin] : *primitive.node;
  }
  const Node& node(Operand o) const { return o.leaf ? *trace_.leaves[o.index] : node(o.index); }
  const Shape& shape(Operand o) const { return node(o).shape; }
  DType dtype(Operand o) const { return node(o).dtype; }

  /// One of a primitive's results.
  Result result(PrimitiveId i, std::uint32_t r) const {
    if (result_count_of(plan_, i) > 1) return result_of(node(i), r);
    return {node(i).dtype, node(i).shape};
  }

  /// By value number; empty where it has not been computed or is gone.
  Value& operator[](std::uint32_t number) { return values_[number]; }
  const Value& operator[](std::uint32_t number) const { return values_[number]; }

  /// What has the elements of an operand: a leaf, or a value, by number.
  Source base_of(Operand o) const { return o.leaf ? o : plan_.bases[o.index]; }

  const StorageRef& storage_of(Operand o) const {
    const Source base = base_of(o);
    const Value& value = base.leaf ? trace_.leaves[base.index]->value() : values_[base.index];
    invariant(static_cast<bool>(value), "a value is read that is not there");
    return value.storage;
  }
  /// Where in the storage its elements are.
  Placement placement_of(Operand o) const {
    if (o.leaf) return jit::placement_of(trace_.leaves[o.index]->value());
    const Node& n = node(o.index);
    if (!plan_.shows[o.index] || n.op == Op::pick)
      return jit::placement_of(values_[plan_.bases[o.index].index]);
    const Operand shown = primitives_.operands_of(o.index)[0];
    return *alias(n, shape(shown), placement_of(shown));
  }
  Value value_of(Operand o) const {
    const Placement place = placement_of(o);
    return {storage_of(o), place.offset, place.strides};
  }
  kernels::ConstView view(Operand o) const {
    const Placement place = placement_of(o);
    std::byte* const first = storage_of(o)->data();
    return {first + place.offset * static_cast<std::int64_t>(item_size(dtype(o))), dtype(o),
            shape(o), place.strides};
  }

 private:
  const Plan& plan_;
  const Primitives& primitives_;
  const Trace& trace_;
  std::vector<Value> values_;
};

}  // namespace sinter::jit
