/// \file
/// What the lanes of a warp know of each other's accesses: those before a bar.warp.sync of both are
/// over. Nothing else in a warp orders memory (CUDA programming guide, "Synchronization functions"
/// and "Warp shuffle functions": shuffles, votes, matches and reductions imply no memory barrier).
#pragma once

#include <array>
#include <cstdint>

#include "tools/simgpu/machine/shadow.h"
#include "tools/simgpu/machine/warp.h"

namespace simgpu {

/// Of one interval of a warp.
class LaneTimes {
 public:
  void restart();
  /// These of the lanes that exist have met. False where no time is left: then the warp goes on in
  /// a new interval.
  bool meet(std::uint32_t lanes, std::uint32_t existing);

  /// For WarpClock.
  std::uint32_t now() const { return now_ << lane_code_bits; }
  std::uint32_t floor() const { return floor_ << lane_code_bits; }
  /// Whether a lane, or all_of_warp, knows an access with this mark to be over; its own always is.
  /// Where several lanes read, knowing any other lane's time is enough.
  bool is_before(std::uint32_t mark, std::uint32_t who) const;

 private:
  using Known = std::array<std::uint16_t, warp_size>;

  std::uint32_t now_ = 1, floor_ = 1;
  bool parted_ = false;                   // some lanes have met since the floor
  std::array<Known, warp_size> known_{};  // by lane, where parted: the last time it knows of each
};

}  // namespace simgpu
