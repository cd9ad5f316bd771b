/// \file
/// The names inside of a function: PTX ISA 5.1, scopes in one another, each with its own registers,
/// variables and labels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/simgpu/code/registers.h"
#include "tools/simgpu/ptx/syntax.h"

namespace simgpu {

/// What a lane keeps for a parameter or result of a function: `bytes` one after the other, lane by
/// lane. A slot of 4 bytes lies as a register of 4 bytes does.
struct Slot {
  std::uint32_t offset = 0, bytes = 0;
};

/// The slots of a kernel, made when they are first asked for.
class Slots {
 public:
  explicit Slots(RegisterFile& registers) : registers_(registers) {}
  Slot of(const ptx::Variable& variable);

 private:
  RegisterFile& registers_;
  std::unordered_map<const ptx::Variable*, Slot> slots_;
};

/// What a name stands for.
struct Place {
  enum class Kind : std::uint8_t {
    waiting,          ///< a register that nobody has named yet
    in_registers,     ///< `bytes` at `offset`
    predicate,        ///< number `offset`
    variable,         ///< in memory
    entry_parameter,  ///< at `offset`
    slot,             ///< `bytes` at `offset`
    function,         ///< whose address is `offset`
  };
  Kind kind = Kind::waiting;
  std::uint32_t offset = 0, bytes = 0;
  const ptx::Variable* variable = nullptr;
};

class Scopes {
 public:
  Scopes(RegisterFile& registers, Slots& slots);

  /// \throws ptx::Error for a name that the scope has already, and for vectors of registers.
  void declare(const ptx::Variable& variable);
  /// Of a function or a call; with `own` in another place than callers pass it in.
  void declare_parameter(const ptx::Variable& variable, bool own = false);
  void declare_entry_parameter(const ptx::Variable& variable, std::uint32_t offset);
  void declare_label(const ptx::Label& label, std::uint32_t instruction);
  void declare_targets(const ptx::BranchTargets& targets);

  void open();
  void close();
  /// Of the scope that is open, for the look-up of labels when all of them are known.
  std::size_t current() const { return open_.back(); }

  std::optional<Place> find(const std::string& name, ptx::Position position);
  std::optional<std::uint32_t> find_label(const std::string& name, std::size_t scope) const;
  const ptx::BranchTargets* find_targets(const std::string& name, std::size_t scope) const;

  /// What the function has of its own, so far: registers and parameters, and predicates.
  const std::vector<Slot>& slots() const { return held_; }
  const std::vector<std::uint32_t>& predicates() const { return predicates_; }

 private:
  struct Scope {
    std::size_t parent = 0;  ///< of the outermost, itself
    std::unordered_map<std::string, Place> places;
    std::unordered_map<std::string_view, const ptx::Variable*> numbered;
    std::unordered_map<std::string_view, std::uint32_t> labels;
    std::unordered_map<std::string_view, const ptx::BranchTargets*> targets;
  };

  void add(const std::string& name, const Place& place, ptx::Position position);
  Place* find_in(Scope& scope, const std::string& name);
  void allocate(Place& place, ptx::Position position);

  RegisterFile& registers_;
  Slots& slots_;
  std::vector<Scope> scopes_;  ///< all that there ever were
  std::vector<std::size_t> open_;
  std::vector<Slot> held_;
  std::vector<std::uint32_t> predicates_;
};

}  // namespace simgpu
