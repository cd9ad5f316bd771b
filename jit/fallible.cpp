#include "jit/fallible.h"

#include <algorithm>

#include "runtime/foreach_body.h"

namespace sinter::jit {
namespace {

/// Of the elementwise ops only the integer forms can.
bool op_can_fail(Op op, DType compute) {
  return can_fail_on_data(op) && (info(op).kind != OpKind::elementwise || !is_floating(compute));
}

}  // namespace

bool can_fail(const Node& node) {
  if (node.op == Op::foreach_map) {
    const auto& body = static_cast<const ForeachTrace&>(*node.payload);
    return std::any_of(body.steps.begin(), body.steps.end(),
                       [](const ForeachStep& step) { return op_can_fail(step.op, step.compute); });
  }
  return op_can_fail(node.op, node.dtype);
}

}  // namespace sinter::jit
