#include "tools/simgpu/machine/block_run.h"

#include <algorithm>
#include <bit>

namespace simgpu {
namespace {

/// Of shared and local memory, for the alignments that variables ask for.
constexpr std::size_t block_alignment = 1024;

/// Where a block's memory begins, in some that is as much longer.
std::byte* aligned(std::vector<std::byte>& bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
  return bytes.data() + (block_alignment - address % block_alignment);
}

/// How many instructions a warp runs before the next has its turn.
constexpr std::uint64_t most_in_turn = 1 << 16;

std::uint32_t warps_of(const Grid& grid) {
  return static_cast<std::uint32_t>(grid.block_size.warps());
}

std::uint32_t shared_bytes_of(const Grid& grid) {
  const Kernel& kernel = *grid.kernel;
  const std::uint32_t own = kernel.reserved_shared_bytes == 0
                                ? kernel.static_shared_bytes
                                : kernel.reserved_shared_offset + kernel.reserved_shared_bytes;
  if (grid.dynamic_shared_bytes == 0) return own;
  return std::max(own, kernel.dynamic_shared_offset + grid.dynamic_shared_bytes);
}

}  // namespace

BlockRun::BlockRun(const Grid& grid, const WarpImage& image, GridChecks& checks)
    : grid_(grid),
      checks_(checks, warps_of(grid), shared_bytes_of(grid)),
      shared_(shared_bytes_of(grid) + block_alignment),
      local_(grid.kernel->local_bytes * warps_of(grid) * std::size_t{warp_size} + block_alignment) {
  block_.grid = &grid;
  block_.shared = aligned(shared_);
  block_.shared_bytes = shared_bytes_of(grid);
  block_.local = aligned(local_);
  block_.checks = check_options().memory ? &checks_ : nullptr;
  for (std::uint32_t index = 0; index < warps_of(grid); ++index)
    warps_.emplace_back(*grid.kernel, block_, index, image);
}

void BlockRun::begin(std::uint64_t number) {
  const Size3& size = grid_.size;
  block_.number = number;
  block_.index = {static_cast<std::uint32_t>(number % size.x),
                  static_cast<std::uint32_t>(number / size.x % size.y),
                  static_cast<std::uint32_t>(number / size.x / size.y)};
  checks_.begin(block_);
  std::fill_n(block_.shared + grid_.kernel->reserved_shared_offset,
              grid_.kernel->reserved_shared_bytes, std::byte{0});
  barriers_.fill({});
  existing_ = static_cast<std::uint32_t>(grid_.block_size.count());
  running_ = 0;
  for (WarpRun& run : warps_)
    run.begin(std::min<std::uint32_t>(existing_ - run.warp().index * warp_size, warp_size));
}

bool BlockRun::run(std::uint64_t budget, LaunchCounts& counts) {
  const std::uint64_t end = counts.warp_instructions + budget;
  std::size_t idle = 0;
  while (existing_ != 0 && counts.warp_instructions < end) {
    WarpRun& run = warps_[running_];
    const std::uint64_t before = counts.warp_instructions;
    const std::uint32_t existing = run.warp().existing;
    const WarpRun::Stop stop = run.run(std::min(end, before + most_in_turn), counts);
    if (existing != run.warp().existing)
      leave(static_cast<std::uint32_t>(std::popcount(existing & ~run.warp().existing)));
    if (stop == WarpRun::Stop::arrived) arrive(run);
    idle = counts.warp_instructions == before ? idle + 1 : 0;
    if (idle == warps_.size()) fail_stuck();
    running_ = (running_ + 1) % static_cast<std::uint32_t>(warps_.size());
  }
  return existing_ == 0;
}

void BlockRun::arrive(WarpRun& run) {
  Split& split = run.arrived();
  const BarrierArrival& arrival = run.warp().arrival;
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
  if (arrival.reduction != BarrierArrival::Reduction::none) barrier.result.reducing += lanes;
  barrier.result.holding +=
      static_cast<std::uint32_t>(std::popcount(arrival.predicate & split.lanes));
  barrier.warps |= 1u << run.warp().index;
  if (arrival.waits) {
    barrier.waiting |= 1u << run.warp().index;
    split.wait = Split::Wait::barrier;
    split.awaited = arrival.barrier;
  } else {
    checks_.arrive(run.warp());
    ++split.pc;
  }
  release_if_full(arrival.barrier);
}

void BlockRun::leave(std::uint32_t threads) {
  existing_ -= threads;
  for (std::uint32_t number = 0; number < barriers_.size(); ++number)
    if (barriers_[number].arrived != 0 && barriers_[number].threads == 0) release_if_full(number);
}

/// A barrier of the whole block waits for all threads that have not left. That some leave without
/// coming to it is no fault: PTX ISA 9.7.13.1 has barriers wait for threads that have not exited,
/// 9.7.12.7 (exit) releases those that only exiting threads hold up, and the CUDA C++ programming
/// guide, "Independent Thread Scheduling", says the same of __syncthreads since Volta. What they
/// did before they left is over for those that met.
void BlockRun::release_if_full(std::uint32_t number) {
  Barrier& barrier = barriers_[number];
  const bool of_all = barrier.threads == 0;
  if (barrier.arrived < (of_all ? existing_ : barrier.threads)) return;
  for (WarpRun& run : warps_) {
    run.pass_barrier(number, barrier.result);
    if (!of_all || run.warp().existing != 0) continue;
    barrier.warps |= 1u << run.warp().index;
    barrier.waiting |= 1u << run.warp().index;
  }
  checks_.meet(barrier.warps, barrier.waiting);
  barrier = {};
}

void BlockRun::fail_stuck() {
  for (running_ = 0; warps_[running_].is_done();) ++running_;
  warps_[running_].fail_stuck();
}

}  // namespace simgpu
