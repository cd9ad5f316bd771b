/// \file
/// What is known of a function's code beside its instructions: for the estimate of registers.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/simgpu/code/instruction.h"

namespace simgpu {

class RegisterFile;

struct RegisterUse {
  std::uint32_t instruction = 0;  ///< in the kernel's code
  std::uint32_t offset = 0;       ///< of the register
  bool written = false;           ///< else read
};

/// [first, last) of the kernel's code.
struct FunctionCode {
  std::uint32_t first = 0, last = 0;
  std::vector<RegisterUse> uses;  ///< in the order of instructions
  struct Call {
    std::uint32_t instruction = 0;
    std::size_t callee = 0;  ///< in the order of the kernel's functions
  };
  std::vector<Call> calls;
};

/// How many registers of 32 bits live at once at most, while a kernel runs whose functions these
/// are, callers before callees. An estimate: a compiler reorders instructions, and keeps more or
/// less in registers.
int most_live_registers(const Kernel& kernel, const std::vector<FunctionCode>& functions,
                        const RegisterFile& registers);

}  // namespace simgpu
