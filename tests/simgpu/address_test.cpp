#include <doctest/doctest.h>

#include <string>

#include "tests/simgpu/one_warp.h"

namespace simgpu {
namespace {

using U64 = std::uint64_t;

/// A warp of a block of 64 threads with shared and local memory, and parameters.
struct Places {
  Kernel kernel;
  alignas(64) std::byte local[64 * 48] = {};
  std::byte parameters[40] = {};
  OneWarp warp;

  Places() {
    kernel.local_bytes = 48;
    kernel.parameter_bytes = sizeof parameters;
    warp.grid().kernel = &kernel;
    warp.grid().block_size = {16, 2, 2};
    warp.grid().parameters = parameters;
    warp.block().local = local;
  }
};

U64 number(const void* address) { return reinterpret_cast<U64>(address); }

/// Runs it on lanes of `first`, `first` + 1 ..., with every other lane active.
void check_offset(Places& places, const std::string& name, U64 first, U64 offset) {
  for (const HostIsa& isa : host_isas()) {
    OneWarp& warp = places.warp;
    const std::uint32_t from =
        warp.add<U64>([=](int lane) { return first + static_cast<U64>(lane); });
    const std::uint32_t to = warp.add<U64>([](int) { return 7; });
    for (const std::uint32_t mask : {0x5555'5555u, all_lanes}) {
      warp.set_active(mask);
      warp.run(find_opcode(isa, name), {to, from});
      for (int lane = 0; lane < warp_size; ++lane) {
        const U64 moved = first + static_cast<U64>(lane) + offset;
        CHECK(warp.at<U64>(to)[lane] == ((mask >> lane & 1u) != 0 ? moved : 7));
      }
    }
  }
}

/// Whether isspacep holds for the address.
bool holds(Places& places, const std::string& space, U64 address) {
  std::uint32_t agreed = all_lanes;
  for (const HostIsa& isa : host_isas()) {
    OneWarp& warp = places.warp;
    const std::uint32_t from = warp.add<U64>([=](int) { return address; });
    const std::uint32_t to = warp.add_predicate(0x0f0f'0f0f);
    warp.set_active(0x00ff'00ff);
    warp.run(find_opcode(isa, "isspacep." + space), {to, from});
    CHECK((warp.predicate(to) & 0xff00'ff00) == 0x0f00'0f00);
    warp.set_active(all_lanes);
    warp.run(find_opcode(isa, "isspacep." + space), {to, from});
    CHECK((warp.predicate(to) == all_lanes || warp.predicate(to) == 0));
    agreed &= warp.predicate(to);
  }
  return agreed != 0;
}

}  // namespace

TEST_CASE("simgpu addresses: generic ones and those of a space") {
  Places places;
  const U64 shared = number(places.warp.block().shared), parameters = number(places.parameters);
  for (const char* space : {"global", "local", "const"}) {
    check_offset(places, "cvta." + std::string(space) + ".u64", 1000, 0);
    check_offset(places, "cvta.to." + std::string(space) + ".u64", 1000, 0);
  }
  for (const char* space : {"shared", "shared::cta", "shared::cluster"}) {
    check_offset(places, "cvta." + std::string(space) + ".u64", 16, shared);
    check_offset(places, "cvta.to." + std::string(space) + ".u64", shared + 16, U64{0} - shared);
  }
  for (const char* space : {"param", "param::entry"}) {
    check_offset(places, "cvta." + std::string(space) + ".u64", 8, parameters);
    check_offset(places, "cvta.to." + std::string(space) + ".u64", parameters, U64{0} - parameters);
  }
}

TEST_CASE("simgpu addresses: the space of a generic one") {
  const auto check = [](const char* space, const std::byte* (*begin)(Places&), U64 bytes,
                        bool in_global) {
    Places places;
    const U64 first = number(begin(places));
    CHECK(holds(places, space, first));
    CHECK(holds(places, space, first + bytes - 1));
    CHECK_FALSE(holds(places, space, first - 1));
    CHECK_FALSE(holds(places, space, first + bytes));
    CHECK(holds(places, "global", first) == in_global);
    CHECK(holds(places, "global", first + bytes));
  };
  const auto shared = [](Places& p) -> const std::byte* { return p.warp.block().shared; };
  const auto local = [](Places& p) -> const std::byte* { return p.local; };
  const auto parameters = [](Places& p) -> const std::byte* { return p.parameters; };
  check("shared", shared, OneWarp::shared_bytes, false);
  check("shared::cta", shared, OneWarp::shared_bytes, false);
  check("shared::cluster", shared, OneWarp::shared_bytes, false);
  check("local", local, 64 * 48, false);
  check("param", parameters, 40, true);
  check("param::entry", parameters, 40, true);
}

TEST_CASE("simgpu addresses: every opcode has a test") {
  for (const HostIsa& isa : host_isas()) {
    CHECK(family_opcodes(isa, "address").size() == 2 * (3 + 3 + 2) + 3 + 2 + 2);
    for (const Opcode& opcode : family_opcodes(isa, "address"))
      CHECK((opcode.name.starts_with("cvta.") || opcode.name.starts_with("isspacep.")));
  }
}

}  // namespace simgpu
