/// \file
/// Blocks made by hand, whose warps access memory under all checks: an opcode at a time, for each
/// instruction set of the host.
///
///     CheckedGrid grid;
///     CheckedBlock block(grid, 0, isa);
///     const std::uint64_t a = grid.allocate(128);
///     CHECK(fault_of([&] { block.store(0, "st global b32", at_lanes(a, 4)); }) == std::nullopt);
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/simgpu/one_warp.h"
#include "tools/simgpu/machine/checks.h"
#include "tools/simgpu/machine/fault.h"
#include "tools/simgpu/machine/memory.h"
#include "tools/simgpu/machine/pending_copies.h"

namespace simgpu {

using AddressOf = std::function<std::uint64_t(int lane)>;
inline AddressOf at_lanes(std::uint64_t start, std::uint64_t step) {
  return [=](int lane) { return start + step * static_cast<std::uint64_t>(lane); };
}

/// A launch of 4 x 2 blocks of `warps` warps.
class CheckedGrid {
 public:
  static constexpr std::uint32_t shared_bytes = 4096, local_bytes = 48;

  explicit CheckedGrid(std::uint32_t warps = 4, DeviceMemory* memory = nullptr) {
    own_ = std::make_unique<DeviceMemory>(std::size_t{1} << 24);
    kernel_.name = "checked";
    kernel_.static_shared_bytes = shared_bytes;
    kernel_.local_bytes = local_bytes;
    grid_.kernel = &kernel_;
    grid_.size = {4, 2, 1};
    grid_.block_size = {warps * warp_size, 1, 1};
    grid_.memory = memory != nullptr ? memory : own_.get();
    checks_ = std::make_unique<GridChecks>(grid_);
  }

  /// All of it written, as by a copy of the host.
  std::uint64_t allocate(std::size_t bytes, bool initialised = true) {
    const std::uint64_t address = memory().allocate(bytes, "the test").value();
    if (initialised) memory().set_initialised(address, bytes);
    return address;
  }
  DeviceMemory& memory() { return *grid_.memory; }
  const Grid& grid() const { return grid_; }
  GridChecks& checks() { return *checks_; }
  std::uint32_t warps() const { return grid_.block_size.x / warp_size; }

 private:
  std::unique_ptr<DeviceMemory> own_;
  Kernel kernel_;
  Grid grid_;
  std::unique_ptr<GridChecks> checks_;
};

class CheckedBlock {
 public:
  CheckedBlock(CheckedGrid& grid, std::uint64_t number, const HostIsa& isa)
      : isa_(isa),
        checks_(grid.checks(), grid.warps(), CheckedGrid::shared_bytes),
        shared_(CheckedGrid::shared_bytes + 1024),
        local_(std::size_t{CheckedGrid::local_bytes} * grid.warps() * warp_size) {
    block_.grid = &grid.grid();
    const auto address = reinterpret_cast<std::uintptr_t>(shared_.data());
    block_.shared = shared_.data() + (1024 - address % 1024);
    block_.shared_bytes = CheckedGrid::shared_bytes;
    block_.local = local_.data();
    block_.checks = &checks_;
    for (std::uint32_t n = 0; n < grid.warps(); ++n) {
      warps_.push_back(std::make_unique<OneWarp>());
      copies_.push_back(std::make_unique<PendingCopies>());
      warps_.back()->warp().block = &block_;
      warps_.back()->warp().index = n;
      warps_.back()->warp().copies = copies_.back().get();
    }
    begin(number);
  }

  /// From now on a warp's lanes meet no more before each access.
  void part_lanes() { meets_ = false; }
  void begin(std::uint64_t number) {
    block_.number = number;
    block_.index = {static_cast<std::uint32_t>(number % 4), static_cast<std::uint32_t>(number / 4),
                    0};
    checks_.begin(block_);
  }

  /// All shared and local memory counts as written.
  void write_states() {
    for (std::uint64_t at = 0; at < CheckedGrid::shared_bytes; at += 128)
      check_store(at_lanes(shared() + at, 4), AddressSpace::shared);
    for (std::uint64_t at = 0; at < CheckedGrid::local_bytes; at += 4)
      check_store(at_lanes(local(0) + at, CheckedGrid::local_bytes), AddressSpace::local);
  }

  std::uint64_t shared() const { return reinterpret_cast<std::uint64_t>(block_.shared); }
  std::uint64_t local(std::uint32_t thread) const {
    return reinterpret_cast<std::uint64_t>(block_.local) +
           std::uint64_t{thread} * CheckedGrid::local_bytes;
  }
  OneWarp& warp(std::uint32_t warp) { return *warps_[warp]; }
  Block& block() { return block_; }
  const HostIsa& isa() const { return isa_; }

