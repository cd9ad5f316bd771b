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
/// this thread that something outside the graph refers to.
/// \throws UsageError for what the data showed, with the line of the op; then every Variable
/// written since the last evaluation has its old value again, and every value that depends on the
/// fault fails with the same error.
void evaluate(std::span<const NodeRef> roots);

}  // namespace sinter
