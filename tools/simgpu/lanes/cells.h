/// \file
/// The short way to tell that an access of plain loads or stores races with nobody: a loop over the
/// cells of memory (machine/shadow.h) and the marks of lanes.
#pragma once

#include "tools/simgpu/lanes/lanes.h"
#include "tools/simgpu/machine/checks.h"

namespace simgpu::SIMGPU_ISA {

/// Cells as a warp sees them, of which `extent` bytes are accessed: by the same lanes where that is
/// `size`, and by one lane behind the other else.
template <int size, int extent>
struct TouchedCells {
  static constexpr int count = extent < cell_bytes ? 1 : extent / cell_bytes;
  static constexpr bool is_part = extent < cell_bytes;
  static constexpr Cell both_halves = 0x10001;

  CellView view;
  u64 offset;
  u32 who;  ///< for marks; where there is one lane behind the other it counts for nothing

  /// The marks that the access leaves in a cell.
  SIMGPU_INLINE Cell marks(int n) const {
    const Cell time = Cell{view.clock.lane_time} * both_halves, cell = static_cast<Cell>(n);
    if constexpr (extent == size) return time | Cell{who} * both_halves;
    else if constexpr (size >= cell_bytes) return time | cell / (size / cell_bytes) * both_halves;
    else if constexpr (size == 2) return time | (2 * cell * both_halves + 0x10000u);
    else return 0;  // several lanes in each half
  }
  /// Those that say that it was the same lanes: where there are several, none do.
  SIMGPU_INLINE Cell own(int n) const {
    if constexpr (size == 1 && extent != size) return Cell{nobody} * both_halves;
    else if constexpr (extent != size) return marks(n);
    else return who == several_lanes ? Cell{nobody} * both_halves : marks(n);
  }
  SIMGPU_INLINE u32 bytes() const {
    if constexpr (is_part) return ((1u << extent % 32) - 1) << offset % cell_bytes;
    return whole_cell;
  }

  /// Whether the half of the cell whose mark is there is nothing that other lanes may still do.
  SIMGPU_INLINE bool is_half_before(Cell cell, Cell own, int shift) const {
    return ((cell >> shift & mark_mask) < view.clock.lane_floor) |
           (((cell ^ own) >> shift & lane_code_mask) == 0);
  }
  /// Not zero where the access may come before that of the cell.
  SIMGPU_INLINE Cell unordered(Cell cell, int n) const {
    Cell of_lanes = 0;
    for (int half = 0; half < 2; ++half)
      if (!is_part || static_cast<int>(offset % cell_bytes / 2) == half)
        of_lanes |= is_half_before(cell, own(n), half * mark_bits) ? 0 : 1;
    return view.is_over(cell) ? 0 : (cell ^ view.clock.mine) >> cell_interval_shift | of_lanes;
  }
  /// The same, of what is easily told: the cell is over, or what the access itself would leave.
  SIMGPU_INLINE Cell unfamiliar(Cell cell, int n) const {
    return view.is_over(cell) ? 0 : cell ^ (view.clock.mine | own(n));
  }
  SIMGPU_INLINE Cell made(int n) const { return view.clock.mine | marks(n); }
  /// What a cell becomes that is over or of the warp.
  SIMGPU_INLINE Cell joined(Cell cell, int n) const {
    if constexpr (is_part) {
      const auto is_before = [this](u32 mark) { return is_half_before(mark, own(0), 0); };
      return view.joined(cell, bytes(), static_cast<u32>(marks(0)) & mark_mask, is_before);
    } else {
      Cell both = view.clock.mine;
      for (int shift = 0; shift <= mark_bits; shift += mark_bits) {
        const Cell time = Cell{mark_mask & ~lane_code_mask} << shift;
        const Cell several = (cell & time) | Cell{several_lanes} << shift;
        both |= is_half_before(cell, own(n), shift) ? marks(n) & Cell{mark_mask} << shift : several;
      }
      return view.is_mine(cell) ? both : made(n);
    }
  }
};

/// The one or two pages that an access lies in.
struct TouchedPages {
  PageCells *first, *last;
  Cell before;  ///< of the region

