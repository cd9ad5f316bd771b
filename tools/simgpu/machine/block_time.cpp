#include "tools/simgpu/machine/block_time.h"

#include <algorithm>
#include <bit>

namespace simgpu {
namespace {

/// Steps of a block's first chunk; each further one has twice as many.
constexpr std::uint32_t first_steps = 8, most_steps = 4096;

Cell cell_of(std::uint32_t interval) { return Cell{interval} << cell_interval_shift; }

void raise(std::uint32_t* to, const std::vector<std::uint32_t>& from) {
  for (std::size_t n = 0; n < from.size(); ++n) to[n] = std::max(to[n], from[n]);
}

template <class Body>
void each_bit(std::uint32_t bits, Body body) {
  for (; bits != 0; bits &= bits - 1) body(static_cast<std::uint32_t>(std::countr_zero(bits)));
}

}  // namespace

BlockTime::BlockTime(GridTime& grid, std::uint32_t warps)
    : grid_(grid),
      warps_(warps),
      step_(warps),
      clocks_(warps),
      lanes_(warps),
      known_(std::size_t{warps} * warps),
      arrived_(warps),
      fenced_(warps) {}

bool BlockTime::begin(std::uint64_t block) {
  block_ = block;
  // Blocks of a launch mostly take the same number of steps: in one chunk, the short way knows all.
  std::uint32_t last_steps = 0;
  for (const Chunk& chunk : chunks_) last_steps += chunk.count / warps_;
  chunks_.clear();
  steps_ = 0;
  std::fill(known_.begin(), known_.end(), 0u);
  std::fill(fenced_.begin(), fenced_.end(), Snapshots());
  any_fence_ = false;
  published_in_shared_.clear();
  knowledge_.clear();
  others_.clear();
  if (!take_steps(std::clamp(last_steps, first_steps, most_steps))) return false;
  floor_ = chunks_.back().first;
  return true;
}

/// More steps in the last chunk, or if others have taken the numbers behind it, all warps go on in
/// a new one.
bool BlockTime::take_steps(std::uint32_t steps) {
  const std::uint32_t first = grid_.take(block_, warps_, steps);
  if (first == 0) return false;
  if (!chunks_.empty() && first == chunks_.back().first + chunks_.back().count) {
    chunks_.back().count += warps_ * steps;
    steps_ += steps;
    return true;
  }
  chunks_.push_back({first, warps_ * steps});
  steps_ = steps;
  for (std::uint32_t warp = 0; warp < warps_; ++warp) {
    set_step(warp, 0);
    clocks_[warp].known_from = cell_of(first);
    clocks_[warp].known_cells = 0;
  }
  return true;
}

void BlockTime::set_step(std::uint32_t warp, std::uint32_t step) {
  step_[warp] = step;
  const std::uint32_t interval = chunks_.back().first + step * warps_ + warp;
  clocks_[warp].mine = cell_of(interval) | Cell{whole_cell} << cell_bytes_shift;
  lanes_[warp].restart();
  show_lanes(warp);
}

void BlockTime::show_lanes(std::uint32_t warp) {
  clocks_[warp].lane_time = lanes_[warp].now();
  clocks_[warp].lane_floor = lanes_[warp].floor();
}

bool BlockTime::meet_lanes(std::uint32_t warp, std::uint32_t lanes, std::uint32_t existing) {
  if (!lanes_[warp].meet(lanes, existing)) return advance(1u << warp);
  show_lanes(warp);
  return true;
}

/// Each warp goes on in a new interval.
bool BlockTime::advance(std::uint32_t warps) {
  bool has_room = true;
  each_bit(warps, [&](std::uint32_t warp) { has_room = has_room && step_[warp] + 1 < steps_; });
  const std::size_t chunks = chunks_.size();
  if (!has_room && !take_steps(std::min(2 * steps_, most_steps))) return false;
  if (chunks_.size() != chunks) return true;
  each_bit(warps, [&](std::uint32_t warp) { set_step(warp, step_[warp] + 1); });
  return true;
}

bool BlockTime::arrive(std::uint32_t warp) {
  arrived_[warp].assign(known(warp), known(warp) + warps_);
  arrived_[warp][warp] = now(warp);
  return advance(1u << warp);
}

bool BlockTime::meet(std::uint32_t warps, std::uint32_t waiting) {
  if (any_fence_) join_fences(warps);
  if (waiting == all_warps()) return meet_all();
  std::vector<std::uint32_t> joined(warps_);
  each_bit(waiting, [&](std::uint32_t warp) {
    for (std::uint32_t n = 0; n < warps_; ++n) joined[n] = std::max(joined[n], known(warp)[n]);
    joined[warp] = std::max(joined[warp], now(warp));
  });
  each_bit(warps & ~waiting, [&](std::uint32_t warp) { raise(joined.data(), arrived_[warp]); });
  each_bit(waiting, [&](std::uint32_t warp) { raise(known(warp), joined); });
  return advance(waiting);
}

bool BlockTime::meet_all() {
  const std::uint32_t last = *std::max_element(step_.begin(), step_.end());
  for (std::uint32_t warp = 0; warp < warps_; ++warp) step_[warp] = last;
  if (!advance(all_warps())) return false;
  const std::uint32_t first = chunks_.back().first;
  floor_ = first + step_[0] * warps_;
  for (WarpClock& clock : clocks_) clock.known_cells = cell_of(floor_ - first);
  return true;
}

bool BlockTime::is_over(std::uint32_t warp, std::uint32_t interval) {
  for (std::size_t n = chunks_.size(); n-- > 0;) {
    const std::uint32_t place = interval - chunks_[n].first;
    if (place >= chunks_[n].count) continue;
    const std::uint32_t other = place % warps_;
    return other == warp || interval < floor_ || interval <= known(warp)[other];
  }
  const std::optional<IntervalOwner> owner = grid_.owner(interval);
  if (!owner) return true;
  std::vector<std::uint32_t>& others = others_[owner->block];
  if (owner->warp < others.size() && interval <= others[owner->warp]) return true;
  const std::shared_ptr<const Snapshot> found = grid_.find(knowledge_, *owner, interval);
  if (!found) return false;
  others.resize(found->intervals.size());
  raise(others.data(), found->intervals);
  return true;
}

bool BlockTime::fence(std::uint32_t warp, Scope scope) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->block = block_;
  snapshot->intervals.assign(known(warp), known(warp) + warps_);
  for (std::uint32_t& each : snapshot->intervals) each = std::max(each, floor_ - 1);
  snapshot->intervals[warp] = now(warp);
  snapshot->knowledge = knowledge_;
  snapshot->of_device = scope == Scope::device;
  fenced_[warp][static_cast<std::size_t>(Scope::block)] = snapshot;
  if (scope == Scope::device) fenced_[warp][static_cast<std::size_t>(Scope::device)] = snapshot;
  any_fence_ = true;
  return advance(1u << warp);
}

