/// \file
/// How the table of opcodes names what a text may write in several ways.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace simgpu {

/// Opcodes of memory without what has no effect here: caches, their policies and hints, types that
/// differ in nothing but their name. So `ld.relaxed.gpu.global.L1::no_allocate.v2.f32` has the
/// entry of the table `ld strong global v2 b32`: words with spaces, which no text of PTX can name.
/// Nothing where it is no opcode of memory, or has a word that PTX does not allow.
std::optional<std::string> memory_name(std::string_view opcode);

/// The same for opcodes that differ in the order of words, where that says nothing. ptxas takes the
/// words behind the first in any order, as long as types, layouts and state spaces follow each
/// other as they should; much published inline assembly has
/// `ldmatrix.sync.aligned.x4.m8n8.shared.b16`.
std::string order_key(std::string_view opcode);

}  // namespace simgpu