  /// Whether cells of the kind matter.
  SIMGPU_INLINE bool have(Cell PageCells::*kind) const {
    return first->*kind >= before || last->*kind >= before;
  }
  SIMGPU_INLINE void touch(Cell PageCells::*kind, Cell now) const {
    if (first->*kind < before) first->*kind = now;
    if (last->*kind < before) last->*kind = now;
  }
};

/// Whether all that touched `extent` bytes at the offset before is known to be over; then the
/// access is remembered. False where it takes a closer look.
template <Access kind, int size, int extent>
SIMGPU_INLINE bool is_ordered(const ShadowRegion& region, const WarpClock& clock, u64 offset,
                              u32 who) {
  using Touched = TouchedCells<size, extent>;
  constexpr int count = Touched::count;
  constexpr bool is_store = kind == Access::store;
  const Touched touched{{clock, region.before}, offset, who};
  const CellView& view = touched.view;
  if (!Touched::is_part && offset % cell_bytes != 0) return false;
  const TouchedPages pages = {region.pages + (offset >> page_shift),
                              region.pages + ((offset + extent - 1) >> page_shift), region.before};
  if (pages.have(&PageCells::strong)) return false;
  Cell* const writes = region.writes + offset / cell_bytes;
  Cell* const reads = region.reads + offset / cell_bytes;
  Cell* const more_reads = region.more_reads + offset / cell_bytes;
  const bool looks_at_writes = pages.have(&PageCells::writes);
  const bool looks_at_reads = pages.have(&PageCells::reads);
  const bool looks_at_more = is_store && pages.have(&PageCells::more_reads);
  // Whether the test gives 0 for each cell that matters.
  const auto passes = [&](bool with_reads, auto test) {
    Cell wrong = 0;
    if (looks_at_writes)
      for (int n = 0; n < count; ++n) wrong |= test(writes[n], n);
    if (with_reads && looks_at_reads)
      for (int n = 0; n < count; ++n) wrong |= test(reads[n], n);
    if (looks_at_more)
      for (int n = 0; n < count; ++n) wrong |= test(more_reads[n], n);
    return wrong == 0;
  };
  // Most accesses leave the same as the one before, or follow none.
  if (!Touched::is_part &&
      passes(true, [&](Cell cell, int n) { return touched.unfamiliar(cell, n); })) {
    Cell* const last = is_store ? writes : reads;
    SIMGPU_VECTORS
    for (int n = 0; n < count; ++n) last[n] = touched.made(n);
    pages.touch(is_store ? &PageCells::writes : &PageCells::reads, clock.mine);
    return true;
  }
  if (!passes(is_store, [&](Cell cell, int n) { return touched.unordered(cell, n); })) return false;
  SIMGPU_VECTORS
  for (int n = 0; n < count; ++n) {
    if constexpr (is_store) {
      writes[n] = Touched::is_part ? touched.joined(writes[n], n) : touched.made(n);
    } else {
      // In the first of the two readers that a later one makes needless.
      const Cell first = Cell{view.is_over(reads[n])} | Cell{view.is_mine(reads[n])};
      const Cell second =
          (Cell{view.is_over(more_reads[n])} | Cell{view.is_mine(more_reads[n])}) & ~first;
      const Cell first_read = touched.joined(reads[n], n);
      const Cell second_read = touched.joined(more_reads[n], n);
      reads[n] = first != 0 ? first_read : reads[n];
      more_reads[n] = second != 0 ? second_read : more_reads[n];
    }
  }
  pages.touch(is_store ? &PageCells::writes : &PageCells::reads, clock.mine);
  if (!is_store) pages.touch(&PageCells::more_reads, clock.mine);
  return true;
}

}  // namespace simgpu::SIMGPU_ISA
