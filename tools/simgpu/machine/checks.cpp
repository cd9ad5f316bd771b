#include "tools/simgpu/machine/checks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>

#include "tools/simgpu/machine/bounds.h"
#include "tools/simgpu/machine/fault.h"
#include "tools/simgpu/machine/memory.h"
#include "tools/simgpu/machine/races.h"
#include "tools/simgpu/machine/settings.h"

namespace simgpu {

const CheckOptions& check_options() {
  static const CheckOptions options = {settings().check_memory, settings().check_races};
  return options;
}

struct GridChecks::State {
  explicit State(const Grid& grid)
      : memory(*grid.memory), region(memory.region()), time(memory.race_shadow()) {
    if (check_options().races) memory.race_shadow().enter(region);
  }
  ~State() {
    if (check_options().races) memory.race_shadow().leave();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  DeviceMemory& memory;
  ShadowRegion region;
  GridTime time;
  std::mutex strong;  // held while strong accesses are checked and made
};

GridChecks::GridChecks(const Grid& grid) : state_(std::make_unique<State>(grid)) {}
GridChecks::~GridChecks() = default;

struct AccessChecks::State {
  State(GridChecks::State& all, std::uint32_t warps, std::uint32_t shared_bytes)
      : grid(all),
        time(all.time, warps),
        shared_cells(check_options().races ? shared_bytes : 0),
        bounds(shared_bytes) {}

  GridChecks::State& grid;
  BlockTime time;
  RaceCells shared_cells;
  Bounds bounds;
  const Block* block = nullptr;
  std::array<std::uint32_t, warp_size> contested_bytes{};  // of the last access of each lane
};

AccessChecks::AccessChecks(GridChecks& grid, std::uint32_t warps, std::uint32_t shared_bytes)
    : state_(std::make_unique<State>(*grid.state_, warps, shared_bytes)) {
  short_way.global = grid.state_->region;
  short_way.shared.bytes = shared_bytes;
  short_way.shared.states = state_->bounds.shared_states();
  if (check_options().races) state_->shared_cells.put_into(short_way.shared);
  short_way.clocks = state_->time.clocks();
}

AccessChecks::~AccessChecks() = default;

void AccessChecks::begin(const Block& block) {
  state_->block = &block;
  state_->bounds.begin(block);
  short_way.shared.base = reinterpret_cast<std::uint64_t>(block.shared);
  short_way.local.base = reinterpret_cast<std::uint64_t>(block.local);
  short_way.local.bytes = block.grid->kernel->local_bytes;
  short_way.local.states = state_->bounds.local_states();
  short_way.races = check_options().races;
  keep_time(!short_way.races || state_->time.begin(block.number));
}

/// Where no numbers of intervals are left, races are no longer looked for.
void AccessChecks::keep_time(bool has_numbers) {
  if (!has_numbers) short_way.races = false;
  short_way.shared.before = Cell{state_->time.floor()} << cell_interval_shift;
}

void AccessChecks::meet(std::uint32_t warps) { meet(warps, warps); }

void AccessChecks::arrive(const Warp& warp) {
  if (short_way.races) keep_time(state_->time.arrive(warp.index));
}

void AccessChecks::meet(std::uint32_t warps, std::uint32_t waiting) {
  if (short_way.races) keep_time(state_->time.meet(warps, waiting));
}

void AccessChecks::meet_lanes(const Warp& warp, std::uint32_t lanes) {
  if (short_way.races) keep_time(state_->time.meet_lanes(warp.index, lanes, warp.existing));
}

void AccessChecks::begin_strong() {
  if (check_options().races) state_->grid.strong.lock();
}

void AccessChecks::end_strong() {
  if (check_options().races) state_->grid.strong.unlock();
}

std::uint32_t AccessChecks::access(const Warp& warp, std::uint32_t lanes,
                                   const std::uint64_t* addresses, int bytes, Access kind,
                                   AddressSpace space, bool of_warp) {
  Races in_global(state_->time, short_way.global, *state_->block, false);
  Races in_shared(state_->time, short_way.shared, *state_->block, true);
  std::uint32_t contested = 0;
  for (; lanes != 0; lanes &= lanes - 1) {
    const int lane = std::countr_zero(lanes);
    const LaneAccess access = {&warp, lane, addresses[lane], bytes, kind, space, of_warp};
    const Bounds::Window window = state_->bounds.check(access);
    const bool shared = window == Bounds::Window::shared;
    if (!short_way.races || (!shared && window != Bounds::Window::global)) continue;
    const std::uint32_t twice = (shared ? in_shared : in_global).check(access);
    state_->contested_bytes[static_cast<std::size_t>(lane)] = twice;
    if (twice != 0) contested |= 1u << lane;
    if (kind == Access::strong_store || kind == Access::atomic)
      state_->time.publish(warp.index, access.address, shared);
  }
  return contested;
}

void AccessChecks::settle(int lane, std::uint64_t address, int offset, const void* value,
                          int bytes) const {
  const std::uint32_t twice = state_->contested_bytes[static_cast<std::size_t>(lane)] >> offset;
  const auto* there = reinterpret_cast<const std::byte*>(address) + offset;
  for (int n = 0; n < bytes; ++n) {
    if ((twice >> n & 1u) == 0 || there[n] == static_cast<const std::byte*>(value)[n]) continue;
    const bool shared = address - short_way.shared.base < short_way.shared.bytes;
    throw Fault(shared ? FaultKind::shared_race : FaultKind::global_race, lane, address,
                "another lane of the warp has written another value there, with no __syncwarp or "
                "barrier between that orders the two");
  }
}

void AccessChecks::learn(const Warp& warp, std::uint32_t lanes, const std::uint64_t* addresses) {
  if (!short_way.races) return;
  for (; lanes != 0; lanes &= lanes - 1) {
    const std::uint64_t address = addresses[std::countr_zero(lanes)];
    const bool shared = address - short_way.shared.base < short_way.shared.bytes;
    state_->time.learn(warp.index, address, shared);
  }
}

void AccessChecks::fence(const Warp& warp, Scope scope) {
  if (short_way.races) keep_time(state_->time.fence(warp.index, scope));
}

void AccessChecks::begin_copy(std::uint64_t address, int bytes) {
  std::fill_n(short_way.shared.states + (address - short_way.shared.base), bytes, state_pending);
}

void AccessChecks::end_copy(std::uint64_t address, int bytes) {
  std::fill_n(short_way.shared.states + (address - short_way.shared.base), bytes,
              state_allocated | state_initialised);
}

}  // namespace simgpu
