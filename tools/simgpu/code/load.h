/// \file
/// From the text of a module to kernels that can be launched.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "tools/simgpu/code/instruction.h"

namespace simgpu {

/// A variable of the module in global or constant memory.
struct GlobalVariable {
  std::string name;
  std::uint64_t address = 0;
  std::size_t bytes = 0;
  bool is_constant = false;
};

struct LoadedModule {
  std::map<std::string, Kernel> kernels;
  std::map<std::string, GlobalVariable> variables;
};

/// Gives memory for a variable, at a multiple of 256; 0 where there is none. What it holds at first
/// is written there by load, all of it.
using PlaceVariable = std::function<std::uint64_t(const std::string& name, std::size_t bytes)>;

/// \throws ptx::Error with the position for text that is not PTX, an unknown opcode or one whose
/// operands fit no entry of the table, a name that is not declared, a function that is not defined
/// (but vprintf, __assertfail), and a target newer than `architecture` (90 for sm_90).
LoadedModule load(std::string_view text, int architecture, const PlaceVariable& place);

}  // namespace simgpu
