/// \file
/// The operands of an instruction as the pattern of an opcode takes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/simgpu/code/layout.h"
#include "tools/simgpu/code/names.h"
#include "tools/simgpu/code/pattern.h"
#include "tools/simgpu/code/registers.h"
#include "tools/simgpu/code/scopes.h"
#include "tools/simgpu/code/words.h"
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
  std::vector<std::uint32_t> read, written;  ///< registers among them, for the estimate of liveness
  std::int64_t immediate = 0;
  std::string label;    ///< of a branch; empty where there is none
  std::string targets;  ///< of brx.idx
  int addresses = 0;    ///< among the operands
  std::vector<Addition> additions;
};

class Matcher {
 public:
  Matcher(RegisterFile& registers, Scopes& scopes, const ModuleNames& names, const Layout& layout,
          const std::string& function)
      : registers_(registers),
        scopes_(scopes),
        names_(names),
        layout_(layout),
        function_(function) {}

  /// As the first of the entries takes them that fits.
  /// \throws ptx::Error where none does, and for names that are not declared.
  const Opcode& match(const ptx::Instruction& instruction, std::span<const Opcode> entries,
                      Matched& matched);
  /// Local variables lie behind the address that this register holds.
  void set_frame(std::uint32_t offset) { frame_ = offset; }

  /// A predicate that is read: its number, with negated_predicate where it is negated.
  std::uint32_t predicate(const std::string& name, bool negated, ptx::Position position);

 private:
  bool fits(const ptx::Operand& operand, const PatternWord& word);
  bool fits_register(const ptx::Operand& operand, const PatternWord& word);
  bool fits_value(const ptx::Operand& operand, int bytes);
  bool fits_name(const ptx::Operand& operand, int bytes);
  bool fits_address(const ptx::Operand& operand, int bytes);
  bool is_predicate(const ptx::Operand& operand);
  /// Whether the instruction reaches the space of the variable.
  bool reaches(ptx::Space space) const;

  void put(const ptx::Operand& operand, const PatternWord& word, Matched& to);
  void put_written(const ptx::Operand& operand, int bytes, Matched& to);
  void put_pair(const ptx::Operand& operand, const PatternWord& word, Matched& to);
  void put_read(const ptx::Operand& operand, int bytes, Matched& to);
  void put_address(const ptx::Operand& operand, int bytes, Matched& to);

  std::optional<Place> place(const ptx::Operand& operand);
  std::uint32_t constant(const ptx::Operand& operand, int bytes);
  /// Where the address of a variable in memory, a parameter of the entry or a function is, `bytes`
  /// wide.
  std::uint32_t address_of(const Place& place, int bytes, std::uint64_t added, Matched& to);
  /// Where the sum of a register and a number is, before the instruction.
  std::uint32_t sum_of(std::uint32_t from, int bytes, std::uint64_t added, Matched& to);

  RegisterFile& registers_;
  Scopes& scopes_;
  const ModuleNames& names_;
  const Layout& layout_;
  const std::string& function_;  ///< the name of the one that is decoded, for errors
  std::optional<std::uint32_t> frame_;
  const ptx::Instruction* instruction_ = nullptr;  ///< that is matched
  std::string unknown_;                            ///< a name in it that nothing declares
};

}  // namespace simgpu
