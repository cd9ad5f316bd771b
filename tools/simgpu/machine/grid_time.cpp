#include "tools/simgpu/machine/grid_time.h"

#include <algorithm>
#include <iterator>

namespace simgpu {

void join(Knowledge& to, const Knowledge& from) {
  for (const Learned& learned : from) {
    const auto same = std::find_if(to.begin(), to.end(), [&](const Learned& each) {
      return each.location == learned.location;
    });
    if (same == to.end()) to.push_back(learned);
    else same->count = std::max(same->count, learned.count);
  }
}

std::uint32_t GridTime::take(std::uint64_t block, std::uint32_t warps, std::uint32_t steps) {
  const std::uint32_t first = shadow_.take(warps * steps);
  if (first == 0) return 0;
  const std::lock_guard lock(mutex_);
  chunks_[first] = {warps * steps, warps, block};
  return first;
}

std::optional<IntervalOwner> GridTime::owner(std::uint32_t interval) const {
  const std::lock_guard lock(mutex_);
  auto after = chunks_.upper_bound(interval);
  if (after == chunks_.begin()) return std::nullopt;
  const auto& [first, chunk] = *std::prev(after);
  if (interval - first >= chunk.count) return std::nullopt;
  return IntervalOwner{chunk.block, (interval - first) % chunk.warps};
}

void GridTime::publish(std::uint64_t address, const std::shared_ptr<const Snapshot>& snapshot) {
  const std::lock_guard lock(mutex_);
  any_published_.store(true, std::memory_order_relaxed);
  SyncLocation& location = locations_[address];
  std::vector<std::uint32_t>& own = location.of_block[snapshot->block];
  const std::size_t recent = std::min<std::size_t>(own.size(), 2);
  for (auto at = own.end() - static_cast<std::ptrdiff_t>(recent); at != own.end(); ++at)
    if (location.published[*at] == snapshot) return;
  own.push_back(static_cast<std::uint32_t>(location.published.size()));
  location.published.push_back(snapshot);
}

void GridTime::learn(std::uint64_t address, std::uint64_t block, Knowledge& knowledge,
                     std::uint32_t* intervals) const {
  if (!any_published_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  const auto found = locations_.find(address);
  if (found == locations_.end()) return;
  const SyncLocation& location = found->second;
  join(knowledge, {{&location, static_cast<std::uint32_t>(location.published.size())}});
  const auto own = location.of_block.find(block);
  if (own == location.of_block.end()) return;
  for (const std::uint32_t at : own->second) {
    const std::vector<std::uint32_t>& known = location.published[at]->intervals;
    for (std::size_t warp = 0; warp < known.size(); ++warp)
      intervals[warp] = std::max(intervals[warp], known[warp]);
  }
}

std::shared_ptr<const Snapshot> GridTime::find(const Knowledge& knowledge,
                                               const IntervalOwner& owner,
                                               std::uint32_t interval) const {
  const std::lock_guard lock(mutex_);
  std::unordered_map<const SyncLocation*, std::uint32_t> seen;
  Knowledge open = knowledge;
  while (!open.empty()) {
    const Learned next = open.back();
    open.pop_back();
    std::uint32_t& done = seen[next.location];
    if (done >= next.count) continue;
    const auto& published = next.location->published;
    if (const auto own = next.location->of_block.find(owner.block);
        own != next.location->of_block.end()) {
      for (const std::uint32_t at : own->second)
        if (at < next.count && published[at]->of_device &&
            published[at]->intervals[owner.warp] >= interval)
          return published[at];
    }
    for (; done < next.count; ++done)
      if (published[done]->of_device)
        open.insert(open.end(), published[done]->knowledge.begin(),
                    published[done]->knowledge.end());
  }
  return nullptr;
}

}  // namespace simgpu
