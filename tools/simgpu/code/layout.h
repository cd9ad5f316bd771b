/// \file
/// Where the shared and local variables of a kernel lie.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "tools/simgpu/code/call_graph.h"
#include "tools/simgpu/code/names.h"
#include "tools/simgpu/ptx/syntax.h"

namespace simgpu {

struct Layout {
  /// Of shared variables in the block's memory, of local ones in the thread's. Those that a launch
  /// gives their extent begin at Kernel::dynamic_shared_offset and have no entry.
  std::unordered_map<const ptx::Variable*, std::uint32_t> offsets;
  /// Bytes of the local variables of functions that call themselves, whose offsets are those in a
  /// frame. Frames lie one after the other from `stack_offset` on.
  std::unordered_map<const ptx::Function*, std::uint32_t> frames;
  std::uint32_t stack_offset = 0;
};

/// Says in the kernel how much memory that is.
/// \throws ptx::Error for more than any GPU has.
Layout lay_out(const ReachedFunctions& functions, const ModuleNames& names, Kernel& kernel);

}  // namespace simgpu
