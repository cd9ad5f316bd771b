#include "jit/size_classes.h"

#include "jit/size_rules.h"

namespace sinter::jit {

std::int64_t size_of(const Trace& trace, const Axis& axis) {
  return trace.node(axis.source).shape[axis.axis];
}

SizeClasses::SizeClasses(const Trace& trace) : leaf_count_(trace.leaves.size()) {
  const SizedSteps steps(trace);
  SizeJoins joins(steps);
  for (std::uint32_t i = 0; i < steps.count(); ++i) join_sizes(steps, i, joins);

  classes_.assign((trace.leaves.size() + trace.steps.size()) * max_rank, 0);
  const auto name = [&](Source source, int rank) {
    for (int axis = 0; axis < rank; ++axis) {
      const std::size_t own = axis_slot(leaf_count_, source, axis), leader = joins.leader(own);
      if (leader == own) {
        classes_[own] = count();
        representatives_.push_back({source, axis});
      }
      classes_[own] = classes_[leader];
    }
  };
  for (std::uint32_t i = 0; i < trace.leaves.size(); ++i)
    name(Source::of_leaf(i), trace.leaves[i]->shape.rank());
  for (std::uint32_t i = 0; i < trace.steps.size(); ++i)
    name(Source::of_step(i), trace.steps[i]->shape.rank());
}

SizeClass SizeClasses::of(Source source, int axis) const {
  return classes_[axis_slot(leaf_count_, source, axis)];
}

}  // namespace sinter::jit
