/// \file
/// The table of opcodes: the one place where it says what there is. Each entry has the whole
/// opcode, what operands it takes, and the functions that run it; those are compiled once for each
/// instruction set of the host. An opcode that is not in the table fails the load of a module.
///
/// The pattern is a list of words, one for each operand of the text, in its order:
///
///     d4     a register of 4 bytes a lane, written (1, 2, 4, 8, 16); _ is a sink
///     s4     a register, special register, number or address of a variable, read
///     dp, sp a predicate, written or read; a read one may be negated: its number then has the bit
///            `negated_predicate`
///     d4v2   a vector of 2 registers (1, 2, 4, 8), written; s4v4 likewise, read
///     dpq    a pair p|q of predicates written; q is a sink where the text has p alone
///     d4q    a pair d|p of a register and a predicate written; p is a sink where it is not there
///     m      memory: the offset of the register that holds the address, which is 8 bytes long, or
///            4 in shared memory (pattern m4); the number added is in Instruction::immediate
///     i      a number, in Instruction::immediate: not beside m, e or f, which have theirs there
///     l      a label or function, in Instruction::target
///     t      the name of .branchtargets, in Instruction::target
///
/// Of parameters, which memory does not hold (lanes/parameter.cpp):
///
///     e      [parameter of the entry + number]: Instruction::immediate is where it lies among them
///     f      [parameter of a function or call + number]: two operands, where its first lane lies
///            in the registers and how many bytes a lane has; the number is Instruction::immediate
///
/// Of several addresses only the first has its number in the immediate; the others come with it
/// added. Names of opcodes that differ from the text of PTX, and their patterns:
///
///     mov.u32.%clock         d4        `mov.u32 d, %clock`; likewise %clock_hi, %clock64,
///                                      %globaltimer, %globaltimer_lo and %globaltimer_hi. Other
///                                      special registers are in registers before a warp starts.
///     call.vprintf           d4 s8 s8  a call of a function that the module does not define, by
///                                      its name: results, then parameters
///     ld param s8            d4 e      ld.param of an entry (d4 m: at an address); opcode_name.h
///     ld param v2 b32        d4v2 f    ld.param of a function or call
///     st param b32           f s4      st.param
///     param.copy             f f       from one parameter to another at a call; the immediate is
///                                      the number of bytes
///
/// Several entries may have the same opcode and different patterns: the first that fits is taken.
/// Registers fit a word of their own size, whatever their type is called. Each register or
/// predicate of the pattern, and each element of a vector, is one of Instruction::operands.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tools/simgpu/code/instruction.h"

namespace simgpu {

inline constexpr std::uint32_t negated_predicate = 0x8000'0000u;

struct Opcode {
  std::string_view name;
  std::string_view pattern;
  Execute all = nullptr, some = nullptr;
  Control control = Control::next;
  std::uint8_t members = 0;  ///< of Control::together: which operand is the mask, or whole_warp
};

/// The entries of a name, in their order; none for an unknown one. For the instruction set of this
/// machine, or the one that SIMGPU_CPU names (portable, avx2).
std::span<const Opcode> opcodes(std::string_view name);

}  // namespace simgpu
