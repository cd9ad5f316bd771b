/// \file
/// For the tests of what lanes of a warp do together: values of lanes, and masks of members.
#pragma once

#include <doctest/doctest.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/simgpu/one_warp.h"
#include "tools/simgpu/machine/fault.h"

namespace simgpu {

using U32 = std::uint32_t;
using Lanes = std::vector<U32>;

constexpr U32 untouched = 0xdead'beefu;

struct Result {
  Lanes d;
  U32 p = 0;
};

/// Random numbers that are the same in every run.
inline U32 random_bits() {
  static std::mt19937 generator(20'260'101);
  return static_cast<U32>(generator());
}

inline Lanes random_lanes() {
  Lanes made(warp_size);
  for (U32& each : made) each = random_bits();
  return made;
}

inline Lanes halves() {
  Lanes members(warp_size, 0x0000'ffffu);
  for (std::size_t lane = 16; lane < 32; ++lane) members[lane] = 0xffff'0000u;
  return members;
}

/// Runs an opcode that writes d and reads `a` and the mask of members.
template <class T>
Lanes run_group(const HostIsa& isa, const std::string& name, const std::vector<T>& a,
                const Lanes& members, U32 active) {
  OneWarp warp;
  const U32 d = warp.add<U32>([](int) { return untouched; });
  const U32 from = warp.add<T>([&](int lane) { return a[static_cast<std::size_t>(lane)]; });
  const U32 mask = warp.add<U32>([&](int lane) { return members[static_cast<std::size_t>(lane)]; });
  warp.set_active(active);
  warp.run(find_opcode(isa, name), {d, from, mask});
  return Lanes(warp.at<U32>(d), warp.at<U32>(d) + warp_size);
}

/// Faults with absent_lane, whatever the opcode: lane 3 is not in its mask, a member has not come,
/// or members do not agree.
template <class Run>
inline void check_absent(Run run) {
  Lanes members(warp_size, all_lanes);
  const auto kind = [&](const Lanes& mask, U32 active) -> std::optional<FaultKind> {
    try {
      run(mask, active);
    } catch (const Fault& fault) {
      return fault.kind();
    }
    return std::nullopt;
  };
  CHECK_FALSE(kind(members, all_lanes));
  CHECK(kind(members, 0x7fff'ffffu) == FaultKind::absent_lane);
  members[3] = ~(U32{1} << 3);
  CHECK(kind(members, all_lanes) == FaultKind::absent_lane);
  members = halves();
  members[20] = all_lanes;
  CHECK(kind(members, all_lanes) == FaultKind::absent_lane);
}

}  // namespace simgpu
