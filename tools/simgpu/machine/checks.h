/// \file
/// What is checked of every access to memory, beside that the kernel gets what a GPU would give it.
/// Which checks run, SIMGPU_CHECK says: `all` (without it), `memory` (no races) or `none`; then
/// Block::checks is null.
///
/// Races are found by clocks: each warp has its own time, which a barrier joins with others'; of
/// two accesses to a byte by different warps, one a write and not both strong, one must have
/// happened before the other. Source: Flanagan and Freund, "FastTrack", PLDI 2009, with a warp in
/// the place of a thread. Between two such moments of a warp its lanes have a time of their own,
/// see lane_times.h. Strong accesses are those that PTX ISA 8.2.1 and 8.4 name: atomics, relaxed,
/// acquire, release, volatile; code/compared.h adds one. One that writes publishes what the warp
/// knew at its last fence; one that reads learns what was published where it read. A fence behind
/// the read is not asked for: much published code reads a counter by an atomic and goes on without
/// it.
///
/// Lanes of a warp may write the same value to the same place, in one instruction or several: that
/// is what the racecheck tool of compute-sanitizer calls information, and no error; between warps
/// it is a race, which neither PTX nor C++ orders. Not found are races of lanes that a fence of any
/// of them lies between, or an access of another warp; of different bytes in one half of a word;
/// and with instructions of the whole warp (matrices) if both are of that kind; nor what cells of
/// memory do not hold (races.h). Registered memory of the host has no cells: no races are looked
/// for there.
#pragma once

#include <cstdint>
#include <memory>

#include "tools/simgpu/machine/shadow.h"
#include "tools/simgpu/machine/warp.h"

namespace simgpu {

enum class Access : std::uint8_t {
  load,
  store,
  strong_load,
  strong_store,
  atomic,  ///< reads and writes at once
};
/// What an opcode says of its addresses, which are the host's in all of them.
enum class AddressSpace : std::uint8_t { generic, global, shared, local };
/// Whom a fence orders accesses for.
enum class Scope : std::uint8_t { block, device };

struct CheckOptions {
  bool memory = true;
  bool races = true;
};
const CheckOptions& check_options();

/// Of one launch: what blocks on different threads have to know of each other.
class GridChecks {
 public:
  explicit GridChecks(const Grid& grid);
  ~GridChecks();
  GridChecks(const GridChecks&) = delete;
  GridChecks& operator=(const GridChecks&) = delete;

 private:
  friend class AccessChecks;
  struct State;
  std::unique_ptr<State> state_;
};

/// Of one block at a time, on one thread.
class AccessChecks {
 public:
  AccessChecks(GridChecks& grid, std::uint32_t warps, std::uint32_t shared_bytes);
  ~AccessChecks();
  AccessChecks(const AccessChecks&) = delete;
  AccessChecks& operator=(const AccessChecks&) = delete;

  /// A block begins: its shared and local memory are uninitialised.
  void begin(const Block& block);
  /// Warps, each a bit, have met at a barrier.
  void meet(std::uint32_t warps);
  /// A warp comes to a barrier and goes on: others will know what it has done, it learns nothing.
  void arrive(const Warp& warp);
  /// Warps have met, where `waiting` of them waited for the others, and the rest arrived.
  void meet(std::uint32_t warps, std::uint32_t waiting);

  // What the functions of opcodes call; each throws Fault, or returns. Code on memory calls the
  // functions of lanes/access.h instead of access().

  /// Around the checks of strong accesses to global memory, and the accesses themselves: those of
  /// other blocks come before or behind as a whole.
  void begin_strong();
  void end_strong();
  /// An access of `bytes` at the addresses of the lanes named, before it happens; `of_warp` where
  /// it is of the warp as a whole. Lanes that store where others of the warp have written.
  std::uint32_t access(const Warp& warp, std::uint32_t lanes, const std::uint64_t* addresses,
                       int bytes, Access kind, AddressSpace space, bool of_warp = false);
  /// Of such a lane, before it writes `bytes` of `value` at `offset` of what it stores at the
  /// address: nothing is wrong if they are there already.
  void settle(int lane, std::uint64_t address, int offset, const void* value, int bytes) const;
  /// These lanes of the warp have met.
  void meet_lanes(const Warp& warp, std::uint32_t lanes);
  /// What the lanes learn from a strong access that has read there.
  void learn(const Warp& warp, std::uint32_t lanes, const std::uint64_t* addresses);
  void fence(const Warp& warp, Scope scope);
  /// Shared memory that a copy is going to write: touched before the wait, it is a fault. It has
  /// been checked as a store.
  void begin_copy(std::uint64_t address, int bytes);
  void end_copy(std::uint64_t address, int bytes);

  ShortWay short_way;

 private:
  struct State;
  void keep_time(bool has_numbers);

  std::unique_ptr<State> state_;
};

}  // namespace simgpu
