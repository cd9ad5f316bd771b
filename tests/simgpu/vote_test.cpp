// vote.sync and match.sync against the text of the PTX ISA: 9.7.13.9 and 9.7.13.10.

#include <bit>

#include "tests/simgpu/warp_lanes.h"

namespace simgpu {
namespace {

/// Runs `name` with d (or p) written, `a` read and the mask of members; every lane is its own mask
/// of `members`.
struct Vote {
  OneWarp warp;
  U32 run(const HostIsa& isa, const std::string& name, U32 yes, const Lanes& members, U32 active) {
    const U32 p = warp.add_predicate(0);
    const U32 a = warp.add_predicate(yes);
    const U32 mask =
        warp.add<U32>([&](int lane) { return members[static_cast<std::size_t>(lane)]; });
    warp.set_active(active);
    warp.run(find_opcode(isa, name), {p, a, mask});
    return warp.predicate(p);
  }
};

template <class T>
Result run_match_all(const HostIsa& isa, const std::string& name, const std::vector<T>& a,
                     const Lanes& members, U32 active) {
  OneWarp warp;
  const U32 d = warp.add<U32>([](int) { return untouched; });
  const U32 p = warp.add_predicate(0);
  const U32 from = warp.add<T>([&](int lane) { return a[static_cast<std::size_t>(lane)]; });
  const U32 mask = warp.add<U32>([&](int lane) { return members[static_cast<std::size_t>(lane)]; });
  warp.set_active(active);
  warp.run(find_opcode(isa, name), {d, p, from, mask});
  return {Lanes(warp.at<U32>(d), warp.at<U32>(d) + warp_size), warp.predicate(p)};
}

}  // namespace

TEST_CASE("simgpu vote.sync: all, any, uni and ballot over groups") {
  const auto each = [](U32 group, U32 yes, U32 active, std::string_view mode) {
    U32 result = 0;
    for (U32 lane = 0; lane < 32; ++lane) {
      if ((active >> lane & 1u) == 0) continue;
      const int count = std::popcount(group & yes), of = std::popcount(group);
      const bool holds = mode == "all" ? count == of : mode == "any" ? count > 0 : count % of == 0;
      result |= U32{holds} << lane;
    }
    return result;
  };
  for (const HostIsa& isa : host_isas()) {
    CAPTURE(isa.name);
    for (const U32 active : {all_lanes, 0x00ff'00ffu, 0x2u, 0x8000'0000u})
      for (const U32 yes : {0u, all_lanes, active, ~active, 0x0001'0000u, 0x8000'0002u}) {
        CAPTURE(active);
        CAPTURE(yes);
        const Lanes members(warp_size, active);
        for (const std::string mode : {"all", "any", "uni"})
          CHECK(Vote().run(isa, "vote.sync." + mode + ".pred", yes, members, active) ==
                each(active, yes, active, mode));
        Vote ballot;
        const U32 d = ballot.warp.add<U32>([](int) { return untouched; });
        const U32 mask = ballot.warp.add<U32>([&](int) { return active; });
        const U32 a = ballot.warp.add_predicate(yes);
        ballot.warp.set_active(active);
        ballot.warp.run(find_opcode(isa, "vote.sync.ballot.b32"), {d, a, mask});
        for (U32 lane = 0; lane < 32; ++lane)
          CHECK(ballot.warp.at<U32>(d)[lane] ==
                ((active >> lane & 1u) != 0 ? active & yes : untouched));
      }
    // A predicate that is read negated; halves apart.
    Vote vote;
    const U32 p = vote.warp.add_predicate(0);
    const U32 a = vote.warp.add_predicate(0x0000'0001u);
    const U32 mask =
        vote.warp.add<U32>([&](int lane) { return halves()[static_cast<std::size_t>(lane)]; });
    vote.warp.run(find_opcode(isa, "vote.sync.all.pred"), {p, a | negated_predicate, mask});
    CHECK(vote.warp.predicate(p) == 0xffff'0000u);
    for (const char* name : {"vote.sync.all.pred", "vote.sync.any.pred", "vote.sync.uni.pred"})
      check_absent(
          [&](const Lanes& members, U32 active) { Vote().run(isa, name, 5, members, active); });
  }
}

TEST_CASE("simgpu match.sync: any and all, of 4 and 8 bytes") {
  for (const HostIsa& isa : host_isas()) {
    CAPTURE(isa.name);
    for (const U32 active : {all_lanes, 0x0f0f'0f0fu, 0x100u})
      for (const U32 kinds : {1u, 2u, 5u, 32u}) {
        std::vector<U32> a;
        std::vector<std::uint64_t> wide;
        for (int lane = 0; lane < warp_size; ++lane) {
          a.push_back(random_bits() % kinds);
          wide.push_back(std::uint64_t{a.back()} << 32 | 7u);  // apart in the upper half alone
        }
        const Lanes members(warp_size, active);
        Lanes any(warp_size, untouched), all(warp_size, untouched);
        bool equal = true;
        for (std::size_t lane = 0; lane < 32; ++lane) {
          if ((active >> lane & 1u) == 0) continue;
          any[lane] = 0;
          for (std::size_t other = 0; other < 32; ++other)
            if ((active >> other & 1u) != 0 && a[other] == a[lane]) any[lane] |= U32{1} << other;
          equal &= any[lane] == active;
        }
        for (std::size_t lane = 0; lane < 32; ++lane)
          if ((active >> lane & 1u) != 0) all[lane] = equal ? active : 0;
        CHECK(run_group(isa, "match.any.sync.b32", a, members, active) == any);
        CHECK(run_group(isa, "match.any.sync.b64", wide, members, active) == any);
        const Result narrow = run_match_all(isa, "match.all.sync.b32", a, members, active);
        CHECK(narrow.d == all);
        CHECK(narrow.p == (equal ? active : 0));
        CHECK(run_match_all(isa, "match.all.sync.b64", wide, members, active).d == all);
      }
    std::vector<U32> a(warp_size, 4);
    a[31] = 5;
    const Result apart = run_match_all(isa, "match.all.sync.b32", a, halves(), all_lanes);
    CHECK(apart.p == 0x0000'ffffu);
    CHECK(apart.d[2] == 0x0000'ffffu);
    CHECK(apart.d[20] == 0);
    CHECK(run_group(isa, "match.any.sync.b32", a, halves(), all_lanes)[20] == 0x7fff'0000u);
    check_absent([&](const Lanes& members, U32 active) {
      run_group(isa, "match.any.sync.b32", a, members, active);
    });
    check_absent([&](const Lanes& members, U32 active) {
      run_match_all(isa, "match.all.sync.b32", a, members, active);
    });
  }
}

}  // namespace simgpu
