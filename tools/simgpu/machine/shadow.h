/// \file
/// What is remembered of memory beside its bytes, and of the time of warps: plain data, since code
/// that is compiled for several instruction sets reads and writes it.
///
/// A state is a byte for each byte of memory. A cell is 32 bits for each 4 bytes of it, and names
/// an access: an interval, and a bit for each of the 4 bytes. An interval is a piece of the time of
/// a warp, between two of its synchronisations; its number is unique in the process and rises.
///
/// Of a cell that names the present interval of a warp, two marks of 16 bits say which of its lanes
/// it was, in each half of the 4 bytes: when, in steps that the lanes' own meetings make, and who.
/// A mark of 0 says nothing, where lanes touched different bytes of the half.
#pragma once

#include <cstdint>

namespace simgpu {

/// Bits of a state.
inline constexpr std::uint8_t state_allocated = 1, state_initialised = 2;
/// The whole state of a byte that cp.async is going to write: the short way finds it unallocated.
inline constexpr std::uint8_t state_pending = 4;

inline constexpr int cell_bytes = 4, cell_mask_bits = 4;
inline constexpr std::uint32_t cell_mask = 15;
/// Of interval numbers: those beyond are not given out.
inline constexpr std::uint32_t interval_limit = 1u << (32 - cell_mask_bits);
/// Pages of memory that know whether any strong access was in them.
inline constexpr int strong_page_shift = 12;

/// Of marks: who is a lane, or one of these, and the rest of the bits is the time, from 1 on.
inline constexpr int lane_code_bits = 6;
inline constexpr std::uint32_t lane_code_mask = 63;
inline constexpr std::uint32_t several_lanes = 32;  ///< that read, or accessed it strongly
inline constexpr std::uint32_t all_of_warp = 33;    ///< at once, by an instruction of the warp
inline constexpr std::uint32_t nobody = 63;         ///< in no mark
inline constexpr std::uint32_t lane_time_limit = 1u << (16 - lane_code_bits);

/// The last strong accesses (atomics, volatile, relaxed ...) to 4 bytes by two warps.
struct StrongCells {
  std::uint32_t last[2];                   ///< that may have written
  std::uint32_t readers[2];                ///< that only read
  std::uint32_t last_lanes, reader_lanes;  ///< marks of the first of the two
};

/// A piece of memory with its shadow. Pointers are null where nothing of the kind is checked.
struct ShadowRegion {
  std::uint64_t base = 0, bytes = 0;  ///< host addresses
  std::uint8_t* states = nullptr;
  std::uint32_t* writes = nullptr;        ///< cells of the last writes
  std::uint32_t* reads = nullptr;         ///< cells of the last reads ...
  std::uint32_t* more_reads = nullptr;    ///< ... and of those of another warp
  std::uint32_t* writers = nullptr;       ///< marks of the lanes in `writes` ...
  std::uint32_t* readers = nullptr;       ///< ... and of those in `reads`
  StrongCells* strong = nullptr;          ///< valid only in pages with strong accesses
  std::uint32_t* strong_pages = nullptr;  ///< the cell of the last strong access in each page
  std::uint32_t before = 0;               ///< a cell below is of an earlier launch or block
};

/// What a warp knows of time.
struct WarpClock {
  std::uint32_t mine = 0;  ///< a cell of its present interval, with all bytes
  /// Cells in [known_from, known_from + known_cells) happened before.
  std::uint32_t known_from = 0, known_cells = 0;
  std::uint32_t lane_time = 0;   ///< a mark of now, without a lane
  std::uint32_t lane_floor = 0;  ///< marks below are of accesses that all lanes know of
};

/// What lanes/access.h needs to tell, of most accesses, that nothing is wrong with them.
struct ShortWay {
  ShadowRegion global, shared;
  ShadowRegion local;  ///< of the first thread; each has as many bytes, one behind the other
  bool races = false;
  const WarpClock* clocks = nullptr;  ///< of each warp of the block
};

}  // namespace simgpu
