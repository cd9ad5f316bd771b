/// \file
/// All opcodes as each instruction set of the host runs them.
#pragma once

#include "tools/simgpu/lanes/opcode_table.h"

namespace simgpu {
namespace portable {
void add_opcodes(OpcodeTable& table);
}
namespace avx2 {
void add_opcodes(OpcodeTable& table);
}

/// An instruction set that this machine has.
struct HostIsa {
  std::string_view name;  ///< as SIMGPU_CPU has it
  /// Made when they are first asked for.
  const std::vector<Family>& (*families)();
};
/// All of them, the best last.
std::vector<HostIsa> host_isas();

}  // namespace simgpu
