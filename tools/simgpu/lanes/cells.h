/// \file
/// The short way to tell that an access of plain loads or stores races with nobody: a loop over the
/// cells of memory (machine/shadow.h) and the marks of lanes.
#pragma once

#include "tools/simgpu/lanes/lanes.h"
#include "tools/simgpu/machine/checks.h"

namespace simgpu {
namespace SIMGPU_ISA {

/// The marks that an access leaves in a cell, and those that are its own. `who` counts where all of
/// `extent` is touched by the same lanes; else each lane touches `size` bytes behind the one
/// before.
template <int size, int extent>
struct LaneMarks {
  std::uint32_t time, who;

  /// Two marks, the lower half's in the low bits.
  SIMGPU_INLINE std::uint32_t both(int cell) const {
    if constexpr (extent == size) return (time | who) * 0x10001u;
    else if constexpr (size >= cell_bytes)
      return (time | static_cast<std::uint32_t>(cell / (size / cell_bytes))) * 0x10001u;
    else if constexpr (size == 2)
      return (time | static_cast<std::uint32_t>(2 * cell)) * 0x10001u + 0x10000u;
    else return 0;  // several lanes in each half
  }
  SIMGPU_INLINE std::uint32_t own(int cell) const {
    if constexpr (extent == size) return (who == several_lanes ? nobody : time | who) * 0x10001u;
    else return size == 1 ? nobody * 0x10001u : both(cell);
  }
};

/// The marks of a cell that is accessed in part, by one lane: `half` is what becomes of the half.
template <int size>
SIMGPU_INLINE std::uint32_t marks_of_part(std::uint32_t marks, std::uint32_t cell, bool is_mine,
                                          std::uint64_t offset, std::uint32_t half) {
  const std::uint32_t place = static_cast<std::uint32_t>(offset % cell_bytes);
  const std::uint32_t shift = place / 2 * 16;
  const bool shares_half = size == 1 && is_mine && (cell >> (place ^ 1u) & 1u) != 0;
  const std::uint32_t rest = is_mine ? marks & ~(0xffffu << shift) : 0;
  return rest | (shares_half ? 0 : half & 0xffffu) << shift;
}

/// Cells as a warp sees them, of which `extent` bytes are accessed.
template <int size, int extent>
struct CellView {
  static constexpr int count = extent < cell_bytes ? 1 : extent / cell_bytes;
  static constexpr bool is_part = extent < cell_bytes;

  WarpClock clock;
  std::uint32_t before;  ///< of the region
  std::uint64_t offset;
  LaneMarks<size, extent> marks;