/// A fence before a barrier counts for who goes on behind it: much published code has all threads
/// execute a fence and meet before one of them counts the block as done.
void BlockTime::join_fences(std::uint32_t warps) {
  for (const Scope scope : {Scope::block, Scope::device}) {
    const auto which = static_cast<std::size_t>(scope);
    std::shared_ptr<const Snapshot> joined;
    each_bit(warps, [&](std::uint32_t warp) {
      const std::shared_ptr<const Snapshot>& own = fenced_[warp][which];
      if (!own || own == joined) return;
      if (!joined) {
        joined = own;
        return;
      }
      auto both = std::make_shared<Snapshot>(*joined);
      raise(both->intervals.data(), own->intervals);
      join(both->knowledge, own->knowledge);
      joined = both;
    });
    if (joined) each_bit(warps, [&](std::uint32_t warp) { fenced_[warp][which] = joined; });
  }
}

void BlockTime::publish(std::uint32_t warp, std::uint64_t address, bool in_shared) {
  const Snapshots& fenced = fenced_[warp];
  if (in_shared) {
    const auto& snapshot = fenced[static_cast<std::size_t>(Scope::block)];
    if (!snapshot) return;
    std::vector<std::uint32_t>& known = published_in_shared_[address];
    known.resize(warps_);
    raise(known.data(), snapshot->intervals);
    return;
  }
  for (const auto& snapshot : fenced)
    if (snapshot) grid_.publish(address, snapshot);
}

void BlockTime::learn(std::uint32_t warp, std::uint64_t address, bool in_shared) {
  if (!in_shared) {
    grid_.learn(address, block_, knowledge_, known(warp));
    return;
  }
  const auto found = published_in_shared_.find(address);
  if (found != published_in_shared_.end()) raise(known(warp), found->second);
}

}  // namespace simgpu
