/// \file
/// Calls as the text has them.
#pragma once

#include "tools/simgpu/ptx/syntax.h"

namespace simgpu {

/// Whether the opcode is `call`, with its parts or without.
bool is_call(const ptx::Instruction& instruction);

/// (results), callee, (arguments), prototype; an empty list where the text has none.
struct CallParts {
  const ptx::Operand& results;
  const ptx::Operand* callee;  ///< null where there is none
  const ptx::Operand& arguments;
  const ptx::Operand* prototype;  ///< of a call through a pointer
};
CallParts parts_of(const ptx::Instruction& call);

}  // namespace simgpu
