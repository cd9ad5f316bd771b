/// \file
/// Runs a block: its warps in turn, and the barriers at which they meet. PTX ISA 9.7.13.1.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "tools/simgpu/machine/checks.h"
#include "tools/simgpu/machine/presets.h"
#include "tools/simgpu/machine/report.h"
#include "tools/simgpu/machine/warp_run.h"

namespace simgpu {

class BlockRun final : private WarpHost {
 public:
  BlockRun(const Grid& grid, const WarpImage& image, GridChecks& checks);

  /// Block `number` of the grid, from its first instruction on.
  void begin(std::uint64_t number);
  /// On, for about `budget` instructions; true when the block is done. Throws Fault.
  bool run(std::int64_t budget, LaunchCounts& counts);
  /// Where the warp was that ran last.
  const FaultPlace& place() const { return place_; }

 private:
  struct Barrier {
    std::uint32_t arrived = 0;   ///< threads; 0 when nobody waits
    std::uint32_t threads = 0;   ///< that it waits for; 0 for all of the block
    std::uint32_t reducing = 0;  ///< threads that brought a predicate
    std::uint32_t holding = 0;   ///< those for which it held
    std::vector<std::uint32_t> warps;
  };

  void arrive(WarpRun& run, std::size_t split) override;
  void leave(WarpRun& run, std::uint32_t lanes) override;
  void release_if_full(std::uint32_t number);
  void give_result(WarpRun& run, const Split& split, const Barrier& barrier);
  [[noreturn]] void fail_stuck();

  const Grid& grid_;
  const WarpImage& image_;
  AccessChecks checks_;
  Block block_;
  std::vector<std::byte> shared_, local_;
  std::vector<WarpRun> warps_;
  std::array<Barrier, 16> barriers_;
  std::uint32_t existing_ = 0;  // threads
  std::size_t next_warp_ = 0;
  FaultPlace place_;
};

}  // namespace simgpu
