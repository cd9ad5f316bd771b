/// \file
/// What is told of a fault.
#pragma once

#include <cstdint>
#include <string>

#include "tools/simgpu/machine/fault.h"
#include "tools/simgpu/machine/warp.h"

namespace simgpu {

/// Where a fault was: the instruction, and the warp of the block.
struct FaultPlace {
  std::uint32_t pc = 0;
  std::uint32_t warp = 0;
  Size3 block;  ///< its index
};

/// The fault with its place: kernel, instruction, line of the source, block and thread.
FaultReport report_of(const Fault& fault, const Grid& grid, const FaultPlace& place);

/// To stderr, and to the file that SIMGPU_REPORT names.
void publish(const std::string& text);

}  // namespace simgpu
