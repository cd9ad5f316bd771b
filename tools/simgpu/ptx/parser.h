/// \file
/// The parts of the parser: each takes its words, and throws Error where others come.
#pragma once

#include <vector>

#include "tools/simgpu/ptx/words.h"

namespace simgpu::ptx {

/// PTX ISA, chapter 6.
Operand parse_operand(Words& words);

/// PTX ISA, chapter 5. Whether the next word begins a declaration: .reg, .param, .const, .global,
/// .local, .shared.
bool begins_declaration(const Words& words);
/// A whole one, which may declare several: `.reg .b32 a, b, %r<5>;`
std::vector<Variable> parse_declaration(Words& words, bool external);
/// Parameters or results of a function, with the parentheses.
std::vector<Variable> parse_parameters(Words& words);
/// What stands behind `=`, for a variable of these extents.
std::vector<Initial> parse_initial(Words& words, const Variable& variable,
                                   const std::vector<std::uint64_t>& extents);

/// A function's body, from the brace that opens it to the one that closes it, with `most`
/// statements: PTX ISA, chapter 4.
std::vector<Statement> parse_body(Words& words, std::size_t most);
/// .loc: the words behind it.
Location parse_location(Words& words);
/// .pragma: the words behind it. None means anything here.
void skip_pragma(Words& words);

/// Files have numbers to this one: reports keep them in an array.
inline constexpr int most_files = 65536;

}  // namespace simgpu::ptx
