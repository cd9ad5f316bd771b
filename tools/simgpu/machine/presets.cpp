#include "tools/simgpu/machine/presets.h"

#include <algorithm>
#include <type_traits>

namespace simgpu {
namespace {

constexpr int unwritten = 0xa5;

/// Puts value(lane) into each lane of its register.
template <class Value>
void put(std::byte* registers, const Preset& preset, Value value) {
  const auto fill = [&](auto* to) {
    for (int lane = 0; lane < warp_size; ++lane)
      to[lane] = static_cast<std::remove_reference_t<decltype(*to)>>(value(lane));
  };
  std::byte* const at = registers + preset.offset;
  if (preset.bytes == 2) fill(reinterpret_cast<std::uint16_t*>(at));
  else if (preset.bytes == 4) fill(reinterpret_cast<std::uint32_t*>(at));
  else fill(reinterpret_cast<std::uint64_t*>(at));
}

bool is_of_warp(Preset::Kind kind) {
  using Kind = Preset::Kind;
  return kind == Kind::thread_x || kind == Kind::thread_y || kind == Kind::thread_z ||
         kind == Kind::warp || kind == Kind::local_address;
}
bool is_of_block(Preset::Kind kind) {
  using Kind = Preset::Kind;
  return kind == Kind::block_x || kind == Kind::block_y || kind == Kind::block_z ||
         kind == Kind::sm;
}

}  // namespace

WarpImage::WarpImage(const Grid& grid, const Profile& profile)
    : grid_(grid), profile_(profile), bytes_(grid.kernel->register_bytes, std::byte{unwritten}) {
  for (const Preset& preset : grid.kernel->presets) {
    if (is_of_warp(preset.kind)) by_warp_.push_back(preset);
    else if (is_of_block(preset.kind)) by_block_.push_back(preset);
    else put(bytes_.data(), preset, [&](int lane) { return value(preset, Warp(), lane); });
  }
}

std::vector<std::byte> WarpImage::of_warp(const Warp& warp) const {
  std::vector<std::byte> image = bytes_;
  for (const Preset& preset : by_warp_)
    put(image.data(), preset, [&](int lane) { return value(preset, warp, lane); });
  return image;
}

void WarpImage::fill(Warp& warp, const std::vector<std::byte>& of_warp) const {
  std::copy(of_warp.begin(), of_warp.end(), warp.registers);
  for (const Preset& preset : by_block_) {
    const std::uint64_t of_all = value(preset, warp, 0);
    put(warp.registers, preset, [of_all](int) { return of_all; });
  }
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
    case Kind::warp_count: return size.warps();
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
    case Kind::of_cooperative: return grid_.cooperative ? preset.value : 0;
    case Kind::local_address:
      return reinterpret_cast<std::uint64_t>(warp.block->local) +
             thread * grid_.kernel->local_bytes + preset.value;
  }
  return 0;
}

}  // namespace simgpu
