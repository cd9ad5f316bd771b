/// \file
/// Where an access is: in which memory, whether all of it is there, and whether somebody has
/// written what it reads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/simgpu/machine/checks.h"

namespace simgpu {

/// An access of one lane.
struct LaneAccess {
  const Warp* warp = nullptr;
  int lane = 0;
  std::uint64_t address = 0;
  int bytes = 0;
  Access kind{};
  AddressSpace space{};
  bool of_warp = false;  ///< by the warp as a whole

  bool reads() const { return kind != Access::store && kind != Access::strong_store; }
  bool writes() const { return kind != Access::load && kind != Access::strong_load; }
};

/// `reads 4 bytes`, for texts that go on with what they are.
std::string verb_of(const LaneAccess& access);

/// Of one block at a time.
class Bounds {
 public:
  explicit Bounds(std::uint32_t shared_bytes) : shared_states_(shared_bytes) {}

  void begin(const Block& block);
  /// States of the block's memory.
  std::uint8_t* shared_states() { return shared_states_.data(); }
  std::uint8_t* local_states() { return local_states_.data(); }

  enum class Window : std::uint8_t { global, shared, local, parameters, host };
  /// Checks it, and remembers what it writes. \throws Fault
  Window check(const LaneAccess& access);

 private:
  struct Piece {
    std::uint64_t start = 0, bytes = 0;
    bool has(std::uint64_t address) const { return address - start < bytes; }
    /// All of it.
    bool holds(const LaneAccess& access) const {
      return has(access.address) &&
             start + bytes - access.address >= static_cast<std::uint64_t>(access.bytes);
    }
  };

  void check_shared(const LaneAccess& access);
  void check_local(const LaneAccess& access);
  void check_host(const LaneAccess& access) const;
  void check_states(const LaneAccess& access, AddressSpace space, std::uint8_t* states) const;
  [[noreturn]] void fail_global(const LaneAccess& access, std::uint64_t address) const;
  [[noreturn]] void fail_space(const LaneAccess& access) const;

  const Block* block_ = nullptr;
  Piece shared_, local_, parameters_;
  std::vector<std::uint8_t> shared_states_, local_states_;
};

}  // namespace simgpu
