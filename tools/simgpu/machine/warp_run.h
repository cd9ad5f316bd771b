/// \file
/// Runs a warp as far as it gets.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/simgpu/machine/call_stack.h"
#include "tools/simgpu/machine/launch.h"
#include "tools/simgpu/machine/pending_copies.h"
#include "tools/simgpu/machine/splits.h"
#include "tools/simgpu/machine/warp.h"

namespace simgpu {

struct WarpRun {
  Warp warp;
  Splits splits;
  PendingCopies copies;
  CallStack calls;
  std::vector<std::byte> registers, begins_with;
  std::vector<std::uint32_t> predicates;
  std::uint64_t choices = 0;  ///< of splits, so far
  std::uint32_t pc = 0;       ///< of the last instruction: that threw a Fault, or ended a turn
};

/// What a warp asks of its block.
class WarpHost {
 public:
  /// Lanes of the split have come to a barrier, as Warp::arrival says.
  virtual void arrive(WarpRun& run, std::size_t split) = 0;
  /// Lanes have left.
  virtual void leave(WarpRun& run, std::uint32_t lanes) = 0;

 protected:
  ~WarpHost() = default;
};

enum class WarpStop : std::uint8_t {
  finished,  ///< all lanes have left
  waiting,   ///< for other warps, or for ever
  spent,     ///< the budget is
};

/// `budget` is in instructions, and what is run is taken off. Throws Fault.
WarpStop run_warp(WarpRun& run, const Kernel& kernel, WarpHost& host, std::int64_t& budget,
                  LaunchCounts& counts);

}  // namespace simgpu
