// cp.async: when what it copies is there, and who touches it too early. PTX ISA 9.7.9.25.3.
#include <doctest/doctest.h>

#include <cstring>
#include <string>

#include "tests/simgpu/checked_block.h"

namespace simgpu {
namespace {

constexpr auto nothing = std::nullopt;

/// A block, and 4096 bytes of global memory that are n * 7.
class CopyCase {
 public:
  explicit CopyCase(const HostIsa& isa) : block(grid, 0, isa), isa_(isa) {
    source = grid.allocate(4096);
    for (std::uint64_t n = 0; n < 4096; ++n) bytes_at(source)[n] = static_cast<std::uint8_t>(n * 7);
  }
  /// Lane n copies `size` bytes from source + from + n * size to shared memory at to + n * size.
  void copy(std::uint32_t warp, std::uint64_t to, std::uint64_t from, std::uint32_t size,
            const char* tail = "", std::uint32_t last = 0, std::uint32_t lanes = all_lanes) {
    OneWarp& one = block.warp(warp);
    one.reset();
    one.set_active(lanes);
    const std::string pattern = std::string("m4 m s4") + tail;
    std::vector<std::uint32_t> operands = {
        one.add<std::uint32_t>(at_lanes(to, size)),
        one.add<std::uint64_t>(at_lanes(source + from, size)),
        one.add<std::uint32_t>([=](int) { return size; }),
    };
    if (pattern == "m4 m s4 s4")
      operands.push_back(one.add<std::uint32_t>([=](int) { return last; }));
    if (pattern == "m4 m s4 sp") operands.push_back(one.add_predicate(last));
    one.run(find_opcode(isa_, "cp.async", pattern), operands);
  }
  void commit(std::uint32_t warp, std::uint32_t lanes = all_lanes) {
    run(warp, "cp.async.commit_group", 0, lanes);
  }
  void wait(std::uint32_t warp, std::int64_t groups, std::uint32_t lanes = all_lanes) {
    run(warp, "cp.async.wait_group", groups, lanes);
  }
  void wait_all(std::uint32_t warp) { run(warp, "cp.async.wait_all", 0, all_lanes); }
  std::optional<FaultKind> load(std::uint32_t warp, std::uint64_t at,
                                std::uint32_t lanes = all_lanes) {
    return fault_of([&] { block.load(warp, "ld shared b32", at_lanes(at, 4), lanes); });
  }
  std::uint8_t shared_byte(std::uint64_t at) { return bytes_at(block.shared())[at]; }

  CheckedGrid grid;
  CheckedBlock block;
  std::uint64_t source = 0;

