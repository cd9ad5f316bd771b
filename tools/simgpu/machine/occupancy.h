/// \file
/// How many blocks of a kernel fit on a multiprocessor, and which launches none of it would take.
/// Source: CUDA C++ programming guide, "Hardware implementation" and the technical specifications
/// by compute capability; registers are given to warps in pieces of 256, warps in fours.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/simgpu/machine/launch.h"
#include "tools/simgpu/machine/profile.h"

namespace simgpu {

/// 0 where not even one fits. `dynamic_shared_bytes` is what the launch adds to the kernel's own.
int blocks_per_multiprocessor(const Kernel& kernel, std::uint64_t threads,
                              std::uint64_t dynamic_shared_bytes, const Profile& profile);

/// Why the GPU would refuse the launch before it runs (too many threads, registers, shared memory);
/// nothing where it would not.
struct LaunchRefusal {
  enum class Kind : std::uint8_t { invalid_value, out_of_resources } kind;
  std::string text;
};
std::optional<LaunchRefusal> refuse(const Kernel& kernel, const LaunchConfiguration& configuration,
                                    const Profile& profile);

}  // namespace simgpu
