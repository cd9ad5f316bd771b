/// \file
/// Where a kernel's values lie in the registers of a warp, as its code is made.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "tools/simgpu/code/instruction.h"
#include "tools/simgpu/ptx/syntax.h"

namespace simgpu {

/// \throws ptx::Error at the position it is given where a kernel needs more than there may be.
class RegisterFile {
 public:
  explicit RegisterFile(Kernel& kernel) : kernel_(kernel) {
    kernel.predicates = reserved_predicates;
  }

  /// A register of 1 to 16 bytes a lane.
  std::uint32_t add(int bytes, ptx::Position position);
  /// Bytes that are no register: what a lane keeps for a parameter of a function.
  std::uint32_t add_slot(std::uint64_t bytes, ptx::Position position);
  std::uint32_t add_predicate(ptx::Position position);

  /// Where what nobody reads is written.
  std::uint32_t sink(ptx::Position position);
  std::uint32_t predicate_sink(ptx::Position position);

  /// A register that holds it at first, and is written.
  std::uint32_t add_preset(Preset preset, ptx::Position position);
  /// The same for the same preset; `offset` of it is not looked at.
  std::uint32_t preset(const Preset& preset, ptx::Position position);
  /// A constant to which the offset of a launch's own shared memory is added, which is known when
  /// the whole kernel is.
  std::uint32_t dynamic_shared_address(int bytes, std::uint64_t added, ptx::Position position);
  void place_dynamic_shared(std::uint32_t offset);

  /// How many registers of 32 bits a GPU keeps what lies there in; 0 for presets and slots.
  int words(std::uint32_t offset) const;

 private:
  using PresetKey = std::tuple<Preset::Kind, int, std::uint64_t, bool>;

  std::uint32_t find_preset(const Preset& preset, bool dynamic, ptx::Position position);

  Kernel& kernel_;
  std::unordered_map<std::uint32_t, int> words_;
  std::map<PresetKey, std::uint32_t> presets_;
  std::vector<std::size_t> dynamic_;  ///< which presets are addresses of dynamic shared memory
  std::uint32_t sink_ = no_sink, predicate_sink_ = no_sink;
  static constexpr std::uint32_t no_sink = 0xffff'ffffu;
};

}  // namespace simgpu
