/// \file
/// The shape rules of the ops as joins of axes whose sizes are equal whenever the key of the trace
/// is the same.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/decompose.h"

namespace sinter::jit {

/// What the rules are asked about: the steps of a trace, or the primitives it was taken apart into.
class SizedSteps {
 public:
  explicit SizedSteps(const Trace& trace) : trace_(trace) {}
  SizedSteps(const Trace& trace, const Primitives& primitives)
      : trace_(trace), primitives_(&primitives) {}

  std::size_t leaf_count() const { return trace_.leaves.size(); }
  std::size_t count() const {
    return primitives_ ? primitives_->steps.size() : trace_.steps.size();
  }
  const Node& node(std::uint32_t step) const {
    return primitives_ ? *primitives_->steps[step].node : *trace_.steps[step];
  }
  std::span<const Source> operands_of(std::uint32_t step) const {
    return primitives_ ? primitives_->operands_of(step) : trace_.sources_of(step);
  }
  const Shape& shape(Source source) const {
    return source.leaf ? trace_.leaves[source.index]->shape : node(source.index).shape;
  }

 private:
  const Trace& trace_;
  const Primitives* primitives_ = nullptr;
};

/// The number of an axis among max_rank for each leaf, then for each step.
std::size_t axis_slot(std::size_t leaf_count, Source source, int axis);

/// Sets of axes that are joined; negative axes count from the end.
class SizeJoins {
 public:
  explicit SizeJoins(const SizedSteps& steps);

  /// Checks that the sizes are equal.
  void join(Source a, int axis_a, Source b, int axis_b);
  /// All axes of two shapes that are equal.
  void join_all(Source a, Source b);
  /// The axes of `from` with those of `to` it is broadcast to, counted from the end, without the
  /// last `skipped`.
  void join_broadcast(Source from, Source to, int skipped = 0);

  /// The slot that stands for the set of `slot`: the lowest, so that leaves lead steps.
  std::size_t leader(std::size_t slot);

 private:
  const SizedSteps steps_;
  std::vector<std::uint32_t> parents_;
};

/// Joins the axes of a step with those of its operands.
void join_sizes(const SizedSteps& steps, std::uint32_t step, SizeJoins& joins);

}  // namespace sinter::jit
