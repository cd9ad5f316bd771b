#include "tools/simgpu/machine/warp_run.h"

#include <array>
#include <bit>

namespace simgpu {
namespace {

/// How often the hindmost split is chosen before another one has a turn.
constexpr std::uint64_t turns = 4096;
constexpr std::uint32_t most_depth = 4096;
constexpr std::uint32_t all_lanes = 0xffff'ffffu;

/// One warp while it runs.
class Runner {
 public:
  Runner(WarpRun& run, const Kernel& kernel, WarpHost& host, std::int64_t& budget,
         LaunchCounts& counts)
      : run_(run),
        warp_(run.warp),
        splits_(run.splits),
        kernel_(kernel),
        host_(host),
        budget_(budget),
        counts_(counts) {}

  WarpStop run() {
    while (true) {
      const std::size_t chosen = splits_.choose(++run_.choices % turns == 0);
      if (chosen != Splits::none) run_split(chosen);
      else if (splits_.empty()) return WarpStop::finished;
      else if (!meet_apart()) return WarpStop::waiting;
      if (budget_ <= 0) return WarpStop::spent;
    }
  }

 private:
  /// Until it has to be chosen anew which split runs.
  void run_split(std::size_t index) {
    Split& split = splits_[index];
    const std::uint32_t meeting = splits_.meeting_of(index);
    const Instruction* const code = kernel_.code.data();
    const std::uint32_t lanes = split.lanes;
    const auto all_count = static_cast<std::uint64_t>(std::popcount(lanes));
    std::uint32_t pc = split.pc;
    std::int64_t done = 0;
    std::uint64_t lanes_done = 0;
    try {
      for (bool goes_on = true; goes_on;) {
        const Instruction& i = code[pc];
        const std::uint32_t guard = warp_.predicates[i.guard];
        const std::uint32_t active = lanes & (i.guard_negated ? ~guard : guard);
        ++done;
        lanes_done +=
            active == lanes ? all_count : static_cast<std::uint64_t>(std::popcount(active));
        if (i.control == Control::next) [[likely]] {
          if (active != 0) execute(i, active);
          ++pc;
          goes_on = pc != meeting;
        } else if (i.control == Control::branch && (active == 0 || active == lanes)) {
          pc = active == 0 ? pc + 1 : i.target;
          goes_on = splits_.size() == 1 && done < budget_;
        } else {
          split.pc = pc;
          run_.pc = pc;
          if (active == 0) split.pc = pc + 1;
          else control(index, i, active);
          return account(done, lanes_done);
        }
      }
    } catch (...) {
      run_.pc = pc;
      account(done, lanes_done);
      throw;
    }
    split.pc = pc;
    run_.pc = pc;
    account(done, lanes_done);
  }

  void account(std::int64_t done, std::uint64_t lanes) {
    budget_ -= done;
    counts_.warp_instructions += static_cast<std::uint64_t>(done);
    counts_.lane_instructions += lanes;
  }

  void execute(const Instruction& i, std::uint32_t active) {
    activate(active);
    (active == all_lanes ? i.all : i.some)(warp_, i);
  }

  void activate(std::uint32_t active) {
    if (warp_.active == active) return;
    warp_.active = active;
    for (int lane = 0; lane < warp_size; ++lane)
      warp_.lane_masks[lane] = (active >> lane & 1u) != 0 ? all_lanes : 0u;
  }

  /// Of a split at the instruction, some lanes of which it is for.
  void control(std::size_t index, const Instruction& i, std::uint32_t active) {
    Split& split = splits_[index];
    const bool meets = i.control == Control::together || i.control == Control::barrier;
    if (active != split.lanes) {
      // The rest goes its way; a branch of some is no more than that.
      const std::uint32_t next = split.pc + 1;
      splits_.part(index, split.lanes & ~active, next);
      // Lanes that wait for others let them come first.
      if (meets) return;
    }
    switch (i.control) {
      case Control::branch: splits_[index].pc = i.target; break;
      case Control::select: select(index, i); break;
      case Control::call: call(index, i); break;
      case Control::give_back: give_back(index); break;
      case Control::exit: leave(index); break;
      case Control::together: together(index, i); break;
      case Control::barrier: barrier(index, i); break;
      case Control::next: break;
    }
  }

  void call(std::size_t index, const Instruction& i) {
    const Split& split = splits_[index];
    if (split.depth == most_depth)
      fail(FaultKind::out_of_bounds, std::countr_zero(split.lanes), 0,
           "functions have called each other 4096 deep");
    if (i.immediate != 0) run_.calls.keep(warp_, split.lanes, i);
    splits_.call(index, i.target);
  }
  void give_back(std::size_t index) {
    if (!splits_.give_back(index)) return leave(index);
    const Split& split = splits_[index];
    const Instruction& call = kernel_.code[split.pc - 1];
    if (call.immediate != 0) run_.calls.give_back(warp_, split.lanes, call);
  }

