/// \file
/// Opcodes of memory without what has no effect here: caches, their policies and hints, types that
/// differ in nothing but their name. So `ld.relaxed.gpu.global.L1::no_allocate.v2.f32` has the
/// entry of the table `ld strong global v2 b32`: words with spaces, which no text of PTX can name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace simgpu {

/// Nothing where it is no opcode of memory, or has a word that PTX does not allow at its place.
std::optional<std::string> plain_name(std::string_view opcode);

/// An opcode of memory with its words at the places where PTX has them.
std::optional<std::string> usual_order_of_memory(std::string_view opcode);

}  // namespace simgpu
