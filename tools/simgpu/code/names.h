/// \file
/// What the names of a module stand for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/simgpu/code/load.h"
#include "tools/simgpu/ptx/syntax.h"

namespace simgpu {

struct ModuleNames {
  /// The definition where there is one, else a declaration.
  std::unordered_map<std::string_view, const ptx::Function*> functions;
  std::map<std::string_view, const ptx::Variable*> variables;
  /// Functions of whose address the module makes use.
  std::vector<const ptx::Function*> callable;
  /// Of global and constant variables that are defined, and of those functions.
  std::unordered_map<std::string_view, std::uint64_t> addresses;
  /// Of what the blocks of a cooperative launch meet by; no value where nothing reads it.
  std::optional<std::uint64_t> workspace;
};

/// The names point into the module.
/// \throws ptx::Error for a name that is defined twice.
ModuleNames names_of(const ptx::Module& module);

/// Gives global and constant variables their memory and what it holds at first.
/// \throws ptx::Error where there is no room, and for the address of what has none.
std::map<std::string, GlobalVariable> place_variables(ModuleNames& names,
                                                      const PlaceVariable& place);

}  // namespace simgpu
