/// \file
/// A warp made by hand, to call the functions of opcodes on, for each instruction set of the host.
///
///     OneWarp warp;
///     const std::uint32_t a = warp.add<std::uint32_t>([](int lane) { return lane; });
///     const std::uint32_t to = warp.add<std::uint32_t>([](int) { return 0; });
///     warp.set_active(0x0000'ffff);
///     for (const HostIsa& isa : host_isas())
///       warp.run(find_opcode(isa, "neg.s32", "d4 s4"), {to, a});
///     CHECK(warp.at<std::int32_t>(to)[3] == -3);
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "tools/simgpu/code/opcodes.h"
#include "tools/simgpu/lanes/families.h"
#include "tools/simgpu/machine/warp.h"

namespace simgpu {

inline constexpr std::uint32_t all_lanes = 0xffff'ffffu;

class OneWarp {
 public:
  static constexpr std::size_t register_bytes = std::size_t{1} << 16;
  static constexpr std::size_t shared_bytes = std::size_t{1} << 14;

  OneWarp() : store_(std::make_unique<Store>()) {
    warp_.registers = store_->registers;
    warp_.predicates = store_->predicates;
    warp_.block = &block_;
    block_.grid = &grid_;
    block_.shared = store_->shared;
    block_.shared_bytes = shared_bytes;
    store_->predicates[true_predicate] = all_lanes;
    set_existing(all_lanes);
  }
  OneWarp(const OneWarp&) = delete;
  OneWarp& operator=(const OneWarp&) = delete;

  /// A new register whose lanes hold value(lane): its offset, as operands have it.
  template <class T, class Value>
  std::uint32_t add(Value value) {
    const std::uint32_t offset = used_;
    used_ += std::uint32_t{sizeof(T)} * warp_size;
    REQUIRE(used_ <= register_bytes);
    for (int lane = 0; lane < warp_size; ++lane) at<T>(offset)[lane] = static_cast<T>(value(lane));
    return offset;
  }
  /// The lanes of a register.
  template <class T>
  T* at(std::uint32_t offset) {
    return reinterpret_cast<T*>(store_->registers + offset);
  }

  /// Forgets all registers: add() begins anew.
  void reset() { used_ = 0; }

  /// A new predicate: its number.
  std::uint32_t add_predicate(std::uint32_t bits) {
    REQUIRE(predicates_ < std::size(store_->predicates));
    store_->predicates[predicates_] = bits;
    return predicates_++;
  }
  std::uint32_t& predicate(std::uint32_t number) { return store_->predicates[number]; }

  void set_active(std::uint32_t lanes) {
    warp_.active = lanes;
    for (int lane = 0; lane < warp_size; ++lane)
      warp_.lane_masks[lane] = (lanes >> lane & 1u) != 0 ? all_lanes : 0u;
  }
  /// The lanes that have not left; all of them become active.
  void set_existing(std::uint32_t lanes) {
    warp_.existing = lanes;
    set_active(lanes);
  }

  Warp& warp() { return warp_; }
  Block& block() { return block_; }
  Grid& grid() { return grid_; }

  /// Runs it in the active lanes, by the function for all lanes where they are all.
  void run(const Opcode& opcode, const std::vector<std::uint32_t>& operands,
           std::int64_t immediate = 0) {
    Instruction instruction;
    instruction.all = opcode.all;
    instruction.some = opcode.some;
    instruction.control = opcode.control;
    instruction.members = opcode.members;
    instruction.operands = operands.data();
    instruction.immediate = immediate;
    const Execute execute = warp_.active == all_lanes ? opcode.all : opcode.some;
    execute(warp_, instruction);
  }

 private:
  struct Store {
    alignas(64) std::byte registers[register_bytes] = {};
    alignas(1024) std::byte shared[shared_bytes] = {};
    std::uint32_t predicates[64] = {};
  };

  std::unique_ptr<Store> store_;
  Grid grid_;
  Block block_;
  Warp warp_;
  std::uint32_t used_ = 0;
  std::uint32_t predicates_ = reserved_predicates;
};

/// The entry of the table; the first of that name where no pattern is given.
inline const Opcode& find_opcode(const HostIsa& isa, std::string_view name,
                                 std::string_view pattern = {}) {
  for (const Family& family : isa.families())
    for (const Opcode& opcode : family.opcodes)
      if (opcode.name == name && (pattern.empty() || opcode.pattern == pattern)) return opcode;
  FAIL("no opcode ", name, " ", pattern);
  static const Opcode none;
  return none;
}

/// A family of opcodes, by the name it goes by.
inline std::span<const Opcode> family_opcodes(const HostIsa& isa, std::string_view name) {
  for (const Family& family : isa.families())
    if (family.name == name) return family.opcodes;
  FAIL("no family ", name);
  return {};
}

}  // namespace simgpu
