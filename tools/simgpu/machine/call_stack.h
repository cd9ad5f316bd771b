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
/// predicates it keeps, the bytes of its function's frame of local variables, pairs of an offset
/// and the bytes of a lane, and numbers of predicates.
class CallStack {
 public:
  void clear();
  /// \throws Fault where a lane has called too deep.
  void keep(const Warp& warp, std::uint32_t lanes, const Instruction& call);
  /// What the lanes kept at that call, which was their last.
  void give_back(const Warp& warp, std::uint32_t lanes, const Instruction& call);

 private:
  std::array<std::vector<std::byte>, warp_size> kept_;
  std::array<std::size_t, warp_size> frames_{};  // bytes of those whose functions wait
};

/// Of a thread's functions that wait for calls of themselves: the most that their local variables
/// take, whatever the launch says. They lie in local memory.
inline constexpr std::uint32_t most_frame_bytes = 64 << 10;
/// What they keep is no less than this, though the launch says so: a GPU keeps less than the text
/// names, and a small stack is enough for it.
inline constexpr std::size_t least_stack_bytes = 16 << 10;

/// The place of the function that a pointer names among targets of Control::select. That one has 1
/// for its immediate, and pointers of 8 bytes instead of indices.
/// \throws Fault where there is none.
std::uint32_t find_function(int lane, const std::vector<std::uint32_t>& targets,
                            std::uint64_t pointer);

}  // namespace simgpu
