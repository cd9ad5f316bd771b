/// \file
/// The one call upward: runtime asks for values, jit (which implements this) computes them.
#pragma once

#include <span>

#include "graph.h"

namespace sinter {

/// Held by whoever evaluates or walks the graph's mutable parts.
class LaunchLock {
 public:
  LaunchLock();
  ~LaunchLock();
  LaunchLock(const LaunchLock&) = delete;
  LaunchLock& operator=(const LaunchLock&) = delete;
};

/// Computes `roots`, every Variable written since the last evaluation, and every pending value of
/// this thread that something outside the graph refers to. Throws what the data showed; then no
/// Variable has changed and every value that depends on the fault fails in the same way.
void evaluate(std::span<const NodeRef> roots, Where where);

/// As evaluate with no roots, at the end of a region that wrote a Variable.
void submit(Where where);

}  // namespace sinter
