#include "tools/simgpu/machine/block_run.h"

#include <algorithm>
#include <bit>

namespace simgpu {
namespace {

constexpr std::size_t shared_alignment = 1024;
/// How many instructions a warp runs before the next has its turn.
constexpr std::int64_t most_in_turn = 1 << 16;

std::uint32_t warps_of(const Grid& grid) {
  return static_cast<std::uint32_t>((grid.block_size.count() + warp_size - 1) / warp_size);
}

std::uint32_t shared_bytes_of(const Grid& grid) {
  const std::uint32_t own = grid.kernel->static_shared_bytes;
  if (grid.dynamic_shared_bytes == 0) return own;
  return std::max(own, grid.kernel->dynamic_shared_offset + grid.dynamic_shared_bytes);
}

}  // namespace

BlockRun::BlockRun(const Grid& grid, const WarpImage& image, GridChecks& checks)
    : grid_(grid),
      image_(image),
      checks_(checks, warps_of(grid), shared_bytes_of(grid)),
      shared_(shared_bytes_of(grid) + shared_alignment),
      local_(grid.kernel->local_bytes * warps_of(grid) * std::size_t{warp_size}),
      warps_(warps_of(grid)) {
  const auto address = reinterpret_cast<std::uintptr_t>(shared_.data());
  block_.grid = &grid;
  block_.shared = shared_.data() + (shared_alignment - address % shared_alignment);
  block_.shared_bytes = shared_bytes_of(grid);
  block_.local = local_.data();
  block_.checks = check_options().memory ? &checks_ : nullptr;
  std::uint32_t index = 0;
  for (WarpRun& run : warps_) {
    run.warp.block = &block_;
    run.warp.index = index++;
    run.begins_with = image.of_warp(run.warp);
    run.registers.resize(run.begins_with.size());
    run.predicates.resize(grid.kernel->predicates);
    run.warp.registers = run.registers.data();
    run.warp.predicates = run.predicates.data();
    run.warp.copies = &run.copies;
  }
}

void BlockRun::begin(std::uint64_t number) {
  const Size3& size = grid_.size;
  block_.number = number;
  block_.index = {static_cast<std::uint32_t>(number % size.x),
                  static_cast<std::uint32_t>(number / size.x % size.y),
                  static_cast<std::uint32_t>(number / size.x / size.y)};
  checks_.begin(block_);
  barriers_.fill({});
  existing_ = static_cast<std::uint32_t>(grid_.block_size.count());
  next_warp_ = 0;
  std::uint32_t rest = existing_;
  for (WarpRun& run : warps_) {
    const std::uint32_t threads = std::min<std::uint32_t>(rest, warp_size);
    rest -= threads;
    run.copies.clear();
    run.calls.clear();
    run.warp.existing = threads == warp_size ? 0xffff'ffffu : (1u << threads) - 1;
    std::fill(run.predicates.begin(), run.predicates.end(), 0u);
    run.predicates[true_predicate] = 0xffff'ffffu;
    image_.fill(run.warp, run.begins_with);
    run.splits.start(run.warp.existing);
    run.choices = 0;
  }
}

bool BlockRun::run(std::int64_t budget, LaunchCounts& counts) {
  std::size_t idle = 0;
  while (existing_ != 0 && budget > 0) {
    WarpRun& run = warps_[next_warp_];
    std::int64_t turn = std::min(budget, most_in_turn);
    const std::int64_t given = turn;
    place_ = {0, run.warp.index, block_.index};
    try {
      run_warp(run, *grid_.kernel, *this, turn, counts);
    } catch (const Fault&) {
      place_.pc = run.pc;
      throw;
    }
    place_.pc = run.pc;
    budget -= given - turn;
    idle = turn == given ? idle + 1 : 0;
    if (idle == warps_.size()) fail_stuck();
    next_warp_ = (next_warp_ + 1) % warps_.size();
  }
  return existing_ == 0;
}

void BlockRun::arrive(WarpRun& run, std::size_t index) {
  Split& split = run.splits[index];
  const BarrierArrival& arrival = run.warp.arrival;
  if (arrival.barrier >= barriers_.size())
    fail(FaultKind::illegal_instruction, Fault::every_lane, 0, "a block has barriers 0 to 15");
  if (arrival.threads % warp_size != 0)
    fail(FaultKind::illegal_instruction, Fault::every_lane, 0,
         "the threads of a barrier are no multiple of the warp's 32");
  Barrier& barrier = barriers_[arrival.barrier];
  if (barrier.arrived == 0) {
    barrier = {};
    barrier.threads = arrival.threads;
  } else if (barrier.threads != arrival.threads) {
    fail(FaultKind::divergent_barrier, Fault::every_lane, 0,
         "threads come to one barrier and name different numbers of threads");
  }
  const auto lanes = static_cast<std::uint32_t>(std::popcount(split.lanes));
  // A warp is counted whole, but where all threads of the block are meant.
  barrier.arrived += arrival.aligned && arrival.threads != 0 ? std::uint32_t{warp_size} : lanes;
  if (arrival.reduction != BarrierArrival::Reduction::none) barrier.reducing += lanes;
  barrier.holding += static_cast<std::uint32_t>(std::popcount(arrival.predicate & split.lanes));
  if (barrier.warps.empty() || barrier.warps.back() != run.warp.index)
    barrier.warps.push_back(run.warp.index);
  if (arrival.waits) {
    split.wait = Split::Wait::barrier;
    split.awaited = arrival.barrier;
  } else {
    ++split.pc;
  }
  release_if_full(arrival.barrier);
}

void BlockRun::leave(WarpRun&, std::uint32_t lanes) {
  existing_ -= static_cast<std::uint32_t>(std::popcount(lanes));
  for (std::uint32_t number = 0; number < barriers_.size(); ++number)
    if (barriers_[number].arrived != 0 && barriers_[number].threads == 0) release_if_full(number);
}

/// A barrier of the whole block waits for all threads that have not left. That some leave without
/// coming to it is no fault: PTX ISA 9.7.13.1 has barriers wait for threads that have not exited,
/// 9.7.12.7 (exit) releases those that only exiting threads hold up, and the CUDA C++ programming
/// guide, "Independent Thread Scheduling", says the same of __syncthreads since Volta. What they did
/// before they left is over for those that met.
void BlockRun::release_if_full(std::uint32_t number) {
  Barrier& barrier = barriers_[number];
  const bool of_all = barrier.threads == 0;
  if (barrier.arrived < (of_all ? existing_ : barrier.threads)) return;
  for (WarpRun& run : warps_) {
    for (std::size_t k = 0; k < run.splits.size(); ++k) {
      Split& split = run.splits[k];
      if (split.wait != Split::Wait::barrier || split.awaited != number) continue;
      give_result(run, split, barrier);
      split.wait = Split::Wait::none;
      ++split.pc;
    }
  }
  if (of_all)
    for (const WarpRun& run : warps_)
      if (run.warp.existing == 0) barrier.warps.push_back(run.warp.index);
  checks_.meet(barrier.warps);
  barrier = {};
}

void BlockRun::give_result(WarpRun& run, const Split& split, const Barrier& barrier) {
  using Reduction = BarrierArrival::Reduction;
  const Instruction& instruction = grid_.kernel->code[split.pc];
  const Reduction reduction = run.warp.arrival.reduction;
  if (reduction == Reduction::none) return;
  if (reduction == Reduction::count) {
    auto* result = reinterpret_cast<std::uint32_t*>(run.warp.registers + instruction.operands[0]);
    for (std::uint32_t lanes = split.lanes; lanes != 0; lanes &= lanes - 1)
      result[std::countr_zero(lanes)] = barrier.holding;
    return;
  }
  const bool holds =
      reduction == Reduction::all ? barrier.holding == barrier.reducing : barrier.holding != 0;
  std::uint32_t& result = run.warp.predicates[instruction.operands[0]];
  result = (result & ~split.lanes) | (holds ? split.lanes : 0);
}

void BlockRun::fail_stuck() {
  const auto waits = [](const WarpRun& run) { return !run.splits.empty(); };
  const WarpRun& run = *std::find_if(warps_.begin(), warps_.end(), waits);
  const Split& split = run.splits[0];
  place_ = {split.pc, run.warp.index, block_.index};
  const int lane = std::countr_zero(split.lanes);
  if (grid_.kernel->code[split.pc].control == Control::together)
    fail(FaultKind::absent_lane, lane, 0,
         "members of a warp-wide instruction wait elsewhere, and never come to it");
  fail(FaultKind::divergent_barrier, lane, 0,
       "threads wait at a barrier to which others, which wait elsewhere, never come");
}

}  // namespace simgpu
