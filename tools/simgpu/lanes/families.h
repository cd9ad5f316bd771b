/// \file
/// All opcodes as each instruction set of the host runs them. A family is a file of opcodes.
#pragma once

#include <string_view>
#include <vector>

#include "tools/simgpu/lanes/lanes.h"

namespace simgpu {
/// Families, one after the other; `first` is null behind the last.
using FamilyList = const OpcodeList*;
namespace portable {
FamilyList families();
}
namespace avx2 {
FamilyList families();
}

/// An instruction set that this machine has.
struct HostIsa {
  std::string_view name;  ///< as SIMGPU_CPU has it
  FamilyList families = nullptr;
};
/// All of them, the best last.
std::vector<HostIsa> host_isas();

}  // namespace simgpu
