/// \file
/// What a kernel does wrong. A fault ends the launch; what it reports names the place.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace simgpu {

enum class FaultKind : std::uint8_t {
  out_of_bounds,      ///< no allocation, or not all of the access in one
  use_after_free,     ///< in memory that was freed
  misaligned,         ///< an address that is no multiple of the access
  wrong_space,        ///< an address of another space: local of another thread, host memory
  uninitialised,      ///< a read of memory that nobody has written
  shared_race,        ///< threads of a block touch shared memory, in no order: see checks.h
  global_race,        ///< threads of a launch, of one block or two, touch global memory so
  divergent_barrier,  ///< threads of a block wait at different barriers
  absent_lane,        ///< a member of a warp-wide instruction has left or waits elsewhere
  missing_wait,       ///< what cp.async copies is touched before it is waited for
  illegal_instruction,
  trapped,      ///< trap
  asserted,     ///< an assert that failed
  no_progress,  ///< every thread waits, or the budget of instructions is spent
};

/// Thrown where a lane finds it; the machine adds the kernel, instruction, block and thread.
class Fault : public std::runtime_error {
 public:
  static constexpr int every_lane = -1;
  Fault(FaultKind kind, int lane, std::uint64_t address, const std::string& problem)
      : std::runtime_error(problem), kind_(kind), lane_(lane), address_(address) {}
  FaultKind kind() const { return kind_; }
  int lane() const { return lane_; }                  ///< every_lane where it is the warp's
  std::uint64_t address() const { return address_; }  ///< 0 where it is of no address

 private:
  FaultKind kind_;
  int lane_;
  std::uint64_t address_;
};

/// Throws one; for code that is compiled for several instruction sets, which may share no inline
/// function.
[[noreturn]] void fail(FaultKind kind, int lane, std::uint64_t address, const char* problem);

/// A fault with its place.
struct FaultReport {
  FaultKind kind{};
  std::string text;  ///< several lines, for people: all there is to know
};

}  // namespace simgpu
