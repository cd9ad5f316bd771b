/// \file
/// PTX as it is written: what the parser makes and the decoder reads. Nothing is resolved here.
/// Source: Parallel Thread Execution ISA, chapters 4 (syntax), 5 (state spaces, types, variables)
/// and 11 (directives).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace simgpu::ptx {

/// In the text, both from 1.
struct Position {
  int line = 0, column = 0;
};

/// What is wrong with a text, and where.
class Error : public std::runtime_error {
 public:
  Error(Position position, const std::string& problem);
  Position position() const { return position_; }

 private:
  Position position_;
};

/// A type without its dot: `pred`, `b32`, `f16x2`.
struct Type {
  std::string name;
  int bits = 0;  ///< of an element; 1 for `pred`
  int bytes() const { return bits < 8 ? 1 : bits / 8; }
};

enum class Space : std::uint8_t { registers, parameter, constant, global, local, shared };

/// An element of an initialiser: bits, or the address of a variable or function.
struct Initial {
  std::uint64_t bits = 0;
  std::string symbol;  ///< empty where `bits` is all there is; else `bits` is added to its address
  bool generic = false;  ///< the generic address: `generic(symbol)`
  /// What is taken of the address, moved down to the lowest bit: `0xFF00(symbol)` is its second
  /// byte (PTX ISA 5.4.5).
  std::uint64_t mask = ~std::uint64_t{0};
};

/// A declaration. `.reg .b32 %r<5>` is one with `count` 5.
struct Variable {
  Position position;
  Space space{};
  Type type;
  int vector = 1;     ///< 2 or 4 for .v2 and .v4
  int alignment = 0;  ///< in bytes; 0 where the text names none
  std::string name;
  int count = 0;                        ///< of numbered registers; 0 for a single name
  std::optional<std::uint64_t> extent;  ///< elements of an array; no value where it is none
  bool open = false;                    ///< an array without an extent: `name[]`
  bool external = false;
  std::vector<Initial> initial;

  /// Of the whole variable; 0 for an open array.
  std::uint64_t bytes() const;
  /// As the text names it, else that of the type.
  int alignment_bytes() const;
};

enum class OperandKind : std::uint8_t {
  name,     ///< a register, special register, variable, label or function: `name`, and of a
            ///< variable `name + bits`
  integer,  ///< `bits`, of two's complement
  real,     ///< `bits`, of a double
  single,   ///< `bits`, of a float: 0f3F800000
  address,  ///< [parts[0] + bits]; parts[0] a name or an integer, parts[1] the coordinates where
            ///< the text has some: [name, {...}]
  vector,   ///< {parts...}
  pair,     ///< parts[0] | parts[1]
  list,     ///< (parts...): of a call
  sink,     ///< _
};

struct Operand {
  OperandKind kind{};
  Position position;
  std::string name;
  std::uint64_t bits = 0;
  bool negated = false;  ///< !name
  std::vector<Operand> parts;

  /// Calls visit(name) for each name in it.
  template <class Visit>
  void each_name(Visit visit) const {
    if (kind == OperandKind::name) visit(name);
    for (const Operand& part : parts) part.each_name(visit);
  }
};

struct Guard {
  std::string name;
  bool negated = false;
};

struct Instruction {
  Position position;
  std::optional<Guard> guard;
  std::string opcode;  ///< whole: `ld.global.nc.v4.f32`
  std::vector<Operand> operands;
};

struct Label {
  enum class Kind : std::uint8_t {
    code,
    targets,    ///< name: .branchtargets a, b, c;
    prototype,  ///< name: .callprototype ...; what it says of a call, the call says too
  };
  Position position;
  std::string name;
  Kind kind = Kind::code;
  std::vector<std::string> targets;
};
struct ScopeBegin {};
struct ScopeEnd {
  Position position;
};
/// .loc: the source line of what follows. With `function_name` it is code that was inlined.
struct Location {
  int file = 0, line = 0, column = 0;
};

using Statement = std::variant<Instruction, Label, Variable, ScopeBegin, ScopeEnd, Location>;

struct Function {
  Position position;
  std::string name;
  bool entry = false;
  bool defined = false;  ///< false for a declaration
  std::vector<Variable> results, parameters;
  std::optional<std::uint64_t> most_threads;   ///< .maxntid, multiplied out
  std::optional<std::uint64_t> exact_threads;  ///< .reqntid, multiplied out
  std::optional<int> most_registers;           ///< .maxnreg
  std::optional<int> least_blocks;             ///< .minnctapersm
  std::vector<Statement> body;

  /// Calls visit(instruction) for each of its instructions.
  template <class Visit>
  void each_instruction(Visit visit) const {
    for (const Statement& statement : body)
      if (const auto* made = std::get_if<Instruction>(&statement)) visit(*made);
  }
};

struct Module {
  std::string target;                ///< `sm_90a`
  std::map<int, std::string> files;  ///< of .file
  std::vector<Variable> variables;
  std::vector<Function> functions;
};

/// \throws Error for what is not PTX, or is PTX that no part of the simulation could run (textures,
/// surfaces, samplers, 32-bit addresses). Any bytes may be given.
Module parse(std::string_view text);

}  // namespace simgpu::ptx
