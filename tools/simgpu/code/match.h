/// \file
/// The operands of an instruction as the pattern of an opcode takes them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/simgpu/code/opcodes.h"
#include "tools/simgpu/code/pattern_word.h"
#include "tools/simgpu/code/scopes.h"
#include "tools/simgpu/code/specials.h"
#include "tools/simgpu/ptx/syntax.h"

namespace simgpu {

/// to = from + value, before the instruction: the second address of one has no immediate of its
/// own.
struct Addition {
  std::uint32_t to = 0, from = 0;
  int bytes = 8;
  std::uint64_t value = 0;
};

/// What an Instruction has of its operands.
struct Matched {
  std::vector<std::uint32_t> operands;
  std::vector<std::uint32_t> read, written;  ///< registers among them: function_code.h
  std::int64_t immediate = 0;
  std::string label;  ///< of a branch, or of the targets of brx.idx; empty where there is none
  int addresses = 0;  ///< among the operands
  std::vector<Addition> additions;
};

struct KernelParts;

class Matcher {
 public:
  /// `function` is the name of the one that is decoded, for errors.
  Matcher(KernelParts& parts, Scopes& scopes, const std::string& function)
      : parts_(parts), scopes_(scopes), function_(function) {}

  /// As the first of the entries takes them that fits.
  /// \throws ptx::Error where none does, and for names that are not declared.
  const Opcode& match(const ptx::Instruction& instruction, std::span<const Opcode> entries,
                      Matched& matched);
  /// Local variables lie behind the address that this register holds.
  void set_frame(std::uint32_t offset) { frame_ = offset; }

  /// The number of a predicate.
  std::uint16_t predicate(const std::string& name, ptx::Position position);

 private:
  // Each takes an operand where it fits, and adds what it becomes to the end of `to`.
  bool take(const ptx::Operand& operand, const PatternWord& word, Matched& to);
  bool take_one(const ptx::Operand& operand, const PatternWord& word, Matched& to);
  bool take_written(const ptx::Operand& operand, int bytes, Matched& to);
  bool take_predicate(const ptx::Operand& operand, Matched& to);
  bool take_value(const ptx::Operand& operand, int bytes, Matched& to);
  bool take_name(const ptx::Operand& operand, int bytes, Matched& to);
  bool take_address(const ptx::Operand& operand, int bytes, Matched& to);
  bool take_parameter(const ptx::Operand& operand, Place::Kind kind, Matched& to);

  /// What a name stands for; nothing for special registers and for what nothing declares.
  std::optional<Place> find(const ptx::Operand& operand);
  /// Whether the instruction reaches the space of the variable.
  bool reaches(ptx::Space space) const;
  std::uint32_t preset(Preset::Kind kind, int bytes, std::uint64_t value);
  std::uint64_t value_of(const Special& special) const;
  /// Where the address of a variable in memory, a parameter of the entry or a function is, `bytes`
  /// wide.
  std::uint32_t address_of(const Place& place, int bytes, std::uint64_t added, Matched& to);
  /// Where the sum of a register and a number is, before the instruction.
  std::uint32_t sum_of(std::uint32_t from, int bytes, std::uint64_t added, Matched& to);

  KernelParts& parts_;
  Scopes& scopes_;
  const std::string& function_;
  std::optional<std::uint32_t> frame_;
  const ptx::Instruction* instruction_ = nullptr;  ///< that is matched
  const Opcode* entry_ = nullptr;                  ///< with it
  std::string unknown_;                            ///< a name in it that nothing declares
};

}  // namespace simgpu
