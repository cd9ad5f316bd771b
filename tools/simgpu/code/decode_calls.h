/// \file
/// Calls as the text has them, and those through pointers.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "tools/simgpu/code/scopes.h"
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

/// Where calls through pointers come to that have results and parameters of the same sizes: what
/// they pass, and the code that chooses the function. Each kernel has its own.
struct Dispatch {
  Slot pointer;
  std::vector<Slot> results, arguments;
  std::vector<const ptx::Function*> functions;  ///< that it may choose
  std::vector<std::uint32_t> calls;             ///< instructions that come to it
  ptx::Position position;                       ///< of the first of them
  ptx::Location location;
};
using CallShape = std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>;
using Dispatches = std::map<CallShape, Dispatch>;

struct KernelParts;
/// Adds the code of all dispatches behind that of the functions. `first` is where each begins.
void emit_dispatches(KernelParts& parts,
                     const std::map<const ptx::Function*, std::uint32_t>& first);

}  // namespace simgpu
