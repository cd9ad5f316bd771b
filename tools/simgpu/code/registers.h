/// \file
/// Where a kernel's values lie in the registers of a warp, as its code is made.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "tools/simgpu/code/instruction.h"
#include "tools/simgpu/ptx/syntax.h"

namespace simgpu {

/// What a lane keeps for a parameter or result of a function: `bytes` one after the other, lane by
/// lane. A slot of 4 bytes lies as a register of 4 bytes does.
struct Slot {
  std::uint32_t offset = 0, bytes = 0;
};

/// \throws ptx::Error at the position it is given where a kernel needs more than there may be.
class RegisterFile {
 public:
  explicit RegisterFile(Kernel& kernel) : kernel_(kernel) {
    kernel.predicates = reserved_predicates;
  }

  /// A register of 1 to 16 bytes a lane.
  std::uint32_t add(int bytes, ptx::Position position);
  /// Bytes that are no register.
  std::uint32_t add_slot(std::uint64_t bytes, ptx::Position position);
  /// Those of a parameter or result of a function, made when it is first asked for.
  Slot slot_of(const ptx::Variable& variable);
  std::uint32_t add_predicate(ptx::Position position);

  /// Where what nobody reads is written.
  std::uint32_t sink(ptx::Position position);
  std::uint32_t predicate_sink(ptx::Position position);

  /// A register that holds it at first, and is written.
  std::uint32_t add_preset(Preset preset, ptx::Position position);
  /// The same for the same preset; `offset` of it is not looked at.
  std::uint32_t preset(const Preset& preset, ptx::Position position);

  /// Of the register that lies there; 0 for presets and slots.
  int bytes(std::uint32_t offset) const;

 private:
  Kernel& kernel_;
  std::unordered_map<std::uint32_t, int> bytes_;
  std::map<std::tuple<Preset::Kind, int, std::uint64_t>, std::uint32_t> presets_;
  std::unordered_map<const ptx::Variable*, Slot> slots_;
  std::optional<std::uint32_t> sink_, predicate_sink_;
};

}  // namespace simgpu
