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

class ComparedRegisters {
 public:
  explicit ComparedRegisters(const ptx::Function& function);
  /// Whether it is a plain load of a register that is compared in the function.
  bool is_loaded_by(const ptx::Instruction& instruction) const;

 private:
  std::unordered_set<std::string> names_;
};

/// The load as a relaxed one, which may meet atomics.
std::string relaxed_load(const std::string& opcode);

}  // namespace simgpu
