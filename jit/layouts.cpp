#include "jit/layouts.h"

#include <algorithm>
#include <utility>

#include "jit/live_values.h"

namespace sinter::jit {
namespace {

/// A Layout outlives the trace.
void forget_nodes_of_trace(Primitives& primitives) {
  for (Primitive& primitive : primitives.steps)
    if (primitive.whole) primitive.node = nullptr;
}

}  // namespace

Layouts::Layouts(Layout first, const Plan& plan, const Trace& trace) {
  add(std::move(first), plan, trace);
}

const PlanLayout* Layouts::find(const std::vector<std::int64_t>& key) {
  for (std::size_t i = layouts_.size(); i-- > 0;) {
    if (layouts_[i]->layout.key != key) continue;
    const auto found = layouts_.begin() + static_cast<std::ptrdiff_t>(i);
    std::rotate(found, found + 1, layouts_.end());
    return layouts_.back().get();
  }
  return nullptr;
}

const PlanLayout* Layouts::take(Layout& made, const Plan& plan, const Trace& trace) {
  if (!same_parts(layouts_.back()->layout.primitives, made.primitives)) return nullptr;
  if (layouts_.size() == most_layouts) layouts_.erase(layouts_.begin());
  add(std::move(made), plan, trace);
  return layouts_.back().get();
}

const PlanLayout* Layouts::find(const Trace& trace, const Plan& plan) {
  if (const PlanLayout* known = find(layout_key(trace))) return known;
  Layout made = make_layout(trace);
  return take(made, plan, trace);
}

void Layouts::add(Layout layout, const Plan& plan, const Trace& trace) {
  forget_nodes_of_trace(layout.primitives);
  MemoryPlan memory = plan_memory(LiveValues(plan, layout, trace));
  layouts_.push_back(
      std::make_unique<PlanLayout>(PlanLayout{std::move(layout), std::move(memory)}));
}

}  // namespace sinter::jit
