// Races, and what orders accesses so that they are none.
#include <doctest/doctest.h>

#include <string>

#include "tests/simgpu/checked_block.h"

namespace simgpu {
namespace {

constexpr auto nothing = std::nullopt;
constexpr auto race = FaultKind::global_race;

template <class Body>
void on_each_isa(Body body) {
  for (const HostIsa& isa : host_isas()) {
    CAPTURE(isa.name);
    CheckedGrid grid;
    CheckedBlock a(grid, 1, isa), b(grid, 6, isa), c(grid, 3, isa);
    body(grid, a, b, c);
  }
}

std::optional<FaultKind> load(CheckedBlock& block, std::uint32_t warp, const char* name,
                              const AddressOf& address, std::uint32_t lanes = all_lanes) {
  return fault_of([&] { block.load(warp, name, address, lanes); });
}
std::optional<FaultKind> store(CheckedBlock& block, std::uint32_t warp, const char* name,
                               const AddressOf& address, std::uint32_t lanes = all_lanes) {
  return fault_of([&] { block.store(warp, name, address, lanes); });
}

constexpr const char *ld_shared = "ld shared b32", *st_shared = "st shared b32",
                     *ld_global = "ld global b32", *st_global = "st global b32";

}  // namespace

TEST_CASE("simgpu races: warps of a block share memory with a barrier between") {
  on_each_isa([](CheckedGrid&, CheckedBlock& block, CheckedBlock&, CheckedBlock&) {
    // Contiguous lanes take the short way, others the long one.
    for (const std::uint64_t step : {4, 8, 0}) {
      CAPTURE(step);
      const AddressOf at = at_lanes(1024, step);
      const auto shared_race = FaultKind::shared_race;
      block.begin(1);
      CHECK(store(block, 0, st_shared, at) == nothing);
      CHECK(load(block, 0, ld_shared, at) == nothing);
      CHECK(load(block, 1, ld_shared, at) == shared_race);   // read after write
      CHECK(store(block, 1, st_shared, at) == shared_race);  // write after write
      block.meet_all();
      CHECK(load(block, 1, ld_shared, at) == nothing);
      CHECK(load(block, 2, ld_shared, at) == nothing);
      CHECK(load(block, 3, ld_shared, at) == nothing);
      CHECK(store(block, 1, st_shared, at) == shared_race);  // write after read
      block.meet_all();
      CHECK(store(block, 1, st_shared, at) == nothing);
      CHECK(store(block, 1, st_shared, at) == nothing);
      CHECK(store(block, 3, st_shared, at) == shared_race);
    }
  });
}

TEST_CASE("simgpu races: the report names the other party") {
  on_each_isa([](CheckedGrid& grid, CheckedBlock& a, CheckedBlock& b, CheckedBlock&) {
    std::string text;
    a.store(2, st_shared, at_lanes(0, 4));
    fault_of([&] { a.load(0, ld_shared, at_lanes(0, 4)); }, &text);
    CHECK(text.find("thread from 64 to 95 of the same block has written") != std::string::npos);
    const std::uint64_t data = grid.allocate(256);
    a.load(3, ld_global, at_lanes(data, 4));
    fault_of([&] { b.store(0, st_global, at_lanes(data, 4)); }, &text);
    CHECK(text.find("thread from 96 to 127 of block (1, 0, 0) has read") != std::string::npos);
  });
}

TEST_CASE("simgpu races: a barrier of some warps orders those") {
  on_each_isa([](CheckedGrid&, CheckedBlock& block, CheckedBlock&, CheckedBlock&) {
    const AddressOf at = at_lanes(0, 4);
    CHECK(store(block, 0, st_shared, at) == nothing);
    block.meet({0, 1});
    CHECK(load(block, 1, ld_shared, at) == nothing);
    CHECK(load(block, 2, ld_shared, at) == FaultKind::shared_race);
    block.meet({1, 2});
    CHECK(load(block, 2, ld_shared, at) == nothing);  // by way of warp 1
    CHECK(load(block, 3, ld_shared, at) == FaultKind::shared_race);
    // What warp 0 does behind its barrier is not ordered.
    CHECK(store(block, 0, st_shared, at_lanes(512, 4)) == nothing);
    block.meet({1, 2});
    CHECK(load(block, 1, ld_shared, at_lanes(512, 4)) == FaultKind::shared_race);
    block.meet_all();
    CHECK(store(block, 3, st_shared, at) == nothing);
  });
}

TEST_CASE("simgpu races: many barriers, more than numbers are taken for at once") {
  on_each_isa([](CheckedGrid& grid, CheckedBlock& a, CheckedBlock& b, CheckedBlock&) {
    const std::uint64_t data = grid.allocate(1024);
    for (int block = 0; block < 2; ++block) {
      a.begin(block == 0 ? 0 : 2);
      for (std::uint32_t n = 0; n < 200; ++n) {
        // Another block takes numbers between.
        b.meet_all();
        const std::uint32_t warp = n % 4, other = (n + 1) % 4;
        CHECK(store(a, warp, st_shared, at_lanes(0, 4)) == nothing);
        if (block == 0) CHECK(store(a, warp, st_global, at_lanes(data, 4)) == nothing);
        CHECK(load(a, other, ld_shared, at_lanes(0, 4)) == FaultKind::shared_race);
        if (n % 3 == 0) a.meet({warp, other});
        else a.meet_all();
        CHECK(load(a, other, ld_shared, at_lanes(0, 4)) == nothing);
        if (block == 0) CHECK(load(a, other, ld_global, at_lanes(data, 4)) == nothing);
        a.meet_all();
      }
    }
    CHECK(load(b, 0, ld_global, at_lanes(data, 4)) == race);
  });
}

TEST_CASE("simgpu races: blocks read together, and write apart") {
  on_each_isa([](CheckedGrid& grid, CheckedBlock& a, CheckedBlock& b, CheckedBlock& c) {
    const std::uint64_t data = grid.allocate(1024);
    for (CheckedBlock* block : {&a, &b, &c})
      CHECK(load(*block, 0, ld_global, at_lanes(data, 4)) == nothing);
    CHECK(store(a, 0, st_global, at_lanes(data + 128, 4)) == nothing);
    CHECK(store(b, 0, st_global, at_lanes(data + 256, 4)) == nothing);
    CHECK(store(b, 1, st_global, at_lanes(data + 128, 4)) == race);
    CHECK(load(c, 0, ld_global, at_lanes(data + 128, 4)) == race);
    CHECK(load(c, 0, ld_global, at_lanes(data + 128, 0), 1) == race);
    // Of three readers two are remembered: whoever writes finds another one.
    for (CheckedBlock* block : {&a, &b, &c})
      CHECK(store(*block, 0, st_global, at_lanes(data, 4)) == race);
  });
}

TEST_CASE("simgpu races: a barrier of a block does not order blocks") {
  on_each_isa([](CheckedGrid& grid, CheckedBlock& a, CheckedBlock& b, CheckedBlock&) {
    const std::uint64_t data = grid.allocate(1024);
    CHECK(store(a, 0, st_global, at_lanes(data, 4)) == nothing);
    CHECK(load(a, 1, ld_global, at_lanes(data, 4)) == race);  // of the same block
    a.meet_all();
    b.meet_all();
    CHECK(load(a, 1, ld_global, at_lanes(data, 4)) == nothing);
    CHECK(load(b, 1, ld_global, at_lanes(data, 4)) == race);
  });
}

TEST_CASE("simgpu races: bytes beside each other are apart") {
  on_each_isa([](CheckedGrid& grid, CheckedBlock& a, CheckedBlock& b, CheckedBlock& c) {
    const std::uint64_t data = grid.allocate(1024);
    const auto halves = [&](CheckedBlock& block, std::uint64_t start, std::uint64_t step,
                            std::uint32_t lanes) {
      return fault_of(
          [&] { block.access(0, "st global b16", "m s2", at_lanes(start, step), 1, lanes); });
    };
    CHECK(halves(a, data, 4, all_lanes) == nothing);
    CHECK(halves(b, data + 2, 4, all_lanes) == nothing);
    CHECK(halves(c, data + 2, 4, all_lanes) == race);
    // Contiguous, but from the middle of a word on.
    CHECK(halves(a, data + 256 + 2, 2, all_lanes) == nothing);
    CHECK(halves(b, data + 256, 2, 1) == nothing);
    CHECK(halves(b, data + 256 + 64, 2, 1) == race);
    CHECK(halves(b, data + 256 + 66, 2, 1) == nothing);
    const auto bytes = [&](CheckedBlock& block, std::uint64_t start) {
      return fault_of([&] { block.access(1, "st global b8", "m s2", at_lanes(start, 4), 1); });
    };
    CHECK(bytes(a, data + 512) == nothing);
    CHECK(bytes(b, data + 513) == nothing);
    CHECK(bytes(c, data + 515) == nothing);
    CHECK(bytes(b, data + 515) == race);
  });
}

TEST_CASE("simgpu races: parts of a word by one warp are remembered together") {
  on_each_isa([](CheckedGrid& grid, CheckedBlock& a, CheckedBlock& b, CheckedBlock&) {
    const std::uint64_t data = grid.allocate(1024);
    const auto bytes = [&](CheckedBlock& block, const char* name, const char* pattern,
                           std::uint64_t start) {
      return fault_of([&] { block.access(1, name, pattern, at_lanes(start, 8), 1); });
    };
    // Lanes lie apart: each by itself takes the short way.
    CHECK(bytes(a, "st global b8", "m s2", data) == nothing);
    CHECK(bytes(a, "st global b8", "m s2", data + 1) == nothing);
    CHECK(bytes(a, "ld global b16", "d2 m", data + 2) == nothing);
    CHECK(bytes(b, "ld global b8", "d2 m", data) == race);
    CHECK(bytes(b, "ld global b8", "d2 m", data + 1) == race);
    CHECK(bytes(b, "ld global b8", "d2 m", data + 2) == nothing);
    CHECK(bytes(b, "st global b8", "m s2", data + 3) == race);
    CHECK(bytes(b, "ld global b16", "d2 m", data + 2) == nothing);
    CHECK(bytes(b, "ld global b8", "d2 m", data + 5) == nothing);
    CHECK(bytes(b, "st global b8", "m s2", data + 6) == nothing);
    CHECK(bytes(a, "st global b8", "m s2", data + 6) == race);
  });
}

TEST_CASE("simgpu races: atomics do not race with each other, but with plain accesses") {
  on_each_isa([](CheckedGrid& grid, CheckedBlock& a, CheckedBlock& b, CheckedBlock& c) {
    const std::uint64_t data = grid.allocate(1024);
    const auto update = [&](CheckedBlock& block, std::uint64_t address) {
      return fault_of([&] { block.atomic(0, address); });
    };
    CHECK(update(a, data) == nothing);
    CHECK(update(b, data) == nothing);
    CHECK(update(c, data) == nothing);
    CHECK(update(a, data) == nothing);
    CHECK(load(b, 0, "ld strong global b32", at_lanes(data, 0)) == nothing);
    CHECK(store(c, 0, "st strong global b32", at_lanes(data, 0)) == nothing);
    CHECK(load(b, 0, ld_global, at_lanes(data, 0)) == race);
    CHECK(load(b, 0, ld_global, at_lanes(data, 4)) == race);
    CHECK(store(b, 0, st_global, at_lanes(data, 4)) == race);
    CHECK(load(b, 0, ld_global, at_lanes(data + 4, 4)) == nothing);  // beside it
    // The other way round.
    CHECK(store(a, 0, st_global, at_lanes(data + 512, 0)) == nothing);
    CHECK(update(a, data + 512) == nothing);
    CHECK(update(b, data + 512) == race);
    CHECK(load(a, 0, ld_global, at_lanes(data + 516, 0)) == nothing);
    CHECK(update(b, data + 516) == race);
    // A relaxed read, then a plain write.
    CHECK(load(a, 0, "ld strong global b32", at_lanes(data + 520, 0)) == nothing);
    CHECK(load(b, 0, ld_global, at_lanes(data + 520, 0)) == nothing);
    CHECK(store(b, 0, st_global, at_lanes(data + 520, 0)) == race);
  });
}

TEST_CASE("simgpu races: who comes behind an atomic comes behind those before it") {
  on_each_isa([](CheckedGrid& grid, CheckedBlock& a, CheckedBlock& b, CheckedBlock& c) {
    const std::uint64_t data = grid.allocate(1024);
    for (CheckedBlock* block : {&a, &b, &c}) block->atomic(0, data);
    CHECK(store(a, 0, st_global, at_lanes(data, 0)) == race);
    CHECK(store(c, 1, st_global, at_lanes(data, 0)) == race);  // another warp
    c.meet_all();
    CHECK(store(c, 1, st_global, at_lanes(data, 0)) == nothing);
    // A relaxed store has read nothing.
    a.atomic(0, data + 512);
    c.store(0, "st strong global b32", at_lanes(data + 512, 0));
    CHECK(store(c, 0, st_global, at_lanes(data + 512, 0)) == race);
    // Another atomic beside it.
    a.atomic(0, data + 520);
    c.atomic(0, data + 524);
    CHECK(store(c, 0, st_global, at_lanes(data + 520, 0)) == race);
  });
}

TEST_CASE("simgpu races: the last block reads what the others have written") {
  on_each_isa([](CheckedGrid& grid, CheckedBlock& a, CheckedBlock& b, CheckedBlock& c) {
    const std::uint64_t counter = grid.allocate(4);
    const auto partial = [&](const char* fence, bool before) {
      const std::uint64_t data = grid.allocate(1024);
      std::uint64_t at = data;
      for (CheckedBlock* block : {&a, &b, &c}) {
        if (before) block->store(1, st_global, at_lanes(at, 4));
        block->meet_all();
        if (fence != nullptr) block->fence(0, fence);
        if (!before) block->store(0, st_global, at_lanes(at, 4));
        block->atomic(0, counter, 1);
        block->meet_all();
        at += 128;
      }
      return load(c, 3, ld_global, at_lanes(data, 4));
    };
    CHECK(partial(nullptr, true) == race);
    CHECK(partial("fence cta", true) == race);
    CHECK(partial("fence gpu", false) == race);  // the data behind the fence
    CHECK(partial("fence gpu", true) == nothing);
  });
}

TEST_CASE("simgpu races: a fence before the barrier counts for who goes on behind it") {
  on_each_isa([](CheckedGrid& grid, CheckedBlock& a, CheckedBlock& b, CheckedBlock&) {
    const std::uint64_t counter = grid.allocate(4), data = grid.allocate(1024);
    for (std::uint32_t warp = 0; warp < 4; ++warp) {
      a.store(warp, st_global, at_lanes(data + 128 * warp, 4));
      if (warp != 3) a.fence(warp);
    }
    a.meet_all();
    a.atomic(2, counter, 1);
    b.atomic(1, counter, 1);
    for (std::uint32_t warp = 0; warp < 3; ++warp)
      CHECK(load(b, 1, ld_global, at_lanes(data + 128 * warp, 4)) == nothing);
    CHECK(load(b, 1, ld_global, at_lanes(data + 128 * 3, 4)) == race);
  });
}

TEST_CASE("simgpu races: a flag passes on what its writer had learned") {
  on_each_isa([](CheckedGrid& grid, CheckedBlock& a, CheckedBlock& b, CheckedBlock& c) {
    const std::uint64_t data = grid.allocate(256), flags = grid.allocate(256);
    a.store(0, st_global, at_lanes(data, 4));
    a.fence(0);
    a.store(0, "st strong global b32", at_lanes(flags, 0));
    CHECK(load(b, 0, ld_global, at_lanes(data, 4)) == race);
    b.load(0, "ld strong global b32", at_lanes(flags, 0));
    CHECK(load(b, 0, ld_global, at_lanes(data, 4)) == nothing);
    // st.release has its fence in itself.
    b.store(0, "st release global b32", at_lanes(flags + 128, 0));
    CHECK(load(c, 0, ld_global, at_lanes(data, 4)) == race);
    c.load(0, "ld strong global b32", at_lanes(flags + 128, 0));
    CHECK(load(c, 0, ld_global, at_lanes(data, 4)) == nothing);
    // What the first block writes now is news.
    a.store(0, st_global, at_lanes(data + 128, 4));
    CHECK(load(c, 0, ld_global, at_lanes(data + 128, 4)) == race);
  });
}

TEST_CASE("simgpu races: a barrier of the grid, phase after phase") {
  on_each_isa([](CheckedGrid& grid, CheckedBlock& a, CheckedBlock& b, CheckedBlock& c) {
    const std::uint64_t counter = grid.allocate(4), data = grid.allocate(1024);
    CheckedBlock* blocks[] = {&a, &b, &c};
    for (std::uint64_t phase = 0; phase < 20; ++phase) {
      for (std::uint64_t n = 0; n < 3; ++n) {
        const AddressOf at = at_lanes(data + 128 * ((n + phase) % 3), 4);
        CHECK(load(*blocks[n], 2, ld_global, at) == nothing);
        CHECK(store(*blocks[n], 2, st_global, at) == nothing);
      }
      if (phase == 19) break;
      for (CheckedBlock* block : blocks) {
        block->meet_all();
        block->fence(0);
        block->atomic(0, counter, 1);
      }
      for (CheckedBlock* block : blocks) {
        block->load(0, "ld strong global b32", at_lanes(counter, 0), 1);
        block->meet_all();
      }
    }
    CHECK(load(a, 2, ld_global, at_lanes(data, 4)) == race);
  });
}

TEST_CASE("simgpu races: warps of a block pass on flags in shared memory") {
  on_each_isa([](CheckedGrid& grid, CheckedBlock& block, CheckedBlock&, CheckedBlock&) {
    const std::uint64_t data = grid.allocate(256);
    block.store(0, st_global, at_lanes(data, 4));
    block.store(0, st_shared, at_lanes(0, 4));
    block.store(0, "st strong shared b32", at_lanes(1024, 0), 1);  // no fence
    block.load(1, "ld strong shared b32", at_lanes(1024, 0), 1);
    CHECK(load(block, 1, ld_shared, at_lanes(0, 4)) == FaultKind::shared_race);
    block.fence(0, "fence cta");
    block.store(0, "st strong shared b32", at_lanes(1024, 0), 1);
    CHECK(load(block, 1, ld_shared, at_lanes(0, 4)) == FaultKind::shared_race);
    block.load(1, "ld strong shared b32", at_lanes(1024, 0), 1);
    CHECK(load(block, 1, ld_shared, at_lanes(0, 4)) == nothing);
    CHECK(load(block, 1, ld_global, at_lanes(data, 4)) == nothing);
    CHECK(load(block, 2, ld_global, at_lanes(data, 4)) == race);
  });
}

TEST_CASE("simgpu races: launches follow each other") {
  for (const HostIsa& isa : host_isas()) {
    CheckedGrid first;
    const std::uint64_t data = first.allocate(256);
    {
      CheckedBlock block(first, 0, isa);
      block.store(0, st_global, at_lanes(data, 4));
      block.atomic(0, data + 128);
    }
    CheckedGrid second(4, &first.memory());
    CheckedBlock block(second, 1, isa);
    CHECK(load(block, 0, ld_global, at_lanes(data, 4)) == nothing);
    CHECK(store(block, 0, st_global, at_lanes(data, 4)) == nothing);
    CHECK(load(block, 0, ld_global, at_lanes(data + 128, 0)) == nothing);
  }
}

}  // namespace simgpu
