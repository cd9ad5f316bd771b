/// \file
/// Special registers. Source: PTX ISA, chapter 10.
#pragma once

#include <optional>
#include <string_view>

#include "tools/simgpu/code/instruction.h"

namespace simgpu {

struct Special {
  Preset::Kind kind{};
  int bytes = 4;            ///< 0 for a predicate, which is false
  std::uint64_t value = 0;  ///< of a constant
};

/// Those that keep their value while a warp runs; nothing for any other name.
std::optional<Special> find_special(std::string_view name);

/// Those that do not: clocks and counters, which only `mov` reads.
bool is_dynamic_special(std::string_view name);

}  // namespace simgpu
