/// \file
/// What blocks of one launch know of each other's time. A block that has executed a fence publishes
/// what it knew then with each strong write; who reads there by a strong access knows it too, and
/// all that the publisher had learned in that way.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tools/simgpu/machine/race_shadow.h"

namespace simgpu {

struct SyncLocation;

/// The first `count` publications at a location.
struct Learned {
  const SyncLocation* location = nullptr;
  std::uint32_t count = 0;
};
using Knowledge = std::vector<Learned>;
void join(Knowledge& to, const Knowledge& from);

/// What a warp knew at a fence.
struct Snapshot {
  std::uint64_t block = 0;
  std::vector<std::uint32_t> intervals;  ///< the last that it knew of each warp of its block
  Knowledge knowledge;
  bool of_device = false;  ///< the fence was for other blocks as well
};

/// Whose an interval is.
struct IntervalOwner {
  std::uint64_t block = 0;
  std::uint32_t warp = 0;
};

/// Of one launch, shared by the threads that run its blocks.
class GridTime {
 public:
  explicit GridTime(RaceShadow& shadow) : shadow_(shadow) {}

  /// A block takes numbers of intervals: `steps` times one for each of its warps; 0: none are left.
  std::uint32_t take(std::uint64_t block, std::uint32_t warps, std::uint32_t steps);
  /// Nothing for an interval of another launch.
  std::optional<IntervalOwner> owner(std::uint32_t interval) const;

  void publish(std::uint64_t address, const std::shared_ptr<const Snapshot>& snapshot);
  /// Adds what is published at the address to what the block knows, and what warps of the block
  /// itself have published there to the intervals that are known of them.
  void learn(std::uint64_t address, std::uint64_t block, Knowledge& knowledge,
             std::uint32_t* intervals) const;
  /// The publication that says that the interval is over.
  std::shared_ptr<const Snapshot> find(const Knowledge& knowledge, const IntervalOwner& owner,
                                       std::uint32_t interval) const;

 private:
  struct Chunk {
    std::uint32_t count, warps;
    std::uint64_t block;
  };

  RaceShadow& shadow_;
  std::atomic<bool> any_published_{false};
  mutable std::mutex mutex_;
  std::map<std::uint32_t, Chunk> chunks_;  // by their first number
  std::unordered_map<std::uint64_t, SyncLocation> locations_;
};

/// Publications at an address, in their order.
struct SyncLocation {
  std::vector<std::shared_ptr<const Snapshot>> published;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> of_block;  ///< which are a block's
};

}  // namespace simgpu
