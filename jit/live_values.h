/// \file
/// The values that are in memory while a Plan runs, found by the operands of its primitives.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/layout.h"
#include "jit/plan.h"
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

  std::uint32_t result_count_of(PrimitiveId i) const {
    const std::uint32_t end =
        i + 1 < plan_.first_value.size() ? plan_.first_value[i + 1] : plan_.value_count;
    return end - plan_.first_value[i];
  }
  /// One of a primitive's results.
  Result result(PrimitiveId i, std::uint32_t r) const {
    if (result_count_of(i) > 1) return result_of(node(i), r);
    return {node(i).dtype, node(i).shape};
  }

  /// By value number; empty where it has not been computed or is gone.
  Value& operator[](std::uint32_t number) { return values_[number]; }
  const Value& operator[](std::uint32_t number) const { return values_[number]; }

  const Value& value_of(Operand o) const {
    const Value& value =
        o.leaf ? trace_.leaves[o.index]->value() : values_[plan_.first_value[o.index]];
    invariant(static_cast<bool>(value), "a value is read that is not there");
    return value;
  }
  kernels::ConstView view(Operand o) const {
    const Value& value = value_of(o);
    return {address(value, dtype(o)), dtype(o), shape(o), value.strides};
  }

 private:
  const Plan& plan_;
  const Primitives& primitives_;
  const Trace& trace_;
  std::vector<Value> values_;
};

}  // namespace sinter::jit
