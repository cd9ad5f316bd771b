/// \file
/// Functions as calls through pointers name them.
#pragma once

#include <cstdint>

namespace simgpu {

/// Addresses of functions are multiples of this, from the first on: no memory lies there.
inline constexpr std::uint64_t function_address_step = 16;
/// An entry of Kernel::targets for a function that a call cannot reach.
inline constexpr std::uint32_t no_target = 0xffff'ffffu;

}  // namespace simgpu
