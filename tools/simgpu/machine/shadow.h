/// \file
/// What is remembered of memory beside its bytes, and of the time of warps: plain data, since code
/// that is compiled for several instruction sets reads and writes it.
///
/// A state is a byte for each byte of memory. A cell is 64 bits for each 4 bytes of it, and names
/// an access, from the high bits down: an interval (28), the bytes (4) and two marks (16 each).
///
/// An interval is a piece of the time of a warp, between two of its synchronisations; its number is
/// unique in the process and rises. The marks, of the upper half of the bytes and of the lower, say
/// who of the warp it was: when, in steps that the lanes' own meetings make, and which lane. A mark
/// of 0 says nothing, where lanes touched different bytes of the half.
///
/// Threads of the host write cells of global memory at the same time, each cell as a whole: one may
/// be lost, and with it a race, but none says what nobody did.
#pragma once

#include <cstdint>

namespace simgpu {

/// Bits of a state.
inline constexpr std::uint8_t state_allocated = 1, state_initialised = 2;
/// The whole state of a byte that cp.async is going to write: the short way finds it unallocated.
inline constexpr std::uint8_t state_pending = 4;

using Cell = std::uint64_t;
inline constexpr int cell_bytes = 4;
inline constexpr int cell_bytes_shift = 32, cell_interval_shift = 36, mark_bits = 16;
inline constexpr std::uint32_t whole_cell = 15, mark_mask = 0xffff;
/// Of interval numbers: those beyond are not given out.
inline constexpr std::uint32_t interval_limit = 1u << (64 - cell_interval_shift);
/// Of pages, which know what is the same of all that is in them.
inline constexpr int page_shift = 12;

/// Of marks: who is a lane, or one of these, and the rest of the bits is the time, from 1 on.
inline constexpr int lane_code_bits = 6;
inline constexpr std::uint32_t lane_code_mask = 63;
inline constexpr std::uint32_t several_lanes = 32;  ///< that read, or accessed it strongly
inline constexpr std::uint32_t all_of_warp = 33;    ///< at once, by an instruction of the warp
inline constexpr std::uint32_t nobody = 63;         ///< in no mark
inline constexpr std::uint32_t lane_time_limit = 1u << (mark_bits - lane_code_bits);

/// The last strong accesses (atomics, volatile, relaxed ...) to 4 bytes by two warps.
struct StrongCells {
  Cell last[2];     ///< that may have written
  Cell readers[2];  ///< that only read
};

/// Cells of the last accesses to a page of memory: where one is of an earlier launch or block, so
/// are all cells of that kind in the page, and need not be looked at.
struct PageCells {
  Cell writes, reads, more_reads, strong;
};

/// A piece of memory with its shadow. Pointers are null where nothing of the kind is checked.
struct ShadowRegion {
  std::uint64_t base = 0, bytes = 0;  ///< host addresses
  std::uint8_t* states = nullptr;
  std::uint8_t* whole_pages = nullptr;  ///< not 0 where all bytes of a page are initialised
  Cell* writes = nullptr;               ///< the last writes
  Cell* reads = nullptr;                ///< the last reads ...
  Cell* more_reads = nullptr;           ///< ... and those of another warp
  StrongCells* strong = nullptr;
  PageCells* pages = nullptr;
  Cell before = 0;  ///< a cell below is of an earlier launch or block
};

/// What a warp knows of time.
struct WarpClock {
  Cell mine = 0;  ///< its present interval, all bytes and no marks
  /// Cells in [known_from, known_from + known_cells) happened before.
  Cell known_from = 0, known_cells = 0;
  std::uint32_t lane_time = 0;   ///< a mark of now, without a lane
  std::uint32_t lane_floor = 0;  ///< marks below are of accesses that all lanes know of
};

/// Cells as a warp sees them. Its functions are in no object of their own, as those of code that is
/// compiled for several instruction sets have to be.
struct CellView {
  WarpClock clock;
  Cell before = 0;  ///< of the region

  [[gnu::always_inline]] bool is_mine(Cell cell) const {
    return (cell ^ clock.mine) >> cell_interval_shift == 0;
  }
  /// Whether it is known, at a glance, to be over: of an earlier launch, or before a barrier.
  [[gnu::always_inline]] bool is_over(Cell cell) const {
    return (cell < before) | (cell - clock.known_from < clock.known_cells);
  }
  /// What a cell becomes when these of its bytes are accessed as the mark says. What other lanes of
  /// the warp did in a half and may still be doing, becomes what several have done since the first
  /// of them.
  template <class IsBefore>
  [[gnu::always_inline]] Cell joined(Cell cell, std::uint32_t bytes, std::uint32_t mark,
                                     IsBefore is_before) const {
    Cell made = clock.mine & ~(Cell{whole_cell} << cell_bytes_shift);
    if (is_mine(cell)) made = cell;
    for (int half = 0; half < 2; ++half) {
      const std::uint32_t half_bytes = 3u << 2 * half;
      if ((bytes & half_bytes) == 0) continue;
      const auto touched = static_cast<std::uint32_t>(made >> cell_bytes_shift) & half_bytes;
      const auto old = static_cast<std::uint32_t>(made >> half * mark_bits) & mark_mask;
      std::uint32_t next = mark;
      if (touched != 0 && !is_before(old)) next = (old & ~lane_code_mask) | several_lanes;
      if ((touched & ~bytes) != 0) next = 0;
      made = (made & ~(Cell{mark_mask} << half * mark_bits)) | Cell{next} << half * mark_bits;
    }
    return made | Cell{bytes} << cell_bytes_shift;
  }
};

/// What lanes/access.h needs to tell, of most accesses, that nothing is wrong with them.
struct ShortWay {
  ShadowRegion global, shared;
  ShadowRegion local;  ///< of the first thread; each has as many bytes, one behind the other
  bool races = false;
  const WarpClock* clocks = nullptr;  ///< of each warp of the block
};

}  // namespace simgpu
