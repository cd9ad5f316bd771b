/// \file
/// A function's statements to instructions of a kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tools/simgpu/code/call_graph.h"
#include "tools/simgpu/code/compared.h"
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
  KernelParts(Kernel& made, const ModuleNames& module, const ReachedFunctions& functions,
              const Layout& variables)
      : kernel(made),
        names(module),
        reached(functions),
        layout(variables),
        registers(made),
        slots(registers) {}

  Kernel& kernel;
  const ModuleNames& names;
  const ReachedFunctions& reached;
  const Layout& layout;
  RegisterFile registers;
  Slots slots;
  std::vector<std::uint32_t> operand_starts;  ///< of each instruction, in Kernel::operands
  std::unordered_map<const ptx::Function*, std::size_t> order;  ///< of functions in the kernel
  /// Calls, whose target is known when all functions are placed.
  std::vector<std::pair<std::uint32_t, const ptx::Function*>> calls;
  Dispatches dispatches;
  /// Where the next frame of local variables begins; no value where no function has one.
  std::optional<std::uint32_t> stack_pointer;
};

class Decoder {
 public:
  Decoder(KernelParts& parts, const ptx::Function& function);
  /// Adds the function's code to the kernel's.
  FunctionCode decode();

 private:
  using Entries = std::span<const Opcode>;
  struct Guard {
    std::uint16_t predicate = true_predicate;
    bool negated = false;
  };
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
  Guard guard_of(const ptx::Instruction& made);
  void emit(const ptx::Instruction& from, const Opcode& opcode, const Matched& matched);
  bool falls_off() const;
  std::uint32_t find_label(const std::string& label, const Jump& jump) const;
  void resolve_jumps();
  std::uint32_t here() const { return static_cast<std::uint32_t>(parts_.kernel.code.size()); }
  [[noreturn]] void fail(ptx::Position position, const std::string& problem) const;

  // decode_parameters.cpp: ld.param and st.param
  bool parameter_access(const ptx::Instruction& made);

  // decode_calls.cpp
  void call(const ptx::Instruction& made);
  void call_guarded(const ptx::Instruction& made);
  void call_function(const ptx::Instruction& made, const ptx::Function& callee,
                     const CallParts& parts);
  void call_pointer(const ptx::Instruction& made, const CallParts& parts);
  Dispatch& dispatch_of(const CallShape& shape, ptx::Position position);
  void call_opcode(const ptx::Instruction& made, const std::string& name, const CallParts& parts);
  /// What is passed or comes back in a call.
  struct Argument {
    Slot slot;
    bool is_register = false;
  };
  Argument argument(const ptx::Operand& operand, std::uint32_t bytes, bool written);
  void copy(const ptx::Instruction& made, const Argument& to, const Argument& from);
  std::uint32_t pass(const ptx::Instruction& made, const CallParts& parts,
                     const std::vector<Argument>& to, const std::vector<Argument>& from,
                     bool keeps);
  void enter();
  void leave(const ptx::Instruction& made);
  Argument own(const ptx::Variable& parameter);
  void add_to_stack(const ptx::Instruction& made, std::uint32_t to, std::uint64_t value);
  bool is_recursive() const;
  void fill_keeping_calls();

  KernelParts& parts_;
  const ptx::Function& function_;
  ComparedRegisters compared_;
  Scopes scopes_;
  Matcher matcher_;
  FunctionCode code_;
  ptx::Location location_;
  std::vector<Jump> jumps_;
  std::vector<Jump> selections_;        ///< brx.idx, whose label is that of its targets
  std::uint32_t last_label_ = 0;        ///< the instruction behind it
  std::vector<std::uint32_t> keeping_;  ///< calls that keep what the function has
  std::optional<std::uint32_t> frame_;  ///< the register with the address of local variables
  std::set<std::string> prototypes_;
};

}  // namespace simgpu
