#include <doctest/doctest.h>

#include <array>
#include <cstring>

#include "tests/simgpu/one_warp.h"
#include "tools/simgpu/machine/fault.h"

namespace simgpu {
namespace {

constexpr std::uint32_t some_lanes = 0x8000'0f01u;

bool is_some(int lane) { return (some_lanes >> lane & 1u) != 0; }

/// A launch whose parameters are the bytes 0x80, 0x81 and so on.
struct Parameters {
  std::array<std::byte, 64> bytes;
  Kernel kernel;

  explicit Parameters(OneWarp& warp) {
    for (std::size_t k = 0; k < bytes.size(); ++k) bytes[k] = static_cast<std::byte>(0x80 + k);
    kernel.parameter_bytes = 64;
    warp.grid().parameters = bytes.data();
    warp.grid().kernel = &kernel;
  }
};

}  // namespace

TEST_CASE(
    "simgpu parameters: of an entry, the same in all lanes, into registers as wide or wider") {
  for (const HostIsa& isa : host_isas()) {
    CAPTURE(isa.name);
    OneWarp warp;
    const Parameters parameters(warp);
    const auto wide = warp.add<std::uint64_t>([](int) { return 1; });
    const auto word = warp.add<std::uint32_t>([](int) { return 1; });
    const auto half = warp.add<std::uint16_t>([](int) { return 1; });
    warp.run(find_opcode(isa, "ld param b64", "d8 e"), {wide}, 8);
    warp.run(find_opcode(isa, "ld param s8", "d4 e"), {word}, 3);
    warp.run(find_opcode(isa, "ld param b8", "d2 e"), {half}, 3);
    for (int lane = 0; lane < warp_size; ++lane) {
      CHECK(warp.at<std::uint64_t>(wide)[lane] == 0x8f8e8d8c8b8a8988u);
      CHECK(warp.at<std::uint32_t>(word)[lane] == 0xffffff83u);
      CHECK(warp.at<std::uint16_t>(half)[lane] == 0x83u);
    }
    warp.set_active(some_lanes);
    warp.run(find_opcode(isa, "ld param s16", "d8 e"), {wide}, 2);
    warp.run(find_opcode(isa, "ld param v2 b16", "d4v2 e"), {word, wide}, 4);
    for (int lane = 0; lane < warp_size; ++lane)
      CHECK(warp.at<std::uint32_t>(word)[lane] == (is_some(lane) ? 0x8584u : 0xffffff83u));
  }
}

TEST_CASE("simgpu parameters: of an entry, at an address in a register") {
  for (const HostIsa& isa : host_isas()) {
    CAPTURE(isa.name);
    OneWarp warp;
    const Parameters parameters(warp);
    const auto at = warp.add<std::uint64_t>([](int lane) { return lane % 15 * 4; });
    const auto word = warp.add<std::uint32_t>([](int) { return 1; });
    const Opcode& opcode = find_opcode(isa, "ld param b32", "d4 m");
    warp.set_active(some_lanes);
    warp.run(opcode, {word, at}, 4);
    for (int lane = 0; lane < warp_size; ++lane) {
      const auto first = static_cast<std::uint32_t>(0x84 + lane % 15 * 4);
      const std::uint32_t wanted = first | (first + 1) << 8 | (first + 2) << 16 | (first + 3) << 24;
      CHECK(warp.at<std::uint32_t>(word)[lane] == (is_some(lane) ? wanted : 1u));
    }
    const auto faults = [&](std::uint64_t address) {
      warp.at<std::uint64_t>(at)[8] = address;
      try {
        warp.run(opcode, {word, at}, 4);
      } catch (const Fault& fault) {
        CHECK(fault.lane() == 8);
        return fault.kind();
      }
      FAIL("no fault");
      return FaultKind::trapped;
    };
    CHECK(faults(60) == FaultKind::out_of_bounds);
    CHECK(faults(~std::uint64_t{7}) == FaultKind::out_of_bounds);
    CHECK(faults(2) == FaultKind::misaligned);
  }
}

TEST_CASE("simgpu parameters: of a function, each lane has its own") {
  for (const HostIsa& isa : host_isas()) {
    CAPTURE(isa.name);
    OneWarp warp;
    // 12 bytes a lane, in 3 words of 32 lanes.
    const auto slot = warp.add<std::uint32_t>([](int) { return 0xeeeeeeee; });
    warp.add<std::uint32_t>([](int) { return 0xeeeeeeee; });
    warp.add<std::uint32_t>([](int) { return 0xeeeeeeee; });
    const auto value = warp.add<std::uint32_t>([](int lane) { return 0x1000 + lane; });
    const auto other = warp.add<std::uint32_t>([](int lane) { return 0xf0 + lane; });
    const auto to = warp.add<std::uint32_t>([](int) { return 5; });
    const auto wide = warp.add<std::uint64_t>([](int) { return 5; });
    warp.set_active(some_lanes);
    warp.run(find_opcode(isa, "st param b32", "f s4"), {slot, 12, value}, 8);
    warp.run(find_opcode(isa, "st param v2 b8", "f s4v2"), {slot, 12, other, value}, 2);
    const auto* bytes = warp.at<std::uint8_t>(slot);
    for (int lane = 0; lane < warp_size; ++lane) {
      std::uint32_t last;
      std::memcpy(&last, bytes + lane * 12 + 8, 4);
      CHECK(last == (is_some(lane) ? static_cast<std::uint32_t>(0x1000 + lane) : 0xeeeeeeeeu));
      CHECK(bytes[lane * 12 + 2] == (is_some(lane) ? (0xf0 + lane) % 256 : 0xee));
      CHECK(bytes[lane * 12 + 3] == (is_some(lane) ? lane : 0xee));
      CHECK(bytes[lane * 12 + 1] == 0xee);
    }
    warp.run(find_opcode(isa, "ld param s8", "d8 f"), {wide, slot, 12}, 2);
    warp.run(find_opcode(isa, "ld param b16", "d4 f"), {to, slot, 12}, 8);
    for (int lane = 0; lane < warp_size; ++lane) {
      const std::int64_t narrow = lane - 16;  // the byte 0xf0 + lane, with its sign
      CHECK(warp.at<std::int64_t>(wide)[lane] == (is_some(lane) ? narrow : 5));
      CHECK(warp.at<std::int32_t>(to)[lane] == (is_some(lane) ? 0x1000 + lane : 5));
    }
    const auto copy = warp.add<std::uint32_t>([](int) { return 7; });
    warp.run(find_opcode(isa, "param.copy"), {copy, 4, value, 4}, 4);
    for (int lane = 0; lane < warp_size; ++lane)
      CHECK(warp.at<std::int32_t>(copy)[lane] == (is_some(lane) ? 0x1000 + lane : 7));
  }
}

}  // namespace simgpu
