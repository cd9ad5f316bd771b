#include "tools/simgpu/machine/occupancy.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/simgpu/code/round_up.h"

namespace simgpu {
namespace {

constexpr std::uint64_t registers_at_once = 256;  // of a warp
constexpr std::uint64_t warps_at_once = 4;
constexpr std::uint64_t shared_at_once = 128;

/// What a block of the kernel takes of a multiprocessor's registers.
std::uint64_t registers_per_block(const Kernel& kernel, std::uint64_t threads) {
  const auto per_thread = static_cast<std::uint64_t>(std::max(kernel.registers_per_thread, 1));
  return round_up(per_thread * warp_size, registers_at_once) *
         round_up(units_of(threads, warp_size), warps_at_once);
}

using Kind = LaunchRefusal::Kind;

bool is_within(const Size3& size, const Size3& most) {
  return size.count() != 0 && size.x <= most.x && size.y <= most.y && size.z <= most.z;
}

std::string to_string(const Size3& size) { return fmt::format("{}x{}x{}", size.x, size.y, size.z); }

}  // namespace

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
      limit(profile.most_threads_per_multiprocessor, units_of(threads, warp_size) * warp_size),
      limit(profile.registers_per_multiprocessor, registers_per_block(kernel, threads)),
      limit(profile.shared_per_multiprocessor, shared),
  });
  return static_cast<int>(blocks);
}

std::optional<LaunchRefusal> refuse(const Kernel& kernel, const LaunchConfiguration& configuration,
                                    const Profile& profile) {
  // CUDA C++ programming guide, technical specifications: the same for all profiles.
  constexpr Size3 most_grid{0x7fff'ffff, 65535, 65535}, most_block{1024, 1024, 64};
  const auto refused = [&](Kind kind, const std::string& why) {
    return LaunchRefusal{kind, fmt::format("{}: {}", kernel.name, why)};
  };
  if (!is_within(configuration.grid, most_grid))
    return refused(Kind::invalid_value,
                   fmt::format("a grid of {} blocks; at most {}, at least 1",
                               to_string(configuration.grid), to_string(most_grid)));
  const std::uint64_t threads = configuration.block.count();
  if (!is_within(configuration.block, most_block) ||
      threads > static_cast<std::uint64_t>(profile.most_threads_per_block))
    return refused(Kind::invalid_value,
                   fmt::format("a block of {} threads; at most {}, at least 1, {} in all",
                               to_string(configuration.block), to_string(most_block),
                               profile.most_threads_per_block));
  if (kernel.most_threads != 0 &&
      (threads > kernel.most_threads || (kernel.exact_threads && threads != kernel.most_threads)))
    return refused(Kind::invalid_value,
                   fmt::format("a block of {} threads; the kernel is made for {}{}", threads,
                               kernel.exact_threads ? "" : "at most ", kernel.most_threads));
  const std::uint64_t shared =
      std::uint64_t{kernel.static_shared_bytes} + configuration.dynamic_shared_bytes;
  if (shared > static_cast<std::uint64_t>(profile.shared_per_block_optin))
    return refused(Kind::invalid_value,
                   fmt::format("{} bytes of shared memory; a block has at most {} on {}", shared,
                               profile.shared_per_block_optin, profile.name));
  if (kernel.registers_per_thread > profile.most_registers_per_thread)
    return refused(
        Kind::out_of_resources,
        fmt::format("{} registers in a thread; at most {} on {}", kernel.registers_per_thread,
                    profile.most_registers_per_thread, profile.name));
  if (blocks_per_multiprocessor(kernel, threads, configuration.dynamic_shared_bytes, profile) == 0)
    return refused(
        Kind::out_of_resources,
        fmt::format("{} threads with {} registers each need {}; a multiprocessor has {}", threads,
                    kernel.registers_per_thread, registers_per_block(kernel, threads),
                    profile.registers_per_multiprocessor));
  return std::nullopt;
}

}  // namespace simgpu
