/// \file
/// Layouts: the sizes a Plan has run with lately, and where its values lie in memory for each.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "jit/layout.h"
#include "jit/memory_plan.h"
#include "jit/plan.h"

namespace sinter::jit {

struct PlanLayout {
  Layout layout;
  MemoryPlan memory;
};

/// The layouts of one Plan, those that were used last. Guarded by the launch lock.
class Layouts {
 public:
  /// Takes the one the Plan was made from, of this trace.
  Layouts(Layout first, const Plan& plan, const Trace& trace);

  /// The layout with the key, or null. The trace's own nodes are not in it: they are the current
  /// trace's.
  const PlanLayout* find(const std::vector<std::int64_t>& key);
  /// Keeps a layout whose composites have the Plan's parts. \return null for one with other parts,
  /// which is left as it is.
  const PlanLayout* take(Layout& made, const Plan& plan, const Trace& trace);
  /// The layout for the trace; null where its composites have other parts than the Plan's.
  const PlanLayout* find(const Trace& trace, const Plan& plan);

 private:
  static constexpr std::size_t most_layouts = 16;

  void add(Layout layout, const Plan& plan, const Trace& trace);

  std::vector<std::unique_ptr<PlanLayout>> layouts_;  // used last comes last
};

}  // namespace sinter::jit
