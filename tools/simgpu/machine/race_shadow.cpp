#include "tools/simgpu/machine/race_shadow.h"

#include "tools/simgpu/code/round_up.h"

namespace simgpu {
namespace {

constexpr std::size_t page_bytes = std::size_t{1} << page_shift;
/// Numbers start anew before a launch that finds fewer left.
constexpr std::uint32_t enough = interval_limit / 4 * 3;

}  // namespace

RaceCells::RaceCells(std::size_t bytes)
    : cells_(units_of(bytes, cell_bytes)),
      pages_(bytes / page_bytes + 1),
      store_(cells_ * (sizeof(StrongCells) + 3 * sizeof(Cell)) + pages_ * sizeof(PageCells)) {}

void RaceCells::put_into(ShadowRegion& region) {
  region.strong = reinterpret_cast<StrongCells*>(store_.data());
  region.writes = reinterpret_cast<Cell*>(region.strong + cells_);
  region.reads = region.writes + cells_;
  region.more_reads = region.reads + cells_;
  region.pages = reinterpret_cast<PageCells*>(region.more_reads + cells_);
}

void RaceCells::clear() { store_.release_all(); }

void RaceShadow::enter(ShadowRegion& region) {
  const std::lock_guard lock(mutex_);
  if (launches_++ == 0 && interval_limit - next_ < enough) {
    cells_.clear();
    next_ = 1;
  }
  cells_.put_into(region);
  region.before = Cell{next_} << cell_interval_shift;
}

void RaceShadow::leave() {
  const std::lock_guard lock(mutex_);
  --launches_;
}

std::uint32_t RaceShadow::take(std::uint32_t count) {
  const std::lock_guard lock(mutex_);
  if (count > interval_limit - next_) return 0;
  const std::uint32_t first = next_;
  next_ += count;
  return first;
}

}  // namespace simgpu
