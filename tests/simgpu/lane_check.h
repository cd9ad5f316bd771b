/// \file
/// Opcodes of registers and predicates against expected values, lane by lane: on every instruction
/// set of the host, with edge values and random ones, with all lanes active and with some (the
/// others stay as they were), and with each destination in the place of each source of its size.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace simgpu {

/// What an instruction finds and leaves in one lane.
struct LaneCase {
  /// Sources in the order of the pattern, elements of vectors one by one: registers zero-extended,
  /// a predicate 0 or 1 (as it is read, so negated where the operand is), a register of 16 bytes as
  /// two of 8, the lower one first.
  std::array<std::uint64_t, 8> in{};
  /// Destinations likewise, for the expectation to set; their upper bits are cut off.
  std::array<std::uint64_t, 8> out{};
  std::int64_t immediate = 0;  ///< from 0 to 255
  bool carry = false;          ///< CC.CF before it; the expectation sets what it is afterwards
};
using Expectation = std::function<void(LaneCase&)>;

/// By opcode, or by opcode and pattern where those of a name differ: `mov.b64 d8 s4v2`.
using Expectations = std::map<std::string, Expectation, std::less<>>;

/// Checks each opcode of the family. One without an expectation is a failure, and so is an
/// expectation of no opcode. Those in `elsewhere` have tests of their own.
void check_family(std::string_view family, const Expectations& expectations,
                  std::span<const std::string_view> elsewhere = {});

}  // namespace simgpu