  void select(std::size_t index, const Instruction& i) {
    const auto* chosen = reinterpret_cast<const std::uint32_t*>(warp_.registers + i.operands[0]);
    const std::vector<std::uint32_t>& targets = kernel_.targets[i.target];
    std::array<std::uint32_t, warp_size> found{};
    if (i.immediate != 0) {
      const auto* pointers =
          reinterpret_cast<const std::uint64_t*>(warp_.registers + i.operands[0]);
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
      splits_.part(index, same, targets[way]);
      rest &= ~same;
    }
  }

  void leave(std::size_t index) {
    const std::uint32_t lanes = splits_[index].lanes;
    splits_.erase(index);
    warp_.existing &= ~lanes;
    // Who waits for members of the warp looks again who there is.
    for (std::size_t k = 0; k < splits_.size(); ++k)
      if (splits_[k].wait == Split::Wait::members) splits_[k].wait = Split::Wait::none;
    host_.leave(run_, lanes);
  }

  void together(std::size_t index, const Instruction& i) {
    if (i.members == whole_warp) return together_whole(index, i);
    const auto* masks =
        reinterpret_cast<const std::uint32_t*>(warp_.registers + i.operands[i.members]);
    Split& split = splits_[index];
    const std::uint32_t members = masks[std::countr_zero(split.lanes)];
    std::uint32_t others = 0;
    for (std::uint32_t lanes = split.lanes; lanes != 0; lanes &= lanes - 1) {
      const int lane = std::countr_zero(lanes);
      if (masks[lane] != members) others |= 1u << lane;
      else if ((members >> lane & 1u) == 0)
        fail(FaultKind::absent_lane, lane, 0, "the lane is not in its own mask of members");
    }
    // Lanes with another mask of members are another meeting, at the same place.
    if (others != 0) splits_.part(index, others, split.pc);
    run_together(index, i, members);
  }
  void together_whole(std::size_t index, const Instruction& i) {
    if (const std::uint32_t missing = ~warp_.existing; missing != 0)
      fail(FaultKind::absent_lane, std::countr_zero(missing), 0,
           "all 32 lanes of the warp are needed, and this one has left or never was");
    run_together(index, i, all_lanes);
  }
  void run_together(std::size_t index, const Instruction& i, std::uint32_t members) {
    const std::size_t met = wait_for(index, members);
    if (met == Splits::none) return;
    execute(i, splits_[met].lanes);
    ++splits_[met].pc;
  }

  void barrier(std::size_t index, const Instruction& i) {
    activate(splits_[index].lanes);
    i.all(warp_, i);
    if (warp_.arrival.aligned) {
      index = wait_for(index, all_lanes);
      if (index == Splits::none) return;
      activate(splits_[index].lanes);
      i.all(warp_, i);
    }
    host_.arrive(run_, index);
  }

  /// The split that has all members that exist, joined with those that waited at its place for the
  /// same; `none` where some are missing: then it waits.
  std::size_t wait_for(std::size_t index, std::uint32_t members) {
    for (std::size_t k = splits_.size(); k-- > 0;) {
      const Split& other = splits_[k];
      Split& split = splits_[index];
      if (k == index || other.wait != Split::Wait::members || other.awaited != members ||
          other.pc != split.pc || other.caller != split.caller)
        continue;
      split.lanes |= other.lanes;
      splits_.erase(k);
      if (k < index) --index;
    }
    Split& split = splits_[index];
    if ((members & warp_.existing & ~split.lanes) == 0) return index;
    split.wait = Split::Wait::members;
    split.awaited = members;
    return Splits::none;
  }

  /// bar.warp.sync at several places of the code is one meeting: whether one has come about.
  bool meet_apart() {
    for (std::size_t k = 0; k < splits_.size(); ++k) {
      const Split& first = splits_[k];
      if (!is_plain_meeting(first)) continue;
      std::uint32_t present = 0;
      for (std::size_t other = 0; other < splits_.size(); ++other)
        if (is_same_meeting(splits_[other], first)) present |= splits_[other].lanes;
      if ((first.awaited & warp_.existing & ~present) != 0) continue;
      const Split meeting = first;
      activate(present);
      kernel_.code[meeting.pc].some(warp_, kernel_.code[meeting.pc]);
      for (std::size_t other = 0; other < splits_.size(); ++other) {
        Split& split = splits_[other];
        if (!is_same_meeting(split, meeting)) continue;
        split.wait = Split::Wait::none;
        ++split.pc;
      }
      return true;
    }
    return false;
  }
  bool is_plain_meeting(const Split& split) const {
    return split.wait == Split::Wait::members &&
           kernel_.origins[split.pc].opcode == "bar.warp.sync";
  }
  bool is_same_meeting(const Split& split, const Split& meeting) const {
    return is_plain_meeting(split) && split.awaited == meeting.awaited;
  }

  WarpRun& run_;
  Warp& warp_;
  Splits& splits_;
  const Kernel& kernel_;
  WarpHost& host_;
  std::int64_t& budget_;
  LaunchCounts& counts_;
};

}  // namespace

WarpStop run_warp(WarpRun& run, const Kernel& kernel, WarpHost& host, std::int64_t& budget,
                  LaunchCounts& counts) {
  return Runner(run, kernel, host, budget, counts).run();
}

}  // namespace simgpu
