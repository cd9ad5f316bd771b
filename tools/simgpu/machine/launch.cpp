#include "tools/simgpu/machine/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>

#include "tools/simgpu/machine/block_run.h"
#include "tools/simgpu/machine/occupancy.h"
#include "tools/simgpu/machine/report.h"
#include "tools/simgpu/machine/settings.h"
#include "tools/simgpu/machine/workers.h"

namespace simgpu {
namespace {

/// Instructions of a block before another has its turn: blocks may wait for each other, as those
/// will that are not done in their first turn.
constexpr std::uint64_t most_in_first_turn = 1 << 20, most_in_turn = 1 << 16;

/// The blocks of a grid in the order they start in: i becomes first + i * step, which meets each
/// once.
class StartOrder {
 public:
  explicit StartOrder(std::uint64_t blocks) : blocks_(blocks) {
    const Settings& set = settings();
    if (set.order == Order::backward) first_ = blocks - 1, step_ = blocks - 1;
    if (set.order != Order::random) return;
    first_ = set.order_seed % blocks;
    step_ = (set.order_seed * 0x9e37'79b9'7f4a'7c15u >> 20) % blocks;
    while (std::gcd(step_, blocks) != 1) step_ = (step_ + 1) % blocks;
  }
  std::uint64_t operator[](std::uint64_t i) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((first_ + Wide{i} * step_) % blocks_);
  }

 private:
  std::uint64_t blocks_;
  std::uint64_t first_ = 0, step_ = 1;
};

/// One launch while its blocks run.
class GridRun {
 public:
  GridRun(const Grid& grid, std::int64_t budget, const Profile& profile)
      : grid_(grid),
        budget_(static_cast<std::uint64_t>(budget != 0 ? budget : settings().budget)),
        image_(grid, profile),
        checks_(grid),
        order_(grid.size.count()) {
    const int per_multiprocessor = blocks_per_multiprocessor(*grid.kernel, grid.block_size.count(),
                                                             grid.dynamic_shared_bytes, profile);
    most_resident_ = static_cast<std::size_t>(profile.multiprocessors) *
                     static_cast<std::size_t>(std::max(per_multiprocessor, 1));
  }

  std::optional<FaultReport> run(LaunchCounts* counts) {
    const std::uint64_t blocks = grid_.size.count();
    const auto most = static_cast<std::uint64_t>(workers());
    run_on_workers(static_cast<int>(std::min(blocks, most)), [this](int) { work(); });
    if (is_without_memory_) throw std::bad_alloc();
    if (counts != nullptr) *counts = counts_;
    return std::move(report_);
  }

 private:
  void work() {
    LaunchCounts counts;
    try {
      std::uint64_t turn = 0;
      while (std::unique_ptr<BlockRun> block = take(turn)) run(std::move(block), turn, counts);
    } catch (const std::bad_alloc&) {
      const std::lock_guard lock(mutex_);
      is_without_memory_ = true;
    }
    const std::lock_guard lock(mutex_);
    counts_.warp_instructions += counts.warp_instructions;
    counts_.lane_instructions += counts.lane_instructions;
  }

  void run(std::unique_ptr<BlockRun> block, std::uint64_t turn, LaunchCounts& counts) {
    const std::uint64_t before = counts.warp_instructions;
    try {
      const bool is_done = block->run(std::min(turn, budget_), counts);
      put_back(std::move(block), is_done, counts.warp_instructions - before);
    } catch (const Fault& fault) {
      stop(fault, *block);
    }
  }

  /// A block to go on with: a new one while the GPU has room, else the one that has waited longest.
  std::unique_ptr<BlockRun> take(std::uint64_t& turn) {
    std::unique_ptr<BlockRun> block;
    std::uint64_t number = 0;
    {
      const std::lock_guard lock(mutex_);
      if (report_ || is_without_memory_) return nullptr;
      const bool has_more = started_ < grid_.size.count();
      const bool has_room = resident_ < most_resident_;
      // New blocks and begun ones take turns: who waits may wait for either.
      if (!waiting_.empty() && (!has_more || !has_room || !starts_next_)) {
        starts_next_ = true;
        block = std::move(waiting_.front());
        waiting_.pop_front();
        turn = most_in_turn;
        return block;
      }
      if (!has_more) return nullptr;
      starts_next_ = false;
      number = order_[started_++];
      ++resident_;
      if (!idle_.empty()) {
        block = std::move(idle_.back());
        idle_.pop_back();
      }
    }
    if (!block) block = std::make_unique<BlockRun>(grid_, image_, checks_);
    block->begin(number);
    turn = most_in_first_turn;
    return block;
  }
  void put_back(std::unique_ptr<BlockRun> block, bool is_done, std::uint64_t spent) {
    const std::lock_guard lock(mutex_);
    spent_ += spent;
    if (spent_ > budget_ && !report_)
      report_ = report_of(
          Fault(FaultKind::no_progress, Fault::every_lane, 0,
                fmt::format(
                    "the launch has run {} instructions of warps and is not done (SIMGPU_BUDGET)",
                    spent_)),
          grid_, block->place());
    if (!is_done) return waiting_.push_back(std::move(block));
    --resident_;
    idle_.push_back(std::move(block));
  }
  void stop(const Fault& fault, const BlockRun& block) {
    const std::lock_guard lock(mutex_);
    if (!report_) report_ = report_of(fault, grid_, block.place());
  }

  const Grid& grid_;
  const std::uint64_t budget_;
  const WarpImage image_;
  GridChecks checks_;
  const StartOrder order_;
  std::size_t most_resident_ = 1;
  std::mutex mutex_;
  std::uint64_t started_ = 0;
  std::size_t resident_ = 0;
  std::uint64_t spent_ = 0;
  bool starts_next_ = true;
  bool is_without_memory_ = false;  // the host
  std::deque<std::unique_ptr<BlockRun>> waiting_;
  std::vector<std::unique_ptr<BlockRun>> idle_;
  LaunchCounts counts_;
  std::optional<FaultReport> report_;
};

}  // namespace

std::optional<FaultReport> launch(const Kernel& kernel, const LaunchConfiguration& configuration,
                                  std::span<const std::byte> parameters, const Profile& profile,
                                  DeviceMemory& memory, LaunchCounts* counts) {
  static std::atomic<std::uint64_t> launches{0};
  Grid grid;
  grid.kernel = &kernel;
  grid.size = configuration.grid;
  grid.block_size = configuration.block;
  grid.dynamic_shared_bytes = configuration.dynamic_shared_bytes;
  grid.stack_bytes = configuration.stack_bytes;
  grid.parameters = parameters.data();
  grid.memory = &memory;
  grid.id = ++launches;
  grid.cooperative = configuration.cooperative;
  return GridRun(grid, configuration.budget, profile).run(counts);
}

}  // namespace simgpu
