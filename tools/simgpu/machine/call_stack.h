/// \file
/// Calls of functions that call themselves, and through pointers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/simgpu/machine/warp.h"

namespace simgpu {

/// What functions keep while they call themselves, of one warp: a stack for each lane. On a GPU it
/// lies in local memory.
///
/// A call that keeps something has 1 for its immediate. Its operands are how many registers and
/// predicates it keeps, pairs of an offset and the bytes of a lane, and numbers of predicates.
class CallStack {
 public:
  void clear();
  /// \throws Fault where a lane has called too deep.
  void keep(const Warp& warp, std::uint32_t lanes, const Instruction& call);
  /// What the lanes kept at that call, which was their last.
  void give_back(const Warp& warp, std::uint32_t lanes, const Instruction& call);

 private:
  std::array<std::vector<std::byte>, warp_size> kept_;
};

/// The place of the function that a pointer names among targets of Control::select. That one has 1
/// for its immediate, and pointers of 8 bytes instead of indices.
/// \throws Fault where there is none.
std::uint32_t find_function(int lane, const std::vector<std::uint32_t>& targets,
                            std::uint64_t pointer);

}  // namespace simgpu
