#include "jit/layout.h"

#include <algorithm>

#include "jit/gather_folds.h"
#include "jit/live_values.h"
#include "jit/simplify.h"

namespace sinter::jit {
namespace {

/// A composite's number that changes from step to step and is read when it is needed: the seed and
/// the ordinal of a draw.
bool is_drawn(const Node& node, std::size_t slot) { return node.op == Op::dropout && slot > 0; }

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
  return a.operands == b.operands && a.first_operand == b.first_operand && a.folds == b.folds &&
         std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(), same);
}

/// A Layout outlives the trace.
void forget_nodes_of_trace(Primitives& primitives) {
  for (Primitive& primitive : primitives.steps)
    if (primitive.whole) primitive.node = nullptr;
}

}  // namespace

Layout make_layout(const Trace& trace) {
  Layout layout{layout_key(trace), decompose_trace(trace), {}};
  simplify(trace, layout.primitives);
  gather_folds(trace, layout.primitives);
  return layout;
}

Layouts::Layouts(Layout first, const Plan& plan, const Trace& trace) {
  first.memory = plan_memory(LiveValues(plan, first, trace));
  forget_nodes_of_trace(first.primitives);
  layouts_.push_back(std::make_unique<Layout>(std::move(first)));
}

const Layout* Layouts::find(const Trace& trace, const Plan& plan) {
  const std::vector<std::int64_t> key = layout_key(trace);
  for (std::size_t i = layouts_.size(); i-- > 0;) {
    if (layouts_[i]->key != key) continue;
    const auto found = layouts_.begin() + static_cast<std::ptrdiff_t>(i);
    std::rotate(found, found + 1, layouts_.end());
    return layouts_.back().get();
  }
  auto made = std::make_unique<Layout>(make_layout(trace));
  forget_nodes_of_trace(made->primitives);
  if (!same_parts(layouts_.back()->primitives, made->primitives)) return nullptr;
  made->memory = plan_memory(LiveValues(plan, *made, trace));
  if (layouts_.size() == most_layouts) layouts_.erase(layouts_.begin());
  layouts_.push_back(std::move(made));
  return layouts_.back().get();
}

}  // namespace sinter::jit
