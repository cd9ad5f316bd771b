/// \file
/// Sizes that are equal by construction, as classes: what a program may be general in.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/trace.h"

namespace sinter::jit {

/// A class of axes whose sizes the shape rules of the ops tie together. Sizes that merely happen to
/// be equal stay apart: every trace with the same key has the same classes.
using SizeClass = std::uint32_t;

/// Names one axis of a leaf or a step.
struct Axis {
  Source source;
  int axis;
};

class SizeClasses {
 public:
  explicit SizeClasses(const Trace& trace);

  std::uint32_t count() const { return static_cast<std::uint32_t>(representatives_.size()); }
  SizeClass of(Source source, int axis) const;
  /// An axis of the class: of a leaf where the class has one.
  const Axis& representative(SizeClass size_class) const { return representatives_[size_class]; }

 private:
  std::size_t leaf_count_;
  std::vector<SizeClass> classes_;  // max_rank of them for each leaf, then each step
  std::vector<Axis> representatives_;
};

/// The size of an axis in a trace.
std::int64_t size_of(const Trace& trace, const Axis& axis);

}  // namespace sinter::jit
