#include "jit/layout.h"

#include <algorithm>

#include "jit/gather_folds.h"
#include "jit/simplify.h"

namespace sinter::jit {
namespace {

/// A composite's number that changes from step to step and is read when it is needed: the seed and
/// the ordinal of a draw.
bool is_drawn(const Node& node, std::size_t slot) { return node.op == Op::dropout && slot > 0; }

}  // namespace

std::vector<std::int64_t> layout_key(const Trace& trace) {
  std::vector<std::int64_t> key;
  key.reserve(4 * (trace.leaves.size() + trace.steps.size()));
  for (const Node* leaf : trace.leaves)
    key.insert(key.end(), leaf->shape.begin(), leaf->shape.end());
  for (const Node* step : trace.steps) {
    key.insert(key.end(), step->shape.begin(), step->shape.end());
    if (info(step->op).kind != OpKind::composite) continue;
    const auto slots = step->slots();
    for (std::size_t i = 0; i < slots.size(); ++i)
      if (!is_drawn(*step, i)) key.push_back(slots[i].integer);
  }
  return key;
}

bool same_parts(const Primitives& a, const Primitives& b) {
  const auto same = [](const Primitive& x, const Primitive& y) {
    if (x.origin != y.origin || x.whole != y.whole) return false;
    return x.whole || (x.node->op == y.node->op && x.node->dtype == y.node->dtype);
  };
  return a.operands == b.operands && a.same_as == b.same_as && a.first_operand == b.first_operand &&
         a.folds == b.folds &&
         std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(), same);
}

Layout make_layout(const Trace& trace) {
  Layout layout{layout_key(trace), decompose_trace(trace)};
  simplify(trace, layout.primitives);
  gather_folds(trace, layout.primitives);
  return layout;
}

}  // namespace sinter::jit
