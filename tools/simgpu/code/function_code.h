/// \file
/// What is known of a function's code beside its instructions: for the count of registers
/// (liveness.h).
#pragma once

#include <cstdint>
#include <vector>

namespace simgpu {

struct RegisterUse {
  std::uint32_t instruction = 0;  ///< in the kernel's code
  std::uint32_t offset = 0;       ///< of the register
  bool written = false;           ///< else read
};

/// [first, last) of the kernel's code.
struct FunctionCode {
  std::uint32_t first = 0, last = 0;
  std::vector<RegisterUse> uses;  ///< in the order of instructions
};

}  // namespace simgpu
