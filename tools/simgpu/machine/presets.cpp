#include "tools/simgpu/machine/presets.h"

#include <cstring>

namespace simgpu {
namespace {

constexpr int unwritten = 0xa5;

void put(std::byte* registers, const Preset& preset, int lane, std::uint64_t value) {
  const auto bytes = static_cast<std::size_t>(preset.bytes);
  std::memcpy(registers + preset.offset + static_cast<std::size_t>(lane) * bytes, &value, bytes);
}

/// Whether it is the same in all warps of a launch.
bool is_of_grid(Preset::Kind kind) {
  switch (kind) {
    case Preset::Kind::thread_x:
    case Preset::Kind::thread_y:
    case Preset::Kind::thread_z:
    case Preset::Kind::block_x:
    case Preset::Kind::block_y:
    case Preset::Kind::block_z:
    case Preset::Kind::warp:
    case Preset::Kind::sm:
    case Preset::Kind::local_address: return false;
    default: return true;
  }
}

}  // namespace

WarpImage::WarpImage(const Grid& grid, const Profile& profile)
    : grid_(grid), profile_(profile), bytes_(grid.kernel->register_bytes, std::byte{unwritten}) {
  for (const Preset& preset : grid.kernel->presets) {
    if (!is_of_grid(preset.kind)) {
      of_warp_.push_back(preset);
      continue;
    }
    for (int lane = 0; lane < warp_size; ++lane)
      put(bytes_.data(), preset, lane, value(preset, Warp(), lane));
  }
}

void WarpImage::fill(Warp& warp) const {
  std::memcpy(warp.registers, bytes_.data(), bytes_.size());
  for (const Preset& preset : of_warp_)
    for (int lane = 0; lane < warp_size; ++lane)
      put(warp.registers, preset, lane, value(preset, warp, lane));
}

std::uint64_t WarpImage::value(const Preset& preset, const Warp& warp, int lane) const {
  using Kind = Preset::Kind;
  const Size3& size = grid_.block_size;
  const std::uint64_t thread = warp.thread(lane);
  const std::uint32_t bit = 1u << lane;
  switch (preset.kind) {
    case Kind::constant: return preset.value;
    case Kind::thread_x: return thread % size.x;
    case Kind::thread_y: return thread / size.x % size.y;
    case Kind::thread_z: return thread / size.x / size.y;
    case Kind::block_size_x: return size.x;
    case Kind::block_size_y: return size.y;
    case Kind::block_size_z: return size.z;
    case Kind::block_x: return warp.block->index.x;
    case Kind::block_y: return warp.block->index.y;
    case Kind::block_z: return warp.block->index.z;
    case Kind::grid_size_x: return grid_.size.x;
    case Kind::grid_size_y: return grid_.size.y;
    case Kind::grid_size_z: return grid_.size.z;
    case Kind::lane: return static_cast<std::uint64_t>(lane);
    case Kind::warp: return warp.index;
    case Kind::warp_count: return (size.count() + warp_size - 1) / warp_size;
    case Kind::sm: return warp.block->number % static_cast<std::uint64_t>(profile_.multiprocessors);
    case Kind::sm_count: return static_cast<std::uint64_t>(profile_.multiprocessors);
    case Kind::grid_id: return grid_.id;
    case Kind::lanes_equal: return bit;
    case Kind::lanes_less: return bit - 1;
    case Kind::lanes_less_equal: return bit | (bit - 1);
    case Kind::lanes_greater: return ~(bit | (bit - 1));
    case Kind::lanes_greater_equal: return ~(bit - 1);
    case Kind::dynamic_shared_size: return grid_.dynamic_shared_bytes;
    case Kind::total_shared_size:
      return grid_.kernel->static_shared_bytes + grid_.dynamic_shared_bytes;
    case Kind::local_address:
      return reinterpret_cast<std::uint64_t>(warp.block->local) +
             thread * grid_.kernel->local_bytes + preset.value;
  }
  return 0;
}

}  // namespace simgpu
