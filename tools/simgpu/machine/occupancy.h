/// \file
/// How many blocks of a kernel fit on a multiprocessor, and which launches none of it would take.
/// Source: CUDA C++ programming guide, "Hardware implementation" and the technical specifications
/// by compute capability; registers are given to warps in pieces of 256, warps in fours.
#pragma once

#include <cstdint>

#include "tools/simgpu/code/instruction.h"
#include "tools/simgpu/machine/profile.h"

namespace simgpu {

/// 0 where not even one fits. `dynamic_shared_bytes` is what the launch adds to the kernel's own.
int blocks_per_multiprocessor(const Kernel& kernel, std::uint64_t threads,
                              std::uint64_t dynamic_shared_bytes, const Profile& profile);

/// What a block of the kernel takes of a multiprocessor's registers.
std::uint64_t registers_per_block(const Kernel& kernel, std::uint64_t threads);

}  // namespace simgpu
