/// \file
/// The state that instructions work on: warps of blocks of a grid. Plain data, since code that is
/// compiled for several instruction sets reads and writes it.
///
/// Registers lie lane by lane: one of 4 bytes is 32 words, one after the other, so that an
/// instruction is a loop over 32 lanes, which the compiler turns into vectors. Predicates are words
/// of 32 bits, one a lane.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tools/simgpu/code/instruction.h"
#include "tools/simgpu/code/round_up.h"

namespace simgpu {

class DeviceMemory;
class AccessChecks;
class PendingCopies;

struct Size3 {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  std::uint64_t warps() const { return units_of(count(), warp_size); }  ///< of a block
};

/// What is the same for all blocks of a launch.
struct Grid {
  const Kernel* kernel = nullptr;
  Size3 size, block_size;
  std::uint32_t dynamic_shared_bytes = 0;
  std::size_t stack_bytes = 0;  ///< of a thread: see call_stack.h
  const std::byte* parameters = nullptr;
  DeviceMemory* memory = nullptr;
  std::uint64_t id = 0;      ///< of the launch, from 1
  bool cooperative = false;  ///< blocks may wait for each other: %envreg1 and 2 hold an address
};

struct Block {
  const Grid* grid = nullptr;
  Size3 index;  ///< from 0
  std::uint64_t number = 0;
  std::byte* shared = nullptr;  ///< at a multiple of 1024 bytes
  std::uint32_t shared_bytes = 0;
  std::byte* local = nullptr;      ///< of its first thread; the next begins local_bytes further on
  AccessChecks* checks = nullptr;  ///< of this block's accesses
};

/// What lanes say to a barrier of their block when they come to it: PTX ISA 9.7.13.1.
struct BarrierArrival {
  enum class Reduction : std::uint8_t { none, count, all, any };
  std::uint32_t barrier = 0;  ///< from 0 to 15
  std::uint32_t threads = 0;  ///< that it waits for; 0 for all of the block
  bool waits = true;          ///< bar.arrive does not
  bool aligned = true;        ///< all lanes of the warp come to the same instruction
  Reduction reduction = Reduction::none;
  std::uint32_t predicate = 0;  ///< of the lanes, where it is reduced: operand 0 gets the result
};

struct Warp {
  std::byte* registers = nullptr;
  std::uint32_t* predicates = nullptr;
  std::uint32_t active = 0;  ///< lanes that the instruction runs in, by bit
  /// All ones for a lane that is active, else zero: set with `active`, for blends.
  alignas(64) std::uint32_t lane_masks[warp_size] = {};
  Block* block = nullptr;
  std::uint32_t index = 0;          ///< in the block
  std::uint32_t existing = 0;       ///< lanes that have not left
  PendingCopies* copies = nullptr;  ///< of cp.async
  BarrierArrival arrival;           ///< of Control::barrier: written by the instruction's function

  std::uint32_t thread(int lane) const {
    return index * warp_size + static_cast<std::uint32_t>(lane);
  }
};

}  // namespace simgpu
