#include "tools/simgpu/machine/pending_copies.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "tools/simgpu/machine/checks.h"

namespace simgpu {

void PendingCopies::clear() {
  if (is_clear_) return;
  is_clear_ = true;
  copies_.clear();
  groups_.fill(0);
}

void PendingCopies::add(const Warp& warp, int lane, std::uint64_t to, const std::byte* data,
                        int bytes) {
  is_clear_ = false;
  Copy& copy = copies_.emplace_back();
  copy.to = to;
  copy.group = groups_[static_cast<std::size_t>(lane)];
  copy.lane = lane;
  copy.bytes = bytes;
  std::copy_n(data, bytes, copy.data.begin());
  if (warp.block->checks != nullptr) warp.block->checks->begin_copy(to, bytes);
}

void PendingCopies::commit(std::uint32_t lanes) {
  is_clear_ = false;
  for (; lanes != 0; lanes &= lanes - 1)
    ++groups_[static_cast<std::size_t>(std::countr_zero(lanes))];
}

template <class End>
void PendingCopies::write(const Warp& warp, std::uint32_t lanes, End end) {
  std::array<std::uint64_t, warp_size> at{};
  std::erase_if(copies_, [&](const Copy& copy) {
    const std::uint32_t lane_bit = 1u << copy.lane;
    if ((lanes & lane_bit) == 0 || copy.group >= end(groups_[static_cast<std::size_t>(copy.lane)]))
      return false;
    std::memcpy(reinterpret_cast<std::byte*>(copy.to), copy.data.data(),
                static_cast<std::size_t>(copy.bytes));
    if (AccessChecks* checks = warp.block->checks) {
      checks->end_copy(copy.to, copy.bytes);
      // It may have been written at any time since it began: this one is now.
      at[static_cast<std::size_t>(copy.lane)] = copy.to;
      checks->access(warp, lane_bit, at.data(), copy.bytes, Access::store, AddressSpace::shared);
    }
    return true;
  });
}

void PendingCopies::wait(const Warp& warp, std::uint32_t lanes, std::uint64_t groups) {
  write(warp, lanes, [groups](std::uint64_t made) { return made > groups ? made - groups : 0; });
}

void PendingCopies::wait_all(const Warp& warp, std::uint32_t lanes) {
  write(warp, lanes, [](std::uint64_t made) { return made + 1; });
}

}  // namespace simgpu
