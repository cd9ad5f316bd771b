/// \file
/// Whether two accesses to the same bytes race. A race is found as long as the cells of memory
/// (shadow.h) hold the first of the two: for each 4 bytes they have the last write, and of reads
/// and of strong accesses those of two warps. A launch that finds no numbers left for its intervals
/// goes on without this check.
#pragma once

#include <cstdint>

#include "tools/simgpu/machine/block_time.h"
#include "tools/simgpu/machine/bounds.h"

namespace simgpu {

/// Checks accesses of one block, in one region, and remembers them.
class Races {
 public:
  Races(BlockTime& time, const ShadowRegion& region, const Block& block, bool in_shared)
      : time_(time), region_(region), block_(block), in_shared_(in_shared) {}

  /// Of an access that is within the region. The bytes of a plain store that other lanes of the
  /// warp have written: that is a race unless they have written the same. \throws Fault
  std::uint32_t check(const LaneAccess& access);

 private:
  std::uint32_t check_cell(const LaneAccess& access, std::uint64_t cell, std::uint32_t bytes);
  /// Of a cell that another access has left: the bytes that other lanes of the warp have accessed,
  /// and may still.
  std::uint32_t look(const LaneAccess& access, Cell other, std::uint32_t bytes, const char* done);
  void remember(const LaneAccess& access, std::uint64_t cell, std::uint32_t bytes);
  [[noreturn]] void fail(const LaneAccess& access, Cell other, const char* done) const;
  [[noreturn]] void fail_lanes(const LaneAccess& access, std::uint32_t mark,
                               const char* done) const;
  bool is_needless(const LaneAccess& access, Cell cell) const;
  void put(const LaneAccess& access, Cell& cell, std::uint32_t bytes) const;
  CellView view(const LaneAccess& access) const {
    return {time_.clocks()[access.warp->index], region_.before};
  }
  PageCells& page_of(std::uint64_t cell) const {
    return region_.pages[cell * cell_bytes >> page_shift];
  }

  BlockTime& time_;
  const ShadowRegion& region_;
  const Block& block_;
  bool in_shared_;
};

}  // namespace simgpu