  /// Runs an opcode of memory whose addresses are those: every other operand is a register that
  /// holds `value` in each lane. The registers, in the order of the pattern.
  std::vector<std::uint32_t> access(std::uint32_t warp, const char* name, const char* pattern,
                                    const AddressOf& address, std::uint64_t value = 0,
                                    std::uint32_t lanes = all_lanes) {
    if (meets_) meet_lanes(warp, all_lanes);
    OneWarp& one = *warps_[warp];
    one.reset();
    one.set_active(lanes);
    std::vector<std::uint32_t> operands;
    std::string_view rest = pattern;
    while (!rest.empty()) {
      const std::string_view word = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(word.size() + 1, rest.size()));
      const std::size_t v = word.find('v');
      const int count = v == std::string_view::npos ? 1 : word[v + 1] - '0';
      for (int n = 0; n < count; ++n) {
        if (word == "m") operands.push_back(one.add<std::uint64_t>(address));
        else if (word == "m4") operands.push_back(one.add<std::uint32_t>(address));
        else if (word[1] == '2')
          operands.push_back(one.add<std::uint16_t>([=](int) { return value; }));
        else if (word[1] == '4')
          operands.push_back(one.add<std::uint32_t>([=](int) { return value; }));
        else if (word.substr(1, 2) == "16") {
          operands.push_back(one.add<std::uint64_t>([=](int) { return value; }));
          one.add<std::uint64_t>([=](int) { return value; });
        } else operands.push_back(one.add<std::uint64_t>([=](int) { return value; }));
      }
    }
    one.run(find_opcode(isa_, name, pattern), operands);
    return operands;
  }

  // Of 4 bytes a lane.
  void load(std::uint32_t warp, const char* name, const AddressOf& address,
            std::uint32_t lanes = all_lanes) {
    access(warp, name, is_shared(name) ? "d4 m4" : "d4 m", address, 0, lanes);
  }
  void store(std::uint32_t warp, const char* name, const AddressOf& address,
             std::uint32_t lanes = all_lanes) {
    access(warp, name, is_shared(name) ? "m4 s4" : "m s4", address, 7, lanes);
  }
  void atomic(std::uint32_t warp, std::uint64_t address, std::uint32_t lanes = all_lanes) {
    access(warp, "atom global add u32", "d4 m s4", at_lanes(address, 0), 1, lanes);
  }
  void fence(std::uint32_t warp, const char* name = "fence gpu") {
    warps_[warp]->set_active(all_lanes);
    warps_[warp]->run(find_opcode(isa_, name), {});
  }
  /// bar.warp.sync
  void meet_lanes(std::uint32_t warp, std::uint32_t lanes) {
    OneWarp& one = *warps_[warp];
    one.reset();
    one.set_active(lanes);
    one.run(find_opcode(isa_, "bar.warp.sync"),
            {one.add<std::uint32_t>([=](int) { return lanes; })});
  }
  void meet(std::initializer_list<std::uint32_t> warps) {
    std::uint32_t met = 0;
    for (const std::uint32_t each : warps) met |= 1u << each;
    checks_.meet(met);
  }
  void meet_all() { checks_.meet(~0u >> (warp_size - warps_.size())); }

 private:
  /// As if warp 0 had stored 4 bytes a lane.
  void check_store(const AddressOf& address, AddressSpace space) {
    std::uint64_t at[warp_size];
    for (int lane = 0; lane < warp_size; ++lane) at[lane] = address(lane);
    checks_.access(warps_[0]->warp(), all_lanes, at, 4, Access::store, space);
  }
  static bool is_shared(std::string_view name) {
    return name.find("shared") != std::string_view::npos;
  }

  HostIsa isa_;
  bool meets_ = true;
  AccessChecks checks_;
  std::vector<std::byte> shared_, local_;
  Block block_;
  std::vector<std::unique_ptr<OneWarp>> warps_;
  std::vector<std::unique_ptr<PendingCopies>> copies_;
};

/// What goes wrong; nothing where nothing does.
template <class Body>
std::optional<FaultKind> fault_of(Body body, std::string* text = nullptr) {
  try {
    body();
  } catch (const Fault& fault) {
    if (text != nullptr) *text = fault.what();
    return fault.kind();
  }
  return std::nullopt;
}

}  // namespace simgpu
