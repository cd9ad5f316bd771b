// What is checked of an access by itself. Each fault stands beside the nearest access that is
// right.
#include <doctest/doctest.h>

#include <string>

#include "tests/simgpu/checked_block.h"

namespace simgpu {
namespace {

constexpr auto nothing = std::nullopt;

template <class Body>
void on_each_isa(Body body) {
  for (const HostIsa& isa : host_isas()) {
    CAPTURE(isa.name);
    CheckedGrid grid;
    CheckedBlock block(grid, 5, isa);
    body(grid, block);
  }
}

}  // namespace

TEST_CASE("simgpu access: global memory ends where its allocation does") {
  on_each_isa([](CheckedGrid& grid, CheckedBlock& block) {
    const std::uint64_t a = grid.allocate(256);
    for (const char* name : {"ld global b32", "ld b32"}) {
      const auto load = [&](std::uint64_t start, std::uint64_t step, std::uint32_t lanes) {
        return fault_of([&] { block.load(1, name, at_lanes(start, step), lanes); });
      };
      CHECK(load(a + 128, 4, all_lanes) == nothing);
      CHECK(load(a + 132, 4, all_lanes) == FaultKind::out_of_bounds);
      CHECK(load(a + 132, 4, all_lanes >> 1) == nothing);  // the last lane does not run
      CHECK(load(a, 8, all_lanes) == nothing);
      CHECK(load(a + 8, 8, all_lanes) == FaultKind::out_of_bounds);
      CHECK(load(a + 252, 0, all_lanes) == nothing);
      CHECK(load(a + 256, 0, all_lanes) == FaultKind::out_of_bounds);
      CHECK(load(a - 4, 0, all_lanes) == FaultKind::out_of_bounds);
      CHECK(load(a - 4, 4, all_lanes) == FaultKind::out_of_bounds);
      CHECK(load(0, 4, 1) == FaultKind::out_of_bounds);  // null
    }
    const auto store = [&](std::uint64_t start, std::uint64_t step) {
      return fault_of([&] { block.store(1, "st global b32", at_lanes(start, step)); });
    };
    CHECK(store(a + 128, 4) == nothing);
    CHECK(store(a + 132, 4) == FaultKind::out_of_bounds);
    CHECK(store(a + 4, 8) == nothing);
    CHECK(store(a + 8, 8) == FaultKind::out_of_bounds);
    CHECK(store(a + 256, 0) == FaultKind::out_of_bounds);
  });
}

TEST_CASE("simgpu access: an allocation may end inside of an element") {
  on_each_isa([](CheckedGrid& grid, CheckedBlock& block) {
    const std::uint64_t a = grid.allocate(127);
    CHECK(fault_of([&] { block.load(0, "ld global b32", at_lanes(a, 4)); }) ==
          FaultKind::out_of_bounds);
    CHECK(fault_of([&] { block.load(0, "ld global b32", at_lanes(a, 4), all_lanes >> 1); }) ==
          nothing);
    const auto bytes = [&](std::uint64_t start) {
      return fault_of([&] { block.access(0, "ld global b8", "d2 m", at_lanes(start, 1)); });
    };
    CHECK(bytes(a + 95) == nothing);
    CHECK(bytes(a + 96) == FaultKind::out_of_bounds);
  });
}

TEST_CASE("simgpu access: the report names the allocation") {
  on_each_isa([](CheckedGrid& grid, CheckedBlock& block) {
    const std::uint64_t a = grid.memory().allocate(64, "cuMemAlloc").value();
    std::string text;
    fault_of([&] { block.store(0, "st global b32", at_lanes(a, 4)); }, &text);
    CHECK(text.find("writes 4 bytes") != std::string::npos);
    CHECK(text.find("0 bytes behind the end of allocation 1 of 64 bytes") != std::string::npos);
    CHECK(text.find("made by cuMemAlloc") != std::string::npos);
    fault_of([&] { block.load(0, "ld global b32", at_lanes(a, 4), 2); }, &text);
    CHECK(text.find("byte 4 of allocation 1") == std::string::npos);
    CHECK(grid.memory().free(a, "cuMemFree"));
    CHECK(fault_of([&] { block.store(0, "st global b32", at_lanes(a, 4), 1); }, &text) ==
          FaultKind::use_after_free);
    CHECK(text.find("freed by cuMemFree") != std::string::npos);
  });
}

TEST_CASE("simgpu access: an address is a multiple of the whole access") {
  on_each_isa([](CheckedGrid& grid, CheckedBlock& block) {
    const std::uint64_t a = grid.allocate(1024);
    const auto access = [&](const char* name, const char* pattern, std::uint64_t start,
                            std::uint64_t step) {
      return fault_of([&] { block.access(0, name, pattern, at_lanes(start, step)); });
    };
    CHECK(access("ld global v4 b32", "d4v4 m", a + 16, 16) == nothing);
    CHECK(access("ld global v4 b32", "d4v4 m", a + 8, 16) == FaultKind::misaligned);
    CHECK(access("ld global v2 b32", "d4v2 m", a + 8, 16) == nothing);
    CHECK(access("ld global v2 b32", "d4v2 m", a + 4, 16) == FaultKind::misaligned);
    CHECK(access("ld global b16", "d2 m", a + 2, 6) == nothing);
    CHECK(access("ld global b16", "d2 m", a + 1, 6) == FaultKind::misaligned);
    CHECK(access("ld global b64", "d8 m", a + 4, 0) == FaultKind::misaligned);
    CHECK(access("st global b64", "m s8", a + 8, 8) == nothing);
    CHECK(access("st global b64", "m s8", a + 4, 8) == FaultKind::misaligned);
    CHECK(access("st shared b64", "m4 s8", 8, 8) == nothing);
    CHECK(access("st shared b64", "m4 s8", 4, 8) == FaultKind::misaligned);
    CHECK(access("st local b32", "m s4", block.local(0) + 4, CheckedGrid::local_bytes) == nothing);
    CHECK(access("st local b32", "m s4", block.local(0) + 2, CheckedGrid::local_bytes) ==
          FaultKind::misaligned);
    CHECK(access("atom global add u32", "d4 m s4", a + 4, 0) == nothing);
    CHECK(access("atom global add u32", "d4 m s4", a + 2, 0) == FaultKind::misaligned);
  });
}

TEST_CASE("simgpu access: an address is of the space that the opcode names") {
  on_each_isa([](CheckedGrid& grid, CheckedBlock& block) {
    const std::uint64_t a = grid.allocate(1024);
    int of_host[32] = {};
    const auto store = [&](const char* name, std::uint64_t start, std::uint64_t step) {
      return fault_of([&] { block.access(1, name, "m s4", at_lanes(start, step)); });
    };
    CHECK(store("st b32", a, 4) == nothing);
    CHECK(store("st b32", block.shared(), 4) == nothing);
    CHECK(store("st global b32", block.shared(), 4) == FaultKind::wrong_space);
    CHECK(store("st shared b32", 0, 4) == nothing);
    CHECK(store("st shared b32", a, 4) == FaultKind::out_of_bounds);
    CHECK(store("st b32", block.local(32), CheckedGrid::local_bytes) == nothing);
    CHECK(store("st local b32", block.local(32), CheckedGrid::local_bytes) == nothing);
    CHECK(store("st global b32", block.local(32), CheckedGrid::local_bytes) ==
          FaultKind::wrong_space);
    CHECK(store("st b32", block.local(33), CheckedGrid::local_bytes) == FaultKind::wrong_space);
    CHECK(store("st local b32", block.local(33), CheckedGrid::local_bytes) ==
          FaultKind::wrong_space);
    CHECK(store("st local b32", a, 4) == FaultKind::out_of_bounds);
    CHECK(store("st global b32", reinterpret_cast<std::uint64_t>(of_host), 4) ==
          FaultKind::wrong_space);
    CHECK(store("st b32", reinterpret_cast<std::uint64_t>(of_host), 4) == FaultKind::wrong_space);
  });
}

TEST_CASE("simgpu access: shared memory is as long as the block has it") {
  constexpr std::uint32_t end = CheckedGrid::shared_bytes;
  on_each_isa([](CheckedGrid&, CheckedBlock& block) {
    const auto store = [&](std::uint64_t start, std::uint64_t step) {
      return fault_of([&] { block.store(0, "st shared b32", at_lanes(start, step)); });
    };
    CHECK(store(end - 128, 4) == nothing);
    CHECK(store(end - 124, 4) == FaultKind::out_of_bounds);
    CHECK(store(end - 4, 0) == nothing);
    CHECK(store(end, 0) == FaultKind::out_of_bounds);
    CHECK(store(0xffff'fffc, 0) == FaultKind::out_of_bounds);
    CHECK(fault_of([&] {
            block.access(0, "st shared v4 b32", "m4 s4v4", at_lanes(end - 16, 0));
          }) == nothing);
    CHECK(fault_of([&] { block.access(0, "st shared v4 b32", "m4 s4v4", at_lanes(end, 0)); }) ==
          FaultKind::out_of_bounds);
  });
}

TEST_CASE("simgpu access: local memory is as long as the thread has it") {
  constexpr std::uint32_t each = CheckedGrid::local_bytes;
  on_each_isa([](CheckedGrid&, CheckedBlock& block) {
    const auto store = [&](std::uint64_t start, std::uint32_t lanes) {
      return fault_of(
          [&] { block.access(3, "st local b32", "m s4", at_lanes(start, each), 0, lanes); });
    };
    CHECK(store(block.local(96) + each - 4, all_lanes) == nothing);
    CHECK(store(block.local(96) + each, all_lanes) == FaultKind::wrong_space);  // the next thread's
    CHECK(store(block.local(96) + each, 1u << 31) == FaultKind::out_of_bounds);
    CHECK(store(block.local(96) - 4, 1) == FaultKind::wrong_space);
  });
}

TEST_CASE("simgpu access: memory is read by byte after it has been written by byte") {
  on_each_isa([](CheckedGrid& grid, CheckedBlock& block) {
    const std::uint64_t a = grid.allocate(256, false);
    const auto load = [&](const char* name, std::uint64_t start, std::uint64_t step) {
      return fault_of([&] { block.load(0, name, at_lanes(start, step)); });
    };
    CHECK(load("ld global b32", a, 4) == FaultKind::uninitialised);
    block.access(0, "st global b8", "m s2", at_lanes(a, 1), 3);
    CHECK(load("ld global b32", a, 0) == nothing);
    CHECK(load("ld global b32", a + 28, 0) == nothing);
    CHECK(load("ld global b32", a + 32, 0) == FaultKind::uninitialised);
    block.access(0, "st global b8", "m s2", at_lanes(a + 32, 1), 3, 7);  // three bytes of four
    CHECK(load("ld global b32", a + 32, 0) == FaultKind::uninitialised);
    CHECK(load("ld strong global b32", a + 32, 0) == FaultKind::uninitialised);
    CHECK(fault_of([&] { block.atomic(0, a + 32); }) == FaultKind::uninitialised);
    block.access(0, "st global b8", "m s2", at_lanes(a + 35, 0), 3, 1);
    CHECK(load("ld global b32", a + 32, 0) == nothing);
    CHECK(fault_of([&] { block.atomic(0, a + 32); }) == nothing);
    block.store(0, "st global b32", at_lanes(a + 36, 4));
    CHECK(load("ld global b32", a + 36, 4) == nothing);
    std::string text;
    fault_of([&] { block.load(0, "ld global b32", at_lanes(a + 164, 4)); }, &text);
    CHECK(text.find("byte 164 of allocation") != std::string::npos);
  });
}

TEST_CASE("simgpu access: shared and local memory are uninitialised where a block begins") {
  on_each_isa([](CheckedGrid&, CheckedBlock& block) {
    const AddressOf own = at_lanes(block.local(0) + 8, CheckedGrid::local_bytes);
    const auto load = [&](const char* name, const char* pattern, const AddressOf& address) {
      return fault_of([&] { block.access(0, name, pattern, address); });
    };
    for (int n = 0; n < 2; ++n) {
      CHECK(load("ld shared b32", "d4 m4", at_lanes(64, 4)) == FaultKind::uninitialised);
      CHECK(load("ld b32", "d4 m", at_lanes(block.shared() + 64, 4)) == FaultKind::uninitialised);
      CHECK(load("ld local b32", "d4 m", own) == FaultKind::uninitialised);
      block.store(0, "st shared b32", at_lanes(64, 4));
      block.access(0, "st local b16", "m s2", own);
      CHECK(load("ld local b32", "d4 m", own) == FaultKind::uninitialised);
      block.access(0, "st local b32", "m s4", own);
      CHECK(load("ld shared b32", "d4 m4", at_lanes(64, 4)) == nothing);
      CHECK(load("ld b32", "d4 m", at_lanes(block.shared() + 64, 4)) == nothing);
      CHECK(load("ld shared b32", "d4 m4", at_lanes(68, 4)) == FaultKind::uninitialised);
      CHECK(load("ld local b32", "d4 m", own) == nothing);
      block.begin(6);
    }
  });
}

TEST_CASE("simgpu access: what is discarded is uninitialised, policies are numbers") {
  on_each_isa([](CheckedGrid& grid, CheckedBlock& block) {
    const std::uint64_t a = grid.allocate(256);
    CHECK(fault_of([&] { block.access(0, "discard", "m s4", at_lanes(a, 0), 128, 1); }) == nothing);
    CHECK(fault_of([&] { block.load(0, "ld global b32", at_lanes(a + 128, 4)); }) == nothing);
    CHECK(fault_of([&] { block.load(0, "ld global b32", at_lanes(a, 4)); }) ==
          FaultKind::uninitialised);
    CHECK(fault_of([&] { block.access(0, "discard", "m s4", at_lanes(a + 64, 0), 128, 1); }) ==
          FaultKind::misaligned);
    CHECK(fault_of([&] { block.access(0, "discard", "m s4", at_lanes(a + 256, 0), 128, 1); }) ==
          FaultKind::out_of_bounds);
    const auto operands =
        block.access(0, "createpolicy.fractional", "d8 s4", at_lanes(0, 0), 0x3f80'0000);
    CHECK(block.warp(0).at<std::uint64_t>(operands[0])[31] == 0);
    CHECK(fault_of([&] { block.access(0, "prefetch", "m", at_lanes(a, 4)); }) == nothing);
  });
}

}  // namespace simgpu
