/// \file
/// PTX as it is run: names have become places in a warp's registers, opcodes functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace simgpu {

inline constexpr int warp_size = 32;
/// Instruction::members of what every lane of a warp has to come to (.aligned without a mask); a
/// lane that has left is missing.
inline constexpr std::uint8_t whole_warp = 0xff;

/// Predicates that every warp has: the one that is always true, and CC.CF, the carry flag of
/// extended-precision arithmetic (PTX ISA 9.7.2), which no text names. Those of the text follow.
inline constexpr std::uint32_t true_predicate = 0, carry_predicate = 1, reserved_predicates = 2;

struct Warp;
struct Instruction;
/// Runs an instruction in the lanes that are active. May throw Fault.
using Execute = void (*)(Warp& warp, const Instruction& instruction);

/// What the scheduler does with an instruction, beside running it.
enum class Control : std::uint8_t {
  next,    ///< nothing
  branch,  ///< active lanes go on at `target`
  select,  ///< brx.idx: each lane goes on at the target that its index names
  call,    ///< active lanes run the function at `target`, and come back
  ret,     ///< back to the caller; of an entry, as exit
  exit,
  together,  ///< runs when all lanes of the member mask (operand `members`) have come to it
  barrier,   ///< of the block: the function fills Warp::arrival, the scheduler waits
};

/// One instruction of a warp. 48 bytes: the interpreter reads them one after the other.
struct Instruction {
  Execute all = nullptr;   ///< when every lane is active
  Execute some = nullptr;  ///< when not
  /// One for each register, predicate or vector element that the opcode's pattern names: offsets
  /// into the registers of a warp in bytes, or numbers of predicates (see opcodes.h).
  const std::uint32_t* operands = nullptr;
  std::int64_t immediate = 0;  ///< added to an address, or the number an opcode takes
  std::uint32_t target = 0;    ///< of a branch or call: an index into the code
  std::uint16_t guard = 0;     ///< a predicate; 0 is always true
  bool guard_negated = false;
  Control control = Control::next;
  std::uint8_t members = 0;  ///< of `together`: which operand holds the mask, or whole_warp

  std::uint32_t offset(int operand) const { return operands[operand]; }
  /// Whether lanes that run it do not go on behind it.
  bool jumps() const {
    return control == Control::branch || control == Control::select || control == Control::ret ||
           control == Control::exit;
  }
};

/// Where an instruction came from, for reports.
struct Origin {
  int line = 0;         ///< of the PTX
  int source_file = 0;  ///< as .file numbers them; 0 where the text names none
  int source_line = 0;
  std::string opcode;
};

/// Bytes that are the same in all lanes of every warp, or computed at its start: constants and
/// special registers, put into the registers before the first instruction.
struct Preset {
  enum class Kind : std::uint8_t {
    constant,
    thread_x,
    thread_y,
    thread_z,
    block_size_x,
    block_size_y,
    block_size_z,
    block_x,
    block_y,
    block_z,
    grid_size_x,
    grid_size_y,
    grid_size_z,
    lane,
    warp,
    warp_count,
    sm,
    sm_count,
    grid_id,
    lanes_equal,
    lanes_less,
    lanes_less_equal,
    lanes_greater,
    lanes_greater_equal,
    dynamic_shared_size,
    total_shared_size,
    local_address,   ///< of the lane's local memory, `value` bytes in
    of_cooperative,  ///< `value` in a cooperative launch, 0 in others
  };
  Kind kind{};
  std::uint32_t offset = 0;  ///< in the registers
  int bytes = 4;             ///< of a lane: 2, 4 or 8
  std::uint64_t value = 0;
};

struct Parameter {
  std::string name;
  std::uint32_t offset = 0, bytes = 0;
};

/// An entry function, ready to be launched. Functions that it calls lie in the same code.
struct Kernel {
  std::string name;
  std::vector<Instruction> code;
  std::vector<Origin> origins;                      ///< of each instruction
  std::vector<std::uint32_t> operands;              ///< that instructions point into
  std::vector<std::vector<std::uint32_t>> targets;  ///< of brx.idx, by Instruction::target
  std::vector<Preset> presets;
  std::uint32_t register_bytes = 0;                ///< of a warp, presets included
  std::uint32_t predicates = reserved_predicates;  ///< of a warp, the reserved ones included
  std::vector<Parameter> parameters;
  std::uint32_t parameter_bytes = 0;
  std::uint32_t static_shared_bytes = 0;
  /// Shared memory of the system, which it keeps beside the kernel's own: zero at the start of a
  /// block. 0 bytes where the kernel does not name it.
  std::uint32_t reserved_shared_offset = 0, reserved_shared_bytes = 0;
  std::uint32_t dynamic_shared_offset = 0;  ///< where a launch's own shared memory begins
  std::uint32_t local_bytes = 0;            ///< of a thread
  int registers_per_thread = 0;             ///< of 32 bits, that it takes at least: code/liveness.h
  std::uint64_t most_threads = 0;           ///< .maxntid or .reqntid; 0 where the text names none
  bool exact_threads = false;               ///< .reqntid
  int most_registers = 0;                   ///< .maxnreg; 0 where the text names none
  std::vector<std::string> files;           ///< of source lines, by number
};

}  // namespace simgpu
