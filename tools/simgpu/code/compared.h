/// \file
/// Loads whose value a compare-and-swap looks at again. Code that updates a number in a way that no
/// atomic has reads it, computes, and swaps where it is still what was read; CUDA's own headers
/// have such loops for types that an architecture cannot add. The read is a plain one beside other
/// threads' atomics, and what it gives needs not be right: it does not count as a race.
#pragma once

#include <string>
#include <unordered_set>

#include "tools/simgpu/ptx/syntax.h"

namespace simgpu {

/// The names of registers that are compared so in a function.
std::unordered_set<std::string> compared_registers(const ptx::Function& function);

/// The opcode of an instruction: where it is a plain load of one of these, that of a relaxed one,
/// which may meet atomics.
std::string relaxed_opcode(const ptx::Instruction& instruction,
                           const std::unordered_set<std::string>& compared);

}  // namespace simgpu
