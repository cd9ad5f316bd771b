/// \file
/// Sizes that are equal by construction, as classes: what a program may be general in.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/trace.h"

namespace sinter::jit {

/// A class of axes whose sizes the shape rules of the ops tie together. Sizes that merely happen to
/// be equal stay apart.
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
  std::size_t slot(Source source, int axis) const;
  std::size_t find(std::size_t slot) const;
  void join(std::size_t a, std::size_t b);
  void join_step(const Trace& trace, std::size_t step);
  void join_aligned(const Trace& trace, Source from, Source to);

  std::size_t leaf_count_;
  mutable std::vector<std::uint32_t> parents_;  // max_rank slots for each leaf, then each step
  std::vector<SizeClass> classes_;              // of each slot
  std::vector<Axis> representatives_;
};

/// The size of an axis in a trace.
std::int64_t size_of(const Trace& trace, const Axis& axis);

}  // namespace sinter::jit
