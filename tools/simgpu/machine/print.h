/// \file
/// What kernels print: formatted on the host, as CUDA does. Source: CUDA C++ programming guide,
/// "Formatted output" and "Assertion".
#pragma once

#include <cstdint>

#include "tools/simgpu/machine/warp.h"

namespace simgpu {

/// To stdout, all of it at once. Arguments lie one after the other, each at a multiple of its size:
/// 4 bytes, or 8 of pointers, long integers and floating-point numbers. Both are generic addresses.
/// The number of arguments, or -1 where there is no format. \throws Fault
std::int32_t print_formatted(const Warp& warp, int lane, std::uint64_t format,
                             std::uint64_t arguments);

/// What a failed assertion names: the addresses of texts.
struct Assertion {
  std::uint64_t message = 0, file = 0, function = 0;
  std::uint32_t line = 0;
};
/// To stderr, in the words of CUDA. \throws Fault
void print_assertion(const Warp& warp, int lane, const Assertion& assertion);
/// The fault of one that has failed. \throws Fault
[[noreturn]] void fail_assertion(const Warp& warp, int lane, const Assertion& assertion);

}  // namespace simgpu
