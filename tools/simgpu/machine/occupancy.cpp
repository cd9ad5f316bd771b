#include "tools/simgpu/machine/occupancy.h"

#include <algorithm>

namespace simgpu {
namespace {

constexpr std::uint64_t registers_at_once = 256;  // of a warp
constexpr std::uint64_t warps_at_once = 4;
constexpr std::uint64_t shared_at_once = 128;

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

std::uint64_t warps_of(std::uint64_t threads) { return (threads + warp_size - 1) / warp_size; }

}  // namespace

std::uint64_t registers_per_block(const Kernel& kernel, std::uint64_t threads) {
  const auto per_thread = static_cast<std::uint64_t>(std::max(kernel.registers_per_thread, 1));
  return round_up(per_thread * warp_size, registers_at_once) *
         round_up(warps_of(threads), warps_at_once);
}

int blocks_per_multiprocessor(const Kernel& kernel, std::uint64_t threads,
                              std::uint64_t dynamic_shared_bytes, const Profile& profile) {
  if (threads == 0 || threads > static_cast<std::uint64_t>(profile.most_threads_per_block))
    return 0;
  const auto limit = [](int most, std::uint64_t each) {
    return static_cast<std::uint64_t>(most) / each;
  };
  const std::uint64_t shared =
      round_up(kernel.static_shared_bytes + dynamic_shared_bytes +
                   static_cast<std::uint64_t>(profile.shared_reserved_per_block),
               shared_at_once);
  const std::uint64_t blocks = std::min({
      static_cast<std::uint64_t>(profile.most_blocks_per_multiprocessor),
      limit(profile.most_threads_per_multiprocessor, warps_of(threads) * warp_size),
      limit(profile.registers_per_multiprocessor, registers_per_block(kernel, threads)),
      limit(profile.shared_per_multiprocessor, shared),
  });
  return static_cast<int>(blocks);
}

}  // namespace simgpu