 private:
  static std::uint8_t* bytes_at(std::uint64_t address) {
    return reinterpret_cast<std::uint8_t*>(address);
  }
  void run(std::uint32_t warp, const char* name, std::int64_t number, std::uint32_t lanes) {
    block.warp(warp).set_active(lanes);
    block.warp(warp).run(find_opcode(isa_, name), {}, number);
  }
  HostIsa isa_;
};

template <class Body>
void on_each_isa(Body body) {
  for (const HostIsa& isa : host_isas()) {
    CAPTURE(isa.name);
    CopyCase made(isa);
    body(made);
  }
}

}  // namespace

TEST_CASE("simgpu cp.async: what is copied is there after the wait, for its thread") {
  on_each_isa([](CopyCase& c) {
    for (const std::uint32_t size : {4u, 8u, 16u}) {
      CAPTURE(size);
      c.block.begin(0);
      std::memset(c.block.block().shared, 0, CheckedGrid::shared_bytes);
      c.copy(0, 1024, 64, size);
      c.commit(0);
      CHECK(c.shared_byte(1024) == 0);
      CHECK(c.load(0, 1024) == FaultKind::missing_wait);
      CHECK(c.load(1, 1024) == FaultKind::missing_wait);
      CHECK(fault_of([&] { c.block.store(0, "st shared b32", at_lanes(1024, 4)); }) ==
            FaultKind::missing_wait);
      CHECK(fault_of([&] { c.copy(0, 1024, 64, size); }) == FaultKind::missing_wait);
      CHECK(c.load(0, 1024 - 128) == FaultKind::uninitialised);
      c.wait(0, 0);
      CHECK(c.load(0, 1024) == nothing);
      for (std::uint32_t n = 0; n < 32 * size; ++n)
        if (c.shared_byte(1024 + n) != static_cast<std::uint8_t>((64 + n) * 7)) FAIL_CHECK(n);
      CHECK(c.load(1, 1024) == FaultKind::shared_race);  // no barrier yet
      c.block.meet_all();
      CHECK(c.load(1, 1024) == nothing);
    }
  });
}

TEST_CASE("simgpu cp.async: a wait leaves the last groups") {
  on_each_isa([](CopyCase& c) {
    for (std::uint64_t stage = 0; stage < 3; ++stage) {
      c.copy(0, stage * 512, stage * 512, 16);
      c.commit(0);
    }
    c.wait(0, 2);
    CHECK(c.load(0, 0) == nothing);
    CHECK(c.load(0, 512) == FaultKind::missing_wait);
    c.wait(0, 1);
    CHECK(c.load(0, 512) == nothing);
    CHECK(c.load(0, 1024) == FaultKind::missing_wait);
    c.commit(0);  // an empty group counts
    c.wait(0, 1);
    CHECK(c.load(0, 1024) == nothing);
  });
}

TEST_CASE("simgpu cp.async: what is in no group is waited for by wait_all alone") {
  on_each_isa([](CopyCase& c) {
    c.copy(0, 0, 0, 16);
    c.wait(0, 0);
    CHECK(c.load(0, 0) == FaultKind::missing_wait);
    c.wait_all(0);
    CHECK(c.load(0, 0) == nothing);
  });
}

TEST_CASE("simgpu cp.async: each thread waits for its own") {
  on_each_isa([](CopyCase& c) {
    c.copy(0, 0, 0, 4);
    c.commit(0);
    c.wait(0, 0, 0x0000'ffff);
    CHECK(c.load(0, 0, 0x0000'ffff) == nothing);
    CHECK(c.load(0, 0, 0x0001'0000) == FaultKind::missing_wait);
    c.wait(1, 0);
    CHECK(c.load(0, 0, 0x0001'0000) == FaultKind::missing_wait);
    c.wait(0, 0);
    CHECK(c.load(0, 0) == nothing);
  });
}

TEST_CASE("simgpu cp.async: the rest of a short source is zero, an ignored one is all zero") {
  on_each_isa([](CopyCase& c) {
    std::memset(c.block.block().shared, 0xee, CheckedGrid::shared_bytes);
    // The last 5 bytes of the source: more would be out of bounds.
    c.copy(0, 0, 4096 - 16, 16, " s4", 5, 1);
    c.copy(0, 512, 4096, 16, " s4", 0, 1);
    c.copy(0, 1024, 4096, 16, " sp", 1, 1);
    c.copy(0, 1536, 4080, 16, " sp", 0, 1);
    c.wait_all(0);
    for (std::uint64_t n = 0; n < 16; ++n) {
      CHECK(c.shared_byte(n) == (n < 5 ? static_cast<std::uint8_t>((4080 + n) * 7) : 0));
      CHECK(c.shared_byte(512 + n) == 0);
      CHECK(c.shared_byte(1024 + n) == 0);
      CHECK(c.shared_byte(1536 + n) == static_cast<std::uint8_t>((4080 + n) * 7));
    }
    CHECK(fault_of([&] { c.copy(0, 2048, 0, 16, " s4", 17); }) == FaultKind::illegal_instruction);
    CHECK(fault_of([&] { c.copy(0, 2048, 0, 12); }) == FaultKind::illegal_instruction);
  });
}

TEST_CASE("simgpu cp.async: both sides are checked as loads and stores are") {
  on_each_isa([](CopyCase& c) {
    CHECK(fault_of([&] { c.copy(0, 0, 4096 - 512, 16); }) == nothing);
    CHECK(fault_of([&] { c.copy(0, 1024, 4096 - 511, 16); }) == FaultKind::misaligned);
    CHECK(fault_of([&] { c.copy(0, 1024, 4096 - 496, 16); }) == FaultKind::out_of_bounds);
    CHECK(fault_of([&] { c.copy(0, CheckedGrid::shared_bytes - 512, 0, 16); }) == nothing);
    CHECK(fault_of([&] { c.copy(1, CheckedGrid::shared_bytes - 496, 0, 16, "", 0, 1u << 31); }) ==
          FaultKind::out_of_bounds);
    CHECK(fault_of([&] { c.copy(1, 1032, 0, 16); }) == FaultKind::misaligned);
    const std::uint64_t fresh = c.grid.allocate(512, false);
    CHECK(fault_of([&] { c.copy(1, 1024, fresh - c.source, 16); }) == FaultKind::uninitialised);
    // Another warp has read what is overwritten, and nothing is between.
    c.block.store(2, "st shared b32", at_lanes(2048, 4));
    CHECK(fault_of([&] { c.copy(1, 2048, 0, 4); }) == FaultKind::shared_race);
    c.block.meet_all();
    CHECK(fault_of([&] { c.copy(1, 2048, 0, 4); }) == nothing);
  });
}

}  // namespace simgpu
