/// \file
/// Declarations of variables and registers. Source: PTX ISA, chapter 5.
#pragma once

#include <vector>

#include "tools/simgpu/ptx/words.h"

namespace simgpu::ptx {

/// Whether the next word begins a declaration: .reg, .param, .const, .global, .local, .shared.
bool begins_declaration(const Words& words);

/// A whole one, which may declare several: `.reg .b32 a, b, %r<5>;`
std::vector<Variable> parse_declaration(Words& words, bool external);

/// Parameters or results of a function, with the parentheses.
std::vector<Variable> parse_parameters(Words& words);

/// What stands between the braces, and the braces, for a variable of these extents.
std::vector<Initial> parse_initial(Words& words, const Variable& variable,
                                   const std::vector<std::uint64_t>& extents);

}  // namespace simgpu::ptx
