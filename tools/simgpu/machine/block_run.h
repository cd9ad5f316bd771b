/// \file
/// Runs a block: its warps in turn, and the barriers at which they meet. PTX ISA 9.7.13.1.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "tools/simgpu/machine/checks.h"
#include "tools/simgpu/machine/presets.h"
#include "tools/simgpu/machine/report.h"
#include "tools/simgpu/machine/warp_run.h"

namespace simgpu {

class BlockRun {
 public:
  BlockRun(const Grid& grid, const WarpImage& image, GridChecks& checks);

  /// Block `number` of the grid, from its first instruction on.
  void begin(std::uint64_t number);
  /// On, for about `budget` instructions; true when the block is done. Throws Fault.
  bool run(std::uint64_t budget, LaunchCounts& counts);
  /// Where the warp was that ran last.
  FaultPlace place() const { return {warps_[running_].pc(), running_, block_.index}; }

 private:
  struct Barrier {
    std::uint32_t arrived = 0;  ///< threads; 0 when nobody waits
    std::uint32_t threads = 0;  ///< that it waits for; 0 for all of the block
    std::uint32_t warps = 0;    ///< that have come, by bit
    std::uint32_t waiting = 0;  ///< of them
    BarrierResult result;
  };

  void arrive(WarpRun& run);
  void leave(std::uint32_t threads);
  void release_if_full(std::uint32_t number);
  [[noreturn]] void fail_stuck();

  const Grid& grid_;
  AccessChecks checks_;
  Block block_;
  std::vector<std::byte> shared_, local_;
  std::deque<WarpRun> warps_;
  std::array<Barrier, 16> barriers_;
  std::uint32_t existing_ = 0;  // threads
  std::uint32_t running_ = 0;   // the warp whose turn it is
};

}  // namespace simgpu
