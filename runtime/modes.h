/// \file
/// What a thread can switch for a while: gradients, and the region nodes are tagged with. Autocast
/// is in autocast.h.
#pragma once

#include <optional>

#include "dtype.h"
#include "graph.h"

namespace sinter {

/// Gradient mode of this thread; on by default.
bool grad_enabled();

/// While alive, ops of this thread are recorded so that no derivative passes through them.
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool previous_;
};

/// While alive, gradients are enabled again inside a NoGrad.
class EnableGrad {
 public:
  EnableGrad();
  ~EnableGrad();
  EnableGrad(const EnableGrad&) = delete;
  EnableGrad& operator=(const EnableGrad&) = delete;

 private:
  bool previous_;
};

/// The region new nodes of this thread are tagged with.
RegionTag current_region();

/// While alive, nodes of this thread carry the tag of a region. At the end of the outermost one,
/// the pending work is submitted without waiting for a read where a Variable has been written since
/// the last evaluation, or where the thread's pending graph has more than 50,000 nodes or pins more
/// than 4 GiB (channel perf_hints).
class Region {
 public:
  /// `region`: an id from new_region(). Each Region object is one call of it.
  explicit Region(std::uint32_t region);
  /// Submits, and throws what evaluation throws. Not done when leaving by an exception.
  ~Region() noexcept(false);
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

 private:
  RegionTag previous_;
  int exceptions_;
};

/// A new region id, unique in the process, never 0.
std::uint32_t new_region();

/// While alive, nodes of this thread are tagged as the backward part of region `tag`.
class BackwardRegion {
 public:
  explicit BackwardRegion(RegionTag tag);
  ~BackwardRegion();
  BackwardRegion(const BackwardRegion&) = delete;
  BackwardRegion& operator=(const BackwardRegion&) = delete;

 private:
  RegionTag previous_;
};

}  // namespace sinter
