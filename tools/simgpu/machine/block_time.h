/// \file
/// The time of the warps of a block: which intervals of whom each knows to be over.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "tools/simgpu/machine/checks.h"
#include "tools/simgpu/machine/grid_time.h"
#include "tools/simgpu/machine/lane_times.h"

namespace simgpu {

class BlockTime {
 public:
  BlockTime(GridTime& grid, std::uint32_t warps);

  /// A block begins; false where no numbers of intervals are left.
  bool begin(std::uint64_t block);
  /// A warp has come to a barrier that it does not wait at. False where no numbers are left.
  bool arrive(std::uint32_t warp);
  /// Warps have met, each a bit: those that waited learn what the others knew when they arrived.
  bool meet(std::uint32_t warps, std::uint32_t waiting);
  bool fence(std::uint32_t warp, Scope scope);
  /// Lanes of a warp have met.
  bool meet_lanes(std::uint32_t warp, std::uint32_t lanes, std::uint32_t existing);

  const WarpClock* clocks() const { return clocks_.data(); }
  /// All intervals of the block below are over, as each warp knows.
  std::uint32_t floor() const { return floor_; }
  /// Whether an interval is over as the warp knows; always its own, and those of other launches.
  bool is_over(std::uint32_t warp, std::uint32_t interval);
  /// What lanes know in the present interval of their warp; what was before it, all of them do.
  const LaneTimes& lanes(std::uint32_t warp) const { return lanes_[warp]; }
  /// Nothing where it is of another launch.
  std::optional<IntervalOwner> owner(std::uint32_t interval) const { return grid_.owner(interval); }

  // Strong accesses. `in_shared` addresses mean nothing to other blocks.
  void publish(std::uint32_t warp, std::uint64_t address, bool in_shared);
  void learn(std::uint32_t warp, std::uint64_t address, bool in_shared);

 private:
  struct Chunk {
    std::uint32_t first, count;
  };
  using Snapshots = std::array<std::shared_ptr<const Snapshot>, 2>;  // by Scope

  bool take_steps(std::uint32_t steps);
  bool advance(std::uint32_t warps);
  void set_step(std::uint32_t warp, std::uint32_t step);
  void show_lanes(std::uint32_t warp);
  bool meet_all();
  void join_fences(std::uint32_t warps);
  std::uint32_t all_warps() const {
    return static_cast<std::uint32_t>((std::uint64_t{1} << warps_) - 1);
  }
  std::uint32_t* known(std::uint32_t warp) { return known_.data() + std::size_t{warp} * warps_; }
  std::uint32_t now(std::uint32_t warp) const {
    return static_cast<std::uint32_t>(clocks_[warp].mine >> cell_interval_shift);
  }

  GridTime& grid_;
  std::uint32_t warps_;
  std::uint64_t block_ = 0;
  std::vector<Chunk> chunks_;  // of numbers; a step has one for each warp
  std::uint32_t steps_ = 0;    // in the last chunk
  std::uint32_t floor_ = 0;
  std::vector<std::uint32_t> step_;
  std::vector<WarpClock> clocks_;
  std::vector<LaneTimes> lanes_;
  std::vector<std::uint32_t> known_;                 // the last interval that a warp knows of each
  std::vector<std::vector<std::uint32_t>> arrived_;  // what a warp knew when it last arrived
  std::vector<Snapshots> fenced_;
  bool any_fence_ = false;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> published_in_shared_;
  Knowledge knowledge_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> others_;  // found in knowledge_
};

}  // namespace simgpu
