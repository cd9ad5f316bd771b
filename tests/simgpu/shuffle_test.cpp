// shfl.sync against the text of the PTX ISA: 9.7.9.6.

#include "tests/simgpu/warp_lanes.h"

namespace simgpu {
namespace {

/// What the text says of a shuffle, in its own names: 9.7.9.6.
std::optional<U32> source_by_text(std::string_view mode, U32 lane, U32 b, U32 c) {
  const int bval = static_cast<int>(b % 32), cval = static_cast<int>(c % 32);
  const int mask = static_cast<int>(c / 256 % 32), laneid = static_cast<int>(lane);
  const int max_lane = (laneid & mask) | (cval & ~mask);
  const int min_lane = laneid & mask;
  int j = 0;
  bool pval = false;
  if (mode == "up") {
    j = laneid - bval;
    pval = j >= max_lane;
  } else if (mode == "down") {
    j = laneid + bval;
    pval = j <= max_lane;
  } else if (mode == "bfly") {
    j = laneid ^ bval;
    pval = j <= max_lane;
  } else {
    j = min_lane | (bval & ~mask);
    pval = j <= max_lane;
  }
  if (!pval) return std::nullopt;
  return static_cast<U32>(j);
}

Result shuffle(const HostIsa& isa, const std::string& mode, const Lanes& a, const Lanes& b,
               const Lanes& c, const Lanes& members, U32 active) {
  OneWarp warp;
  const auto add = [&](const Lanes& from) {
    return warp.add<U32>([&](int lane) { return from[static_cast<std::size_t>(lane)]; });
  };
  const U32 d = warp.add<U32>([](int) { return untouched; });
  const U32 p = warp.add_predicate(0xaaaa'5555u);
  const std::vector<U32> operands = {d, p, add(a), add(b), add(c), add(members)};
  warp.set_active(active);
  warp.run(find_opcode(isa, "shfl.sync." + mode + ".b32"), operands);
  return {Lanes(warp.at<U32>(d), warp.at<U32>(d) + warp_size), warp.predicate(p)};
}

void check_shuffle(const HostIsa& isa, const std::string& mode, const Lanes& b, const Lanes& c,
                   U32 active) {
  const Lanes a = random_lanes();
  const Lanes members(warp_size, active);
  bool reads_absent = false;
  Result expected = {Lanes(warp_size, untouched), 0xaaaa'5555u & ~active};
  for (U32 lane = 0; lane < 32; ++lane) {
    if ((active >> lane & 1u) == 0) continue;
    const auto source = source_by_text(mode, lane, b[lane], c[lane]);
    const U32 j = source.value_or(lane);
    reads_absent |= (active >> j & 1u) == 0;
    expected.d[lane] = a[j];
    expected.p |= U32{source.has_value()} << lane;
  }
  CAPTURE(isa.name);
  CAPTURE(mode);
  CAPTURE(active);
  CAPTURE(b[0]);
  CAPTURE(c[0]);
  if (reads_absent) {
    CHECK_THROWS_AS(shuffle(isa, mode, a, b, c, members, active), Fault);
    return;
  }
  const Result got = shuffle(isa, mode, a, b, c, members, active);
  CHECK(got.d == expected.d);
  CHECK(got.p == expected.p);
}

}  // namespace

TEST_CASE("simgpu shfl.sync: every mode, offset and segment as the text says") {
  for (const HostIsa& isa : host_isas()) {
    for (const char* mode : {"up", "down", "bfly", "idx"}) {
      const U32 clamp = std::string_view(mode) == "up" ? 0u : 31u;
      for (U32 width = 1; width <= 32; width *= 2)  // as __shfl_sync makes c
        for (U32 b = 0; b < 32; ++b)
          check_shuffle(isa, mode, Lanes(warp_size, b), Lanes(warp_size, (32 - width) << 8 | clamp),
                        all_lanes);
      for (int round = 0; round < 50; ++round) {  // anything else, other in every lane
        check_shuffle(isa, mode, random_lanes(), random_lanes(), all_lanes);
      }
    }
  }
}

TEST_CASE("simgpu shfl.sync: lanes that are not active neither give nor get") {
  for (const HostIsa& isa : host_isas()) {
    for (const char* mode : {"up", "down", "bfly", "idx"}) {
      const U32 clamp = std::string_view(mode) == "up" ? 0u : 31u;
      for (const U32 active : {0x0000'ffffu, 0x5555'5555u, 0x8000'0001u, 0x0ff0'0ff0u, 0x10u})
        for (U32 b = 0; b < 32; ++b)
          check_shuffle(isa, mode, Lanes(warp_size, b), Lanes(warp_size, clamp), active);
    }
    // Halves that work apart, in one instruction.
    Lanes a(warp_size), b(warp_size, 16), c(warp_size, 0x101f);
    for (U32 lane = 0; lane < 32; ++lane) a[lane] = lane * 3;
    const Result apart = shuffle(isa, "idx", a, b, c, halves(), all_lanes);
    for (U32 lane = 0; lane < 32; ++lane) CHECK(apart.d[lane] == (lane / 16 * 16) * 3);
    CHECK_THROWS_AS(
        shuffle(isa, "idx", a, Lanes(warp_size, 16), Lanes(warp_size, 31), halves(), all_lanes),
        Fault);
    check_absent([&](const Lanes& members, U32 active) {
      shuffle(isa, "bfly", a, Lanes(warp_size, 0), Lanes(warp_size, 31), members, active);
    });
  }
}

}  // namespace simgpu