  SIMGPU_INLINE std::uint32_t part_shift() const {
    return static_cast<std::uint32_t>(offset % cell_bytes / 2 * 16);
  }
  SIMGPU_INLINE std::uint32_t is_mine(std::uint32_t cell) const {
    return (cell | cell_mask) == clock.mine;
  }
  SIMGPU_INLINE std::uint32_t known(std::uint32_t cell) const {
    return (cell < before) | (cell - clock.known_from < clock.known_cells) | is_mine(cell);
  }
  SIMGPU_INLINE std::uint32_t is_before(std::uint32_t mark, std::uint32_t own) const {
    return ((mark & 0xffffu) < clock.lane_floor) | (((mark ^ own) & lane_code_mask) == 0);
  }
  SIMGPU_INLINE std::uint32_t lanes_before(std::uint32_t cell, std::uint32_t word,
                                           std::uint32_t own) const {
    if constexpr (is_part) return (is_mine(cell) ^ 1u) | is_before(word >> part_shift(), own);
    else return (is_mine(cell) ^ 1u) | (is_before(word, own) & is_before(word >> 16, own >> 16));
  }
  /// What a cell becomes: part of one that is already mine stays.
  SIMGPU_INLINE std::uint32_t joined(std::uint32_t cell) const {
    if constexpr (!is_part) return clock.mine;
    const std::uint32_t touched = ((1u << extent % 32) - 1) << offset % cell_bytes;
    return is_mine(cell) != 0 ? cell | touched : (clock.mine & ~cell_mask) | touched;
  }
  /// Of a half that other lanes have read: several have, since the first of them did.
  SIMGPU_INLINE std::uint32_t joined_mark(std::uint32_t mark, std::uint32_t own,
                                          std::uint32_t made) const {
    return is_before(mark, own) != 0 ? made & 0xffffu
                                     : (mark & 0xffffu & ~lane_code_mask) | several_lanes;
  }
  SIMGPU_INLINE std::uint32_t joined_marks(std::uint32_t cell, std::uint32_t word,
                                           std::uint32_t own, std::uint32_t made) const {
    const std::uint32_t mine = is_mine(cell);
    if constexpr (is_part)
      return marks_of_part<size>(word, cell, mine != 0, offset,
                                 mine != 0 ? joined_mark(word >> part_shift(), own, made) : made);
    const std::uint32_t both =
        joined_mark(word, own, made) | joined_mark(word >> 16, own >> 16, made >> 16) << 16;
    return mine != 0 ? both : made;
  }
};

template <int size, int extent>
SIMGPU_INLINE void remember_store(const CellView<size, extent>& view, std::uint32_t* writes,
                                  std::uint32_t* writers) {
  SIMGPU_VECTORS
  for (int n = 0; n < view.count; ++n) {
    const std::uint32_t made = view.marks.both(n);
    writers[n] = view.is_part ? marks_of_part<size>(writers[n], writes[n],
                                                    view.is_mine(writes[n]) != 0, view.offset, made)
                              : made;
    writes[n] = view.joined(writes[n]);
  }
}

/// In the first of the two readers that a later one makes needless.
template <int size, int extent>
SIMGPU_INLINE void remember_load(const CellView<size, extent>& view, std::uint32_t* reads,
                                 std::uint32_t* more_reads, std::uint32_t* readers) {
  SIMGPU_VECTORS
  for (int n = 0; n < view.count; ++n) {
    const std::uint32_t first = view.known(reads[n]);
    const std::uint32_t second = view.known(more_reads[n]) & ~first;
    const std::uint32_t word =
        view.joined_marks(reads[n], readers[n], view.marks.own(n), view.marks.both(n));
    readers[n] = first != 0 ? word : readers[n];
    reads[n] = first != 0 ? view.joined(reads[n]) : reads[n];
    more_reads[n] = second != 0 ? view.joined(more_reads[n]) : more_reads[n];
  }
}

/// Whether all that touched `extent` bytes at the offset before is known to be over; then the
/// access is remembered. False where it takes a closer look.
template <Access kind, int size, int extent>
SIMGPU_INLINE bool is_ordered(const ShadowRegion& region, const WarpClock& clock,
                              std::uint64_t offset, std::uint32_t who) {
  const CellView<size, extent> view{clock, region.before, offset, {clock.lane_time, who}};
  if (!view.is_part && offset % cell_bytes != 0) return false;
  if (region.strong_pages[offset >> strong_page_shift] >= view.before ||
      region.strong_pages[(offset + extent - 1) >> strong_page_shift] >= view.before)
    return false;
  std::uint32_t* writes = region.writes + offset / cell_bytes;
  std::uint32_t* reads = region.reads + offset / cell_bytes;
  std::uint32_t* more_reads = region.more_reads + offset / cell_bytes;
  std::uint32_t* writers = region.writers + offset / cell_bytes;
  std::uint32_t* readers = region.readers + offset / cell_bytes;
  std::uint32_t good = 1;
  for (int n = 0; n < view.count; ++n) {
    const std::uint32_t own = view.marks.own(n);
    good &= view.known(writes[n]) & view.lanes_before(writes[n], writers[n], own);
    if constexpr (kind == Access::store)
      good &= view.known(reads[n]) & view.known(more_reads[n]) &
              view.lanes_before(reads[n], readers[n], own);
  }
  if (good == 0) return false;
  if constexpr (kind == Access::store) remember_store(view, writes, writers);
  else remember_load(view, reads, more_reads, readers);
  return true;
}

}  // namespace SIMGPU_ISA
}  // namespace simgpu
