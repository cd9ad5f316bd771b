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
///
/// Where the data of a step shows a fault, or its memory is not to be had, whatever depends on it
/// fails with the same error, and all else is computed. If a written Variable depends on it, every
/// Variable written since the last evaluation has its old value again, so that a step is done whole
/// or not at all; one whose old value had been overwritten by then fails. A Variable written with a
/// value that had failed before goes back alone.
/// \throws UsageError, Error: the failure for which a Variable did not keep what was written. That
/// of a root is for the reader to throw.
void evaluate(std::span<const NodeRef> roots);

}  // namespace sinter
