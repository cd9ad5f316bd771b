/// \file
/// Special registers. Source: PTX ISA, chapter 10.
#pragma once

#include <optional>
#include <string_view>

#include "tools/simgpu/code/instruction.h"

namespace simgpu {

struct Special {
  /// What is added to the value.
  enum class Base : std::uint8_t { none, reserved_shared, workspace, workspace_high };

  Preset::Kind kind{};
  int bytes = 4;            ///< 0 for a predicate, which is false
  std::uint64_t value = 0;  ///< of a constant
  Base base = Base::none;

  bool differs_between_lanes() const;
};

/// Those that keep their value while a warp runs; nothing for any other name.
std::optional<Special> find_special(std::string_view name);

/// Those that do not: clocks, which only `mov` reads.
bool is_dynamic_special(std::string_view name);

/// Memory that a kernel has beside its own where it names it: shared memory of the system, and what
/// the blocks of a cooperative launch meet by.
inline constexpr std::uint32_t reserved_shared_bytes = 1024, workspace_bytes = 8;
inline constexpr std::string_view reserved_shared_prefix = "%reserved_smem_offset_",
                                  workspace_prefix = "%envreg";

}  // namespace simgpu
