/// \file
/// Bodies of functions. Source: PTX ISA, chapter 4.
#pragma once

#include <cstddef>
#include <vector>

#include "tools/simgpu/ptx/words.h"

namespace simgpu::ptx {

/// From the brace that opens it to the one that closes it, with `most` statements.
std::vector<Statement> parse_body(Words& words, std::size_t most);

/// .loc: the words behind it.
Location parse_location(Words& words);

/// .pragma: the words behind it. None means anything here.
void skip_pragma(Words& words);

/// Files have numbers to this one: reports keep them in an array.
inline constexpr int most_files = 65536;

}  // namespace simgpu::ptx
