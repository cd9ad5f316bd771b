#include "tools/simgpu/machine/warp_run.h"

#include <algorithm>
#include <array>
#include <bit>

#include "tools/simgpu/machine/fault.h"

namespace simgpu {
namespace {

/// How often the hindmost split is chosen before another one has a turn.
constexpr std::uint64_t turns = 4096;
constexpr std::uint32_t most_depth = 4096;
constexpr std::uint32_t all_lanes = 0xffff'ffffu;

}  // namespace

WarpRun::WarpRun(const Kernel& kernel, Block& block, std::uint32_t index, const WarpImage& image)
    : kernel_(kernel), image_(image), predicates_(kernel.predicates) {
  warp_.block = &block;
  warp_.index = index;
  warp_.copies = &copies_;
  begins_with_ = image.of_warp(warp_);
  registers_.resize(begins_with_.size());
  warp_.registers = registers_.data();
  warp_.predicates = predicates_.data();
}

void WarpRun::begin(std::uint32_t threads) {
  warp_.existing = threads == warp_size ? all_lanes : (1u << threads) - 1;
  std::fill(predicates_.begin(), predicates_.end(), 0u);
  predicates_[true_predicate] = all_lanes;
  image_.fill(warp_, begins_with_);
  copies_.clear();
  calls_.clear();
  splits_.start(warp_.existing);
  choices_ = 0;
}

WarpRun::Stop WarpRun::run(std::uint64_t end, LaunchCounts& counts) {
  arrived_ = Splits::none;
  while (counts.warp_instructions < end) {
    const std::size_t chosen = splits_.choose(++choices_ % turns == 0);
    if (chosen != Splits::none) run_split(chosen, end, counts);
    else if (splits_.empty()) return Stop::finished;
    else if (!meet_apart()) return Stop::waiting;
    if (arrived_ != Splits::none) return Stop::arrived;
  }
  return Stop::spent;
}

/// Until it has to be chosen anew which split runs.
void WarpRun::run_split(std::size_t index, std::uint64_t end, LaunchCounts& counts) {
  Split& split = splits_[index];
  const std::uint32_t reconvergence = splits_.reconvergence_pc(index), lanes = split.lanes;
  const Instruction* const code = kernel_.code.data();
  const auto all_count = static_cast<std::uint64_t>(std::popcount(lanes));
  std::uint64_t done = counts.warp_instructions, lanes_done = 0;
  std::uint32_t pc = split.pc, controlled = 0;
  for (bool goes_on = true; goes_on;) {
    const Instruction& i = code[pc];
    const std::uint32_t guard = warp_.predicates[i.guard];
    const std::uint32_t active = lanes & (i.guard_negated ? ~guard : guard);
    pc_ = pc;
    ++done;
    lanes_done += active == lanes ? all_count : static_cast<std::uint64_t>(std::popcount(active));
    if (i.control == Control::next) [[likely]] {
      if (active != 0) execute(i, active);
      goes_on = ++pc != reconvergence;
    } else if (i.control == Control::branch && (active == 0 || active == lanes)) {
      pc = active == 0 ? pc + 1 : i.target;
      goes_on = splits_.size() == 1 && done < end;
    } else {
      if (active == 0) ++pc;
      controlled = active;
      break;
    }
  }
  counts.warp_instructions = done;
  counts.lane_instructions += lanes_done;
  split.pc = pc;
  if (controlled != 0) control(index, code[pc], controlled);
}

void WarpRun::execute(const Instruction& i, std::uint32_t active) {
  activate(active);
  (active == all_lanes ? i.all : i.some)(warp_, i);
}

void WarpRun::activate(std::uint32_t active) {
  if (warp_.active == active) return;
  warp_.active = active;
  for (int lane = 0; lane < warp_size; ++lane)
    warp_.lane_masks[lane] = (active >> lane & 1u) != 0 ? all_lanes : 0u;
}

/// Of a split at the instruction, some lanes of which it is for.
void WarpRun::control(std::size_t index, const Instruction& i, std::uint32_t active) {
  Split& split = splits_[index];
  const bool meets = i.control == Control::together || i.control == Control::barrier;
  if (active != split.lanes) {
    // The rest goes its way; a branch of some is no more than that.
    const std::uint32_t next = split.pc + 1;
    splits_.diverge(index, split.lanes & ~active, next);
    // Lanes that wait for others let them come first.
    if (meets) return;
  }
  switch (i.control) {
    case Control::branch: splits_[index].pc = i.target; break;
    case Control::select: select(index, i); break;
    case Control::call: call(index, i); break;
    case Control::ret: ret(index); break;
    case Control::exit: leave(index); break;
    case Control::together: together(index, i); break;
    case Control::barrier: barrier(index, i); break;
    case Control::next: break;
  }
}

void WarpRun::call(std::size_t index, const Instruction& i) {
  const Split& split = splits_[index];
  if (split.depth == most_depth)
    fail(FaultKind::out_of_bounds, std::countr_zero(split.lanes), 0,
         "functions have called each other 4096 deep");
  if (i.immediate != 0) calls_.keep(warp_, split.lanes, i);
  splits_.call(index, i.target);
}
void WarpRun::ret(std::size_t index) {
  if (!splits_.ret(index)) return leave(index);
  const Split& split = splits_[index];
  const Instruction& call = kernel_.code[split.pc - 1];
  if (call.immediate != 0) calls_.give_back(warp_, split.lanes, call);
}

void WarpRun::select(std::size_t index, const Instruction& i) {
  const auto* chosen = reinterpret_cast<const std::uint32_t*>(warp_.registers + i.operands[0]);
  const std::vector<std::uint32_t>& targets = kernel_.targets[i.target];
  std::array<std::uint32_t, warp_size> found{};
  if (i.immediate != 0) {
    const auto* pointers = reinterpret_cast<const std::uint64_t*>(warp_.registers + i.operands[0]);
    for (std::uint32_t lanes = splits_[index].lanes; lanes != 0; lanes &= lanes - 1) {
      const int lane = std::countr_zero(lanes);
      found[static_cast<std::size_t>(lane)] = find_function(lane, targets, pointers[lane]);
    }
    chosen = found.data();
  }
  std::uint32_t rest = splits_[index].lanes;
  while (true) {
    const int first = std::countr_zero(rest);
    const std::uint32_t way = chosen[first];
    if (way >= targets.size())
      fail(FaultKind::illegal_instruction, first, 0, "brx.idx: an index behind the last target");
    std::uint32_t same = 0;
    for (std::uint32_t lanes = rest; lanes != 0; lanes &= lanes - 1)
      if (chosen[std::countr_zero(lanes)] == way) same |= lanes & (~lanes + 1);
    if (same == rest) {
      splits_[index].pc = targets[way];
      return;
    }
    splits_.diverge(index, same, targets[way]);
    rest &= ~same;
  }
}

void WarpRun::leave(std::size_t index) {
  warp_.existing &= ~splits_[index].lanes;
  splits_.erase(index);
  // Who waits for members of the warp looks again who there is.
  for (Split& split : splits_)
    if (split.wait == Split::Wait::members) split.wait = Split::Wait::none;
}

void WarpRun::together(std::size_t index, const Instruction& i) {
  const std::uint32_t members = i.members == whole_warp ? all_lanes : members_of(index, i);
  if (const std::uint32_t missing = ~warp_.existing; i.members == whole_warp && missing != 0)
    fail(FaultKind::absent_lane, std::countr_zero(missing), 0,
         "all 32 lanes of the warp are needed, and this one has left or never was");
  const std::size_t met = wait_for(index, members);
  if (met == Splits::none) return;
  execute(i, splits_[met].lanes);
  ++splits_[met].pc;
}

/// What the first lane says. Lanes with another mask of members are another meeting, at the same
/// place.
std::uint32_t WarpRun::members_of(std::size_t index, const Instruction& i) {
  const auto* masks =
      reinterpret_cast<const std::uint32_t*>(warp_.registers + i.operands[i.members]);
  const Split& split = splits_[index];
  const std::uint32_t members = masks[std::countr_zero(split.lanes)];
  std::uint32_t others = 0;
  for (std::uint32_t lanes = split.lanes; lanes != 0; lanes &= lanes - 1) {
    const int lane = std::countr_zero(lanes);
    if (masks[lane] != members) others |= 1u << lane;
    else if ((members >> lane & 1u) == 0)
      fail(FaultKind::absent_lane, lane, 0, "the lane is not in its own mask of members");
  }
  if (others != 0) splits_.diverge(index, others, split.pc);
  return members;
}

void WarpRun::barrier(std::size_t index, const Instruction& i) {
  activate(splits_[index].lanes);
  i.all(warp_, i);
  if (warp_.arrival.aligned) {
    index = wait_for(index, all_lanes);
    if (index == Splits::none) return;
    activate(splits_[index].lanes);
    i.all(warp_, i);
  }
  arrived_ = index;
}

/// The split that has all members that exist, joined with those that waited at its place for the
/// same; `none` where some are missing: then it waits.
std::size_t WarpRun::wait_for(std::size_t index, std::uint32_t members) {
  index = splits_.reconverge(index, [members](const Split& other) {
    return other.wait == Split::Wait::members && other.awaited == members;
  });
  Split& split = splits_[index];
  if ((members & warp_.existing & ~split.lanes) == 0) return index;
  split.wait = Split::Wait::members;
  split.awaited = members;
  return Splits::none;
}

/// bar.warp.sync at several places of the code is one meeting: whether one has come about.
bool WarpRun::meet_apart() {
  const auto waits = [this](const Split& split) {
    return split.wait == Split::Wait::members &&
           kernel_.origins[split.pc].opcode == "bar.warp.sync";
  };
  for (const Split& first : splits_) {
    if (!waits(first)) continue;
    const auto is_there = [&](const Split& split) {
      return waits(split) && split.awaited == first.awaited;
    };
    std::uint32_t present = 0;
    for (const Split& split : splits_)
      if (is_there(split)) present |= split.lanes;
    if ((first.awaited & warp_.existing & ~present) != 0) continue;
    pc_ = first.pc;
    activate(present);
    kernel_.code[pc_].some(warp_, kernel_.code[pc_]);
    for (Split& split : splits_)
      if (is_there(split)) split.go_on();
    return true;
  }
  return false;
}

void WarpRun::pass_barrier(std::uint32_t number, const BarrierResult& result) {
  for (Split& split : splits_) {
    if (split.wait != Split::Wait::barrier || split.awaited != number) continue;
    give(split, result);
    split.go_on();
  }
}

void WarpRun::give(const Split& split, const BarrierResult& result) {
  using Reduction = BarrierArrival::Reduction;
  const Reduction reduction = warp_.arrival.reduction;
  if (reduction == Reduction::none) return;
  const std::uint32_t to = kernel_.code[split.pc].operands[0];
  if (reduction == Reduction::count) {
    auto* counts = reinterpret_cast<std::uint32_t*>(warp_.registers + to);
    for (std::uint32_t lanes = split.lanes; lanes != 0; lanes &= lanes - 1)
      counts[std::countr_zero(lanes)] = result.holding;
    return;
  }
  const bool holds =
      reduction == Reduction::all ? result.holding == result.reducing : result.holding != 0;
  std::uint32_t& predicate = warp_.predicates[to];
  predicate = (predicate & ~split.lanes) | (holds ? split.lanes : 0);
}

void WarpRun::fail_stuck() {
  const Split& split = splits_[0];
  pc_ = split.pc;
  const int lane = std::countr_zero(split.lanes);
  if (kernel_.code[split.pc].control == Control::together)
    fail(FaultKind::absent_lane, lane, 0,
         "members of a warp-wide instruction wait elsewhere, and never come to it");
  fail(FaultKind::divergent_barrier, lane, 0,
       "threads wait at a barrier to which others, which wait elsewhere, never come");
}

}  // namespace simgpu
