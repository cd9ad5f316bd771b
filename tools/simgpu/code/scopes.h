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
    label,            ///< before instruction `offset`, where it is one of code
  };
  Kind kind = Kind::waiting;
  std::uint32_t offset = 0, bytes = 0;
  const ptx::Variable* variable = nullptr;
  const ptx::Label* label = nullptr;

  /// Whether it is a register of so many bytes; 0 for a predicate.
  bool holds(int size) const {
    return size == 0 ? kind == Kind::predicate
                     : kind == Kind::in_registers && bytes == static_cast<std::uint32_t>(size);
  }
  bool has_address() const {
    return kind == Kind::variable || kind == Kind::entry_parameter || kind == Kind::function;
  }
};

class Scopes {
 public:
  explicit Scopes(RegisterFile& registers) : registers_(registers) {}

  // All throw ptx::Error for a name that the scope has already.

  /// \throws ptx::Error for vectors of registers.
  void declare(const ptx::Variable& variable);
  /// Of a function or a call; with `own` in another place than callers pass it in.
  void declare_parameter(const ptx::Variable& variable, bool own = false);
  void declare_entry_parameter(const ptx::Variable& variable, std::uint32_t offset);
  void declare(const ptx::Label& label, std::uint32_t instruction);

  void open();
  void close() { current_ = scopes_[current_].parent; }
  /// The scope that is open, for the look-up of labels when all of them are known.
  std::size_t current() const { return current_; }

  std::optional<Place> find(const std::string& name, ptx::Position position);
  std::optional<Place> find_label(const std::string& name, ptx::Label::Kind kind,
                                  std::size_t scope) const;

  /// What the function has of its own, so far: registers and parameters, and predicates.
  const std::vector<Slot>& slots() const { return held_; }
  const std::vector<std::uint32_t>& predicates() const { return predicates_; }

 private:
  struct Scope {
    std::size_t parent = outermost;
    std::unordered_map<std::string, Place> places;
    std::unordered_map<std::string_view, const ptx::Variable*> numbered;
  };
  static constexpr std::size_t outermost = 0;

  void add(const std::string& name, const Place& place, ptx::Position position);
  static Place* find_in(Scope& scope, const std::string& name);
  void allocate(Place& place, ptx::Position position);

  RegisterFile& registers_;
  std::vector<Scope> scopes_{1};  ///< all that there ever were
  std::size_t current_ = outermost;
  std::vector<Slot> held_;
  std::vector<std::uint32_t> predicates_;
};

}  // namespace simgpu
