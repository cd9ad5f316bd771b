/// \file
/// Runs a warp as far as it gets.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/simgpu/machine/call_stack.h"
#include "tools/simgpu/machine/launch.h"
#include "tools/simgpu/machine/pending_copies.h"
#include "tools/simgpu/machine/presets.h"
#include "tools/simgpu/machine/splits.h"
#include "tools/simgpu/machine/warp.h"

namespace simgpu {

/// Of the threads that have met at a barrier.
struct BarrierResult {
  std::uint32_t reducing = 0;  ///< threads that brought a predicate
  std::uint32_t holding = 0;   ///< those for which it held
};

class WarpRun {
 public:
  enum class Stop : std::uint8_t {
    finished,  ///< all lanes have left
    waiting,   ///< for other warps, or for ever
    arrived,   ///< a split has come to a barrier of the block, as Warp::arrival says
    spent,
  };

  WarpRun(const Kernel& kernel, Block& block, std::uint32_t index, const WarpImage& image);
  WarpRun(const WarpRun&) = delete;
  WarpRun& operator=(const WarpRun&) = delete;

  /// From the first instruction of the block on.
  void begin(std::uint32_t threads);
  /// On, until about as many instructions are counted. Throws Fault.
  Stop run(std::uint64_t end, LaunchCounts& counts);

  const Warp& warp() const { return warp_; }
  bool is_done() const { return splits_.empty(); }
  /// The instruction that was run last: that threw a Fault, or ended a turn.
  std::uint32_t pc() const { return pc_; }
  /// The split that has come to a barrier.
  Split& arrived() { return splits_[arrived_]; }
  /// Lanes that wait at that barrier of the block go on.
  void pass_barrier(std::uint32_t number, const BarrierResult& result);
  /// Where every warp of the block waits.
  [[noreturn]] void fail_stuck();

 private:
  void run_split(std::size_t index, std::uint64_t end, LaunchCounts& counts);
  void execute(const Instruction& i, std::uint32_t active);
  void activate(std::uint32_t active);
  void control(std::size_t index, const Instruction& i, std::uint32_t active);
  void call(std::size_t index, const Instruction& i);
  void ret(std::size_t index);
  void select(std::size_t index, const Instruction& i);
  void leave(std::size_t index);
  void together(std::size_t index, const Instruction& i);
  std::uint32_t members_of(std::size_t index, const Instruction& i);
  void barrier(std::size_t index, const Instruction& i);
  std::size_t wait_for(std::size_t index, std::uint32_t members);
  bool meet_apart();
  void give(const Split& split, const BarrierResult& result);

  const Kernel& kernel_;
  const WarpImage& image_;
  Warp warp_;
  Splits splits_;
  PendingCopies copies_;
  CallStack calls_;
  std::vector<std::uint32_t> predicates_;
  std::vector<std::byte> registers_, begins_with_;
  std::uint64_t choices_ = 0;  // of splits, so far
  std::size_t arrived_ = 0;
  std::uint32_t pc_ = 0;
};

}  // namespace simgpu
