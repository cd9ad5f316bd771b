/// \file
/// A function's statements to instructions of a kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tools/simgpu/code/call_graph.h"
#include "tools/simgpu/code/decode_calls.h"
#include "tools/simgpu/code/function_code.h"
#include "tools/simgpu/code/layout.h"
#include "tools/simgpu/code/match.h"
#include "tools/simgpu/code/names.h"
#include "tools/simgpu/code/registers.h"
#include "tools/simgpu/code/scopes.h"
#include "tools/simgpu/ptx/syntax.h"

namespace simgpu {

/// What the functions of a kernel share as they are decoded.
struct KernelParts {
  /// Puts an instruction behind the others.
  Instruction& add(const Opcode& opcode, const Matched& matched, Origin origin);
  std::uint32_t here() const { return static_cast<std::uint32_t>(kernel.code.size()); }

  Kernel& kernel;
  const ModuleNames& names;
  const ReachedFunctions& reached;
  const Layout& layout;
  RegisterFile registers;
  std::vector<std::uint32_t> operand_starts;  ///< of each instruction, in Kernel::operands
  std::unordered_map<const ptx::Function*, std::uint32_t> first;  ///< instruction of each
  /// Calls, whose target is known when all functions are placed.
  std::vector<std::pair<std::uint32_t, const ptx::Function*>> calls;
  /// Where the next frame of local variables begins; no value where no function has one.
  std::optional<std::uint32_t> stack_pointer;
};

class Decoder {
 public:
  Decoder(KernelParts& parts, const ptx::Function& function);
  /// Adds the function's code to the kernel's.
  FunctionCode decode();

 private:
  struct Jump {
    std::uint32_t instruction;
    std::size_t scope;
    std::string label;
    ptx::Position position;
  };

  // decoder.cpp
  void declare_parameters();
  void statement(const ptx::Statement& statement);
  void instruction(const ptx::Instruction& made);
  /// An instruction under the name that the table of opcodes has it by.
  void decode_as(const ptx::Instruction& made, const std::string& name);
  void emit(const ptx::Instruction& from, const Opcode& opcode, const Matched& matched);
  void emit_sum(const ptx::Instruction& from, const Addition& sum);
  bool falls_off() const;
  std::uint32_t place_of(const Jump& jump, const std::string& label) const;
  void resolve_jumps();
  std::uint32_t here() const { return parts_.here(); }
  [[noreturn]] void fail(ptx::Position position, const std::string& problem) const;

  // decode_calls.cpp
  void call(const ptx::Instruction& made);
  void call_guarded(const ptx::Instruction& made);
  void call_function(const ptx::Instruction& made, const ptx::Function& callee,
                     const CallParts& parts);
  void call_pointer(const ptx::Instruction& made, const CallParts& parts);
  bool have_sizes_of(const ptx::Operand& passed, const std::vector<ptx::Variable>& declared);
  void call_opcode(const ptx::Instruction& made, const std::string& name, const CallParts& parts);
  /// What is passed or comes back in a call.
  struct Argument {
    Slot slot;
    bool is_register = false;
  };
  Argument argument(const ptx::Operand& operand, std::uint32_t bytes, bool written);
  void copy(const ptx::Instruction& made, const Argument& to, const Argument& from);
  void enter();
  void leave(const ptx::Instruction& made);
  Argument own(const ptx::Variable& parameter);
  void move_stack(const ptx::Instruction& made, std::uint64_t bytes);
  bool is_recursive() const { return parts_.reached.recursive.contains(&function_); }
  void fill_keeping_calls();

  KernelParts& parts_;
  const ptx::Function& function_;
  const std::unordered_set<std::string> compared_;
  Scopes scopes_;
  Matcher matcher_;
  FunctionCode code_;
  ptx::Location location_;
  std::vector<Jump> jumps_;
  std::uint32_t last_label_ = 0;        ///< the instruction behind it
  std::vector<std::uint32_t> keeping_;  ///< calls that keep what the function has
  std::optional<std::uint32_t> frame_;  ///< the register with the address of local variables
};

}  // namespace simgpu
