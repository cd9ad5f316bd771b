/// \file
/// Runs a kernel over a grid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tools/simgpu/code/instruction.h"
#include "tools/simgpu/machine/fault.h"
#include "tools/simgpu/machine/warp.h"

namespace simgpu {

struct Profile;

struct LaunchConfiguration {
  Size3 grid, block;
  std::uint32_t dynamic_shared_bytes = 0;
  std::int64_t budget = 0;  ///< instructions of warps that it may run; 0: what SIMGPU_BUDGET says
  std::size_t stack_bytes = 64 << 10;  ///< of a thread, for functions that call themselves
  bool cooperative = false;
};

/// What a launch did.
struct LaunchCounts {
  std::uint64_t warp_instructions = 0;
  std::uint64_t lane_instructions = 0;
};

/// Runs it to its end, blocks on several threads at once (SIMGPU_THREADS, else one a core). Blocks
/// start in an order that SIMGPU_ORDER chooses (forward, backward, or the seed of a random one),
/// since a GPU promises none. `parameters` holds the kernel's parameters, laid out as it declares
/// them. A fault ends it: the report, or nothing where all is well.
std::optional<FaultReport> launch(const Kernel& kernel, const LaunchConfiguration& configuration,
                                  std::span<const std::byte> parameters, const Profile& profile,
                                  DeviceMemory& memory, LaunchCounts* counts = nullptr);

}  // namespace simgpu
