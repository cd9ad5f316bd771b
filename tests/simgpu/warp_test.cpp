// What lanes of a warp do together, against the text of the PTX ISA, 9.7.13: reductions, elections
// and meetings. Shuffles, votes and matches have tests of their own.

#include <bit>
#include <cmath>
#include <set>

#include "tests/simgpu/warp_lanes.h"

namespace simgpu {
namespace {

float as_float(U32 bits) { return std::bit_cast<float>(bits); }

/// min or max over f32 as 9.7.13.12 says, on doubles and signs of zero.
U32 reduce_by_text(const Lanes& a, U32 group, bool greatest, bool absolute, bool nan_wins) {
  std::optional<float> best;
  bool nan = false;
  for (std::size_t lane = 0; lane < 32; ++lane) {
    if ((group >> lane & 1u) == 0) continue;
    float value = as_float(a[lane]);
    if (absolute) value = std::fabs(value);
    if (std::isnan(value)) {
      nan = true;
      continue;
    }
    const auto above = [](float x, float y) {
      return x == y ? std::signbit(y) && !std::signbit(x) : x > y;
    };
    if (!best || (greatest ? above(value, *best) : above(*best, value))) best = value;
  }
  if (!best || (nan && nan_wins)) return 0x7fff'ffffu;
  return std::bit_cast<U32>(*best);
}

}  // namespace

TEST_CASE("simgpu redux.sync: integers over groups") {
  const auto reduce = [](const std::string& name, const Lanes& a, U32 group) -> U32 {
    std::optional<std::int64_t> sum;
    for (std::size_t lane = 0; lane < 32; ++lane) {
      if ((group >> lane & 1u) == 0) continue;
      const bool has_sign = name.ends_with("s32");
      const std::int64_t value =
          has_sign ? std::int64_t{static_cast<std::int32_t>(a[lane])} : std::int64_t{a[lane]};
      if (!sum) sum = value;
      else if (name.find("add") != std::string::npos) *sum += value;
      else if (name.find("min") != std::string::npos) sum = std::min(*sum, value);
      else if (name.find("max") != std::string::npos) sum = std::max(*sum, value);
      else if (name.find("and") != std::string::npos) *sum &= value;
      else if (name.find("xor") != std::string::npos) *sum ^= value;
      else *sum |= value;
    }
    return static_cast<U32>(*sum);
  };
  for (const HostIsa& isa : host_isas())
    for (const std::string name :
         {"redux.sync.add.u32", "redux.sync.add.s32", "redux.sync.min.u32", "redux.sync.min.s32",
          "redux.sync.max.u32", "redux.sync.max.s32", "redux.sync.and.b32", "redux.sync.or.b32",
          "redux.sync.xor.b32"}) {
      CAPTURE(name);
      const Lanes a = random_lanes();
      for (const U32 active : {all_lanes, 0x0007'0000u, 0x8000'0000u}) {
        const Lanes got = run_group(isa, name, a, Lanes(warp_size, active), active);
        for (std::size_t lane = 0; lane < 32; ++lane)
          CHECK(got[lane] == ((active >> lane & 1u) != 0 ? reduce(name, a, active) : untouched));
      }
      const Lanes apart = run_group(isa, name, a, halves(), all_lanes);
      CHECK(apart[15] == reduce(name, a, 0x0000'ffffu));
      CHECK(apart[16] == reduce(name, a, 0xffff'0000u));
      check_absent(
          [&](const Lanes& members, U32 active) { run_group(isa, name, a, members, active); });
    }
}

TEST_CASE("simgpu redux.sync: f32, its zeros and NaN") {
  const std::vector<U32> values = {0x0000'0000u, 0x8000'0000u, 0x7fc0'0001u, 0xff80'0001u,
                                   0x7f80'0000u, 0xff80'0000u, 0x0000'0001u, 0x8000'0001u,
                                   0x3f80'0000u, 0xc049'0fdbu};
  for (const HostIsa& isa : host_isas())
    for (const bool greatest : {false, true})
      for (const bool absolute : {false, true})
        for (const bool nan_wins : {false, true}) {
          const std::string name = std::string("redux.sync.") + (greatest ? "max" : "min") +
                                   (absolute ? ".abs" : "") + (nan_wins ? ".NaN" : "") + ".f32";
          CAPTURE(name);
          for (int round = 0; round < 40; ++round) {
            // Few values in a round, so that there are groups of NaN alone and of zeros alone.
            const std::size_t few = 1 + random_bits() % 3, first = random_bits() % 10;
            Lanes a;
            for (int lane = 0; lane < warp_size; ++lane)
              a.push_back(values[(first + random_bits() % few) % values.size()]);
            const U32 active = round % 2 == 0 ? all_lanes : 0x0001'8001u;
            const Lanes got = run_group(isa, name, a, Lanes(warp_size, active), active);
            CHECK(got[14] == (round % 2 == 0 ? got[16] : untouched));
            CHECK(got[16] == reduce_by_text(a, active, greatest, absolute, nan_wins));
          }
          check_absent([&](const Lanes& members, U32 active) {
            run_group(isa, name, Lanes(warp_size, 0), members, active);
          });
        }
}

TEST_CASE("simgpu elect.sync, activemask, bar.warp.sync") {
  for (const HostIsa& isa : host_isas()) {
    const auto elect = [&](const Lanes& members, U32 active) {
      OneWarp warp;
      const U32 d = warp.add<U32>([](int) { return untouched; });
      const U32 p = warp.add_predicate(0);
      const U32 mask =
          warp.add<U32>([&](int lane) { return members[static_cast<std::size_t>(lane)]; });
      warp.set_active(active);
      warp.run(find_opcode(isa, "elect.sync"), {d, p, mask});
      return Result{Lanes(warp.at<U32>(d), warp.at<U32>(d) + warp_size), warp.predicate(p)};
    };
    const Result one = elect(Lanes(warp_size, 0x0003'0100u), 0x0003'0100u);
    CHECK(std::popcount(one.p) == 1);
    CHECK((one.p & 0x0003'0100u) == one.p);
    CHECK((U32{1} << one.d[8]) == one.p);
    CHECK(one.d[9] == untouched);
    const Result two = elect(halves(), all_lanes);
    CHECK(std::popcount(two.p & 0xffffu) == 1);
    CHECK(std::popcount(two.p >> 16) == 1);
    CHECK((two.p >> two.d[31] & 1u) == 1);
    check_absent(elect);

    OneWarp warp;
    const U32 d = warp.add<U32>([](int) { return untouched; });
    warp.set_active(0x1234'0001u);
    warp.run(find_opcode(isa, "activemask.b32"), {d});
    CHECK(warp.at<U32>(d)[0] == 0x1234'0001u);
    CHECK(warp.at<U32>(d)[1] == untouched);

    check_absent([&](const Lanes& members, U32 active) {
      OneWarp other;
      const U32 mask =
          other.add<U32>([&](int lane) { return members[static_cast<std::size_t>(lane)]; });
      other.set_active(active);
      other.run(find_opcode(isa, "bar.warp.sync"), {mask});
    });
  }
}

TEST_CASE("simgpu warp opcodes: a lane that has left is missed by nobody") {
  for (const HostIsa& isa : host_isas()) {
    OneWarp warp;
    const U32 d = warp.add<U32>([](int) { return untouched; });
    const U32 a = warp.add<U32>([](int lane) { return lane; });
    const U32 mask = warp.add<U32>([](int) { return all_lanes; });
    warp.set_existing(0x00ff'ffffu);
    warp.run(find_opcode(isa, "redux.sync.add.u32"), {d, a, mask});
    CHECK(warp.at<U32>(d)[0] == 23 * 24 / 2);
    CHECK(warp.at<U32>(d)[24] == untouched);
  }
}

TEST_CASE("simgpu warp opcodes: each has a test, waits for its members, and its mask is the last") {
  const std::set<std::string_view> tested = {"shfl.sync.up.b32",
                                             "shfl.sync.down.b32",
                                             "shfl.sync.bfly.b32",
                                             "shfl.sync.idx.b32",
                                             "vote.sync.all.pred",
                                             "vote.sync.any.pred",
                                             "vote.sync.uni.pred",
                                             "vote.sync.ballot.b32",
                                             "match.any.sync.b32",
                                             "match.any.sync.b64",
                                             "match.all.sync.b32",
                                             "match.all.sync.b64",
                                             "redux.sync.add.u32",
                                             "redux.sync.add.s32",
                                             "redux.sync.min.u32",
                                             "redux.sync.min.s32",
                                             "redux.sync.max.u32",
                                             "redux.sync.max.s32",
                                             "redux.sync.and.b32",
                                             "redux.sync.or.b32",
                                             "redux.sync.xor.b32",
                                             "redux.sync.min.f32",
                                             "redux.sync.min.NaN.f32",
                                             "redux.sync.min.abs.f32",
                                             "redux.sync.min.abs.NaN.f32",
                                             "redux.sync.max.f32",
                                             "redux.sync.max.NaN.f32",
                                             "redux.sync.max.abs.f32",
                                             "redux.sync.max.abs.NaN.f32",
                                             "elect.sync",
                                             "bar.warp.sync",
                                             "activemask.b32"};
  for (const HostIsa& isa : host_isas()) {
    std::set<std::string_view> found;
    for (const Opcode& opcode : family_opcodes(isa, "warp")) {
      CAPTURE(opcode.name);
      CHECK(tested.contains(opcode.name));
      CHECK(found.insert(opcode.name).second);
      if (opcode.name == "activemask.b32") continue;
      CHECK(opcode.control == Control::together);
      int operands = 0;  // of the pattern: a pair is two
      for (std::size_t at = 0; at < opcode.pattern.size(); ++at)
        operands += opcode.pattern[at] == ' ' || opcode.pattern[at] == 'q' ? 1 : 0;
      CHECK(int{opcode.members} == operands);
    }
    CHECK(found.size() == tested.size());
  }
}

}  // namespace simgpu
