#include <doctest/doctest.h>

#include <chrono>
#include <string>

#include "tests/simgpu/one_warp.h"
#include "tools/simgpu/machine/fault.h"

namespace simgpu {
namespace {

/// The special registers, by what makes the whole of a clock of 64 bits.
struct Clock {
  const char* whole;
  const char* low;
  const char* high;
};
constexpr Clock clocks[] = {{"clock64", "clock", "clock_hi"},
                            {"globaltimer", "globaltimer_lo", "globaltimer_hi"}};

/// What the active lanes read; it checks that they read the same, and the others nothing.
template <class T>
T read_clock(OneWarp& warp, const HostIsa& isa, const std::string& type, const std::string& name,
             std::uint32_t mask) {
  const std::uint32_t to = warp.add<T>([](int) { return 99; });
  warp.set_active(mask);
  const std::string bits = std::to_string(8 * sizeof(T));
  warp.run(find_opcode(isa, "mov." + type + bits + ".%" + name), {to});
  const T first = warp.at<T>(to)[__builtin_ctz(mask)];
  for (int lane = 0; lane < warp_size; ++lane)
    CHECK(warp.at<T>(to)[lane] == ((mask >> lane & 1u) != 0 ? first : T{99}));
  return first;
}

FaultKind fault_of(const HostIsa& isa, const char* name) {
  OneWarp warp;
  warp.set_active(0x0000'0ff0);
  try {
    warp.run(find_opcode(isa, name), {});
  } catch (const Fault& fault) {
    CHECK(fault.lane() == 4);
    return fault.kind();
  }
  FAIL("no fault");
  return FaultKind::no_progress;
}

}  // namespace

TEST_CASE("simgpu clocks: they run, and their halves belong together") {
  using U64 = std::uint64_t;
  for (const HostIsa& isa : host_isas())
    for (const Clock& clock : clocks)
      for (const std::string type : {"u", "s", "b"}) {
        OneWarp warp;
        const U64 before = read_clock<U64>(warp, isa, type, clock.whole, all_lanes);
        const U64 low = read_clock<std::uint32_t>(warp, isa, type, clock.low, 0x8000'0001);
        const U64 high = read_clock<std::uint32_t>(warp, isa, type, clock.high, 0x10);
        const U64 after = read_clock<U64>(warp, isa, type, clock.whole, 0xff00'0000);
        CHECK(before <= after);
        const bool one_turn = before >> 32 == after >> 32;
        CHECK((one_turn ? high == before >> 32 : high - (before >> 32) <= 1));
        if (one_turn) CHECK((before <= (high << 32 | low) && (high << 32 | low) <= after));
      }
}

TEST_CASE("simgpu clocks: a cycle is a nanosecond, and the global timer counts from the epoch") {
  const auto check = [](const char* name, auto now) {
    OneWarp warp;
    const std::chrono::nanoseconds before = now();
    const auto in_warp = read_clock<std::uint64_t>(warp, host_isas()[0], "u", name, all_lanes);
    const std::chrono::nanoseconds after = now();
    CHECK(before.count() <= static_cast<std::int64_t>(in_warp));
    CHECK(static_cast<std::int64_t>(in_warp) <= after.count());
  };
  check("clock64", [] { return std::chrono::steady_clock::now().time_since_epoch(); });
  check("globaltimer", [] { return std::chrono::system_clock::now().time_since_epoch(); });
}

TEST_CASE("simgpu clocks: what takes time changes nothing, a trap ends it") {
  for (const HostIsa& isa : host_isas()) {
    OneWarp warp;
    const std::uint32_t time = warp.add<std::uint32_t>([](int lane) { return 1000 * lane; });
    warp.run(find_opcode(isa, "nanosleep.u32", "s4"), {time});
    warp.run(find_opcode(isa, "pmevent", "i"), {}, 3);
    warp.run(find_opcode(isa, "pmevent.mask", "i"), {}, 3);
    for (int lane = 0; lane < warp_size; ++lane)
      CHECK(warp.at<std::uint32_t>(time)[lane] == 1000u * static_cast<std::uint32_t>(lane));
    CHECK(fault_of(isa, "trap") == FaultKind::trapped);
    CHECK(fault_of(isa, "brkpt") == FaultKind::trapped);
    CHECK(family_opcodes(isa, "clock").size() == 3 * 2 * 3 + 5);
  }
}

}  // namespace simgpu
