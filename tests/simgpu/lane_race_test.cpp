// Races between lanes of one warp, and what orders their accesses.
#include <doctest/doctest.h>

#include <string>

#include "tests/simgpu/checked_block.h"
#include "tests/simgpu/kernel_case.h"

namespace simgpu {
namespace {

constexpr std::uint32_t warp = 1;

/// One warp of a block, in shared or in global memory.
struct Place {
  CheckedBlock& block;
  std::uint64_t start;
  bool shared;

  std::string name(const std::string& verb, const std::string& type) const {
    return verb + (shared ? " shared " : " global ") + type;
  }
  AddressOf address(std::uint64_t offset, std::uint64_t step) const {
    return at_lanes(start + offset, step);
  }
  std::optional<FaultKind> access(const std::string& verb, const std::string& type,
                                  const std::string& registers, const AddressOf& at,
                                  std::uint32_t lanes, std::uint64_t value = 7,
                                  std::string* text = nullptr) {
    const std::string m = shared ? "m4" : "m";
    const bool loads = verb.substr(0, 2) == "ld";
    const std::string pattern = loads ? registers + " " + m : m + " " + registers;
    return fault_of(
        [&] { block.access(warp, name(verb, type).c_str(), pattern.c_str(), at, value, lanes); },
        text);
  }
  std::optional<FaultKind> load(const AddressOf& at, std::uint32_t lanes = all_lanes,
                                std::string* text = nullptr) {
    return access("ld", "b32", "d4", at, lanes, 0, text);
  }
  std::optional<FaultKind> store(const AddressOf& at, std::uint32_t lanes = all_lanes,
                                 std::uint64_t value = 7) {
    return access("st", "b32", "s4", at, lanes, value);
  }
  std::optional<FaultKind> add(const AddressOf& at, std::uint32_t lanes = all_lanes) {
    return access("red", "add u32", "s4", at, lanes, 1);
  }
  void meet(std::uint32_t lanes = all_lanes) { block.meet_lanes(warp, lanes); }
  FaultKind race() const { return shared ? FaultKind::shared_race : FaultKind::global_race; }
};

template <class Body>
void in_each_place(Body body) {
  for (const HostIsa& isa : host_isas()) {
    CAPTURE(isa.name);
    CheckedGrid grid;
    CheckedBlock block(grid, 1, isa);
    block.part_lanes();
    block.write_states();
    block.meet_all();
    Place in_shared{block, 0, true};
    body(in_shared);
    CAPTURE("global memory");
    Place in_global{block, grid.allocate(2048), false};
    body(in_global);
  }
}

constexpr std::uint32_t lane(int n) { return 1u << n; }

}  // namespace

TEST_CASE("simgpu lanes: what one writes another reads after __syncwarp") {
  in_each_place([](Place& p) {
    const AddressOf own = p.address(0, 4), all_one = p.address(20, 0);
    const AddressOf mirrored = p.address(124, static_cast<std::uint64_t>(-4));
    CHECK(p.store(own) == nothing);
    CHECK(p.load(own) == nothing);
    CHECK(p.store(own) == nothing);
    CHECK(p.load(mirrored) == p.race());
    CHECK(p.load(all_one) == p.race());
    CHECK(p.load(all_one, lane(5)) == nothing);  // its own
    CHECK(p.load(all_one, lane(6)) == p.race());
    CHECK(p.load(all_one, lane(5) | lane(6)) == p.race());
    CHECK(p.load(p.address(4, 4), 0x7fff'ffffu) == p.race());
    p.meet();
    CHECK(p.load(mirrored) == nothing);
    CHECK(p.load(all_one) == nothing);
    CHECK(p.load(p.address(4, 4), 0x7fff'ffffu) == nothing);
  });
}

TEST_CASE("simgpu lanes: what one reads another writes after __syncwarp") {
  in_each_place([](Place& p) {
    const AddressOf own = p.address(0, 4);
    CHECK(p.store(own) == nothing);
    p.meet();
    CHECK(p.load(p.address(124, static_cast<std::uint64_t>(-4))) == nothing);
    CHECK(p.store(own) == p.race());
    p.meet();
    CHECK(p.store(own) == nothing);
    p.meet();
    // A stencil: the outermost words have one reader each.
    for (const std::uint64_t offset : {0, 4, 8}) CHECK(p.load(p.address(offset, 4)) == nothing);
    CHECK(p.store(p.address(0, 0), lane(0)) == nothing);
    CHECK(p.store(p.address(4, 0), lane(1)) == p.race());
    CHECK(p.store(p.address(64, 0), lane(16)) == p.race());
    CHECK(p.store(p.address(33 * 4, 0), lane(31)) == nothing);
    p.meet();
    CHECK(p.load(p.address(256, 0)) == nothing);
    CHECK(p.store(p.address(256, 0), lane(0)) == p.race());
    p.meet();
    CHECK(p.store(p.address(256, 0), lane(0)) == nothing);
    CHECK(p.load(p.address(512, 0), lane(3)) == nothing);
    CHECK(p.load(p.address(512, 0), lane(3)) == nothing);
    CHECK(p.store(p.address(512, 0), lane(3)) == nothing);
    CHECK(p.store(p.address(512, 0), lane(4), 8) == p.race());
  });
}

TEST_CASE("simgpu lanes: a barrier of the block is one of the warp") {
  in_each_place([](Place& p) {
    CHECK(p.store(p.address(0, 4)) == nothing);
    p.block.meet_all();
    CHECK(p.load(p.address(8, 0)) == nothing);
    p.block.meet({warp, 2});
    CHECK(p.store(p.address(8, 0), lane(9)) == nothing);
    CHECK(p.load(p.address(8, 0)) == p.race());
  });
}

TEST_CASE("simgpu lanes: parts of a warp that meet") {
  in_each_place([](Place& p) {
    const AddressOf at = p.address(0, 0);
    CHECK(p.store(at, lane(0)) == nothing);
    p.meet(0x0000'ffffu);
    CHECK(p.load(at, 0x0000'fffeu) == nothing);
    CHECK(p.load(at, lane(20)) == p.race());
    p.meet(lane(3) | lane(20));
    CHECK(p.load(at, lane(20)) == nothing);  // by way of lane 3
    CHECK(p.load(at, lane(21)) == p.race());
    // What lane 0 does now is news.
    CHECK(p.store(p.address(128, 0), lane(0)) == nothing);
    p.meet(lane(3) | lane(20));
    CHECK(p.load(p.address(128, 0), lane(20)) == p.race());
    p.meet();
    CHECK(p.store(at, lane(21)) == nothing);
    // Of readers that a lane has met one, the others count as known as well.
    p.meet();
    CHECK(p.load(at, 0xff) == nothing);
    CHECK(p.store(at, lane(9)) == p.race());
    p.meet(lane(9) | lane(2));
    CHECK(p.store(at, lane(9)) == nothing);
  });
}

TEST_CASE("simgpu lanes: more meetings than a mark counts") {
  in_each_place([](Place& p) {
    for (int n = 0; n < 3000; ++n) {
      CAPTURE(n);
      REQUIRE(p.store(p.address(0, 0), lane(n % 32)) == nothing);
      if (n % 100 == 0) CHECK(p.load(p.address(0, 0), lane((n + 1) % 32)) == p.race());
      p.meet(n % 7 == 0 ? lane(n % 32) | lane((n + 1) % 32) : all_lanes);
      CHECK(p.load(p.address(0, 0), lane((n + 1) % 32)) == nothing);
    }
  });
}

TEST_CASE("simgpu lanes: the same value from several is no race, another is") {
  in_each_place([](Place& p) {
    const AddressOf at = p.address(0, 0), pairs = [&p](int lane) {
      return p.start + 128 + 8 * static_cast<std::uint64_t>(lane / 2);
    };
    CHECK(p.store(at, all_lanes, 1) == nothing);
    CHECK(p.store(at, lane(3), 1) == nothing);
    CHECK(p.store(at, lane(3), 2) == p.race());
    CHECK(p.store(pairs, all_lanes, 1) == nothing);
    CHECK(p.store(pairs, lane(5), 1) == nothing);
    CHECK(p.store(pairs, lane(5), 2) == p.race());
    p.meet();
    CHECK(p.store(at, lane(3), 2) == nothing);
    CHECK(p.store(at, lane(3), 3) == nothing);
    // Only what others have written has to be the same.
    CHECK(p.store(p.address(260, 0), lane(0), 7) == nothing);
    CHECK(p.access("st", "v4 b32", "s4v4", p.address(256, 0), lane(1), 7) == nothing);
    CHECK(p.store(p.address(324, 0), lane(0), 7) == nothing);
    CHECK(p.access("st", "v4 b32", "s4v4", p.address(320, 0), lane(1), 8) == p.race());
    // Lane by lane of one instruction.
    const auto differing = fault_of([&] {
      OneWarp& one = p.block.warp(warp);
      one.reset();
      one.set_active(0xff);
      const std::uint32_t value = one.add<std::uint32_t>([](int n) { return n / 4; });
      const std::uint32_t to = p.shared
                                   ? one.add<std::uint32_t>([](int) { return 512; })
                                   : one.add<std::uint64_t>([&](int) { return p.start + 512; });
      one.run(find_opcode(p.block.isa(), p.name("st", "b32"), p.shared ? "m4 s4" : "m s4"),
              {to, value});
    });
    CHECK(differing == p.race());
  });
}

TEST_CASE("simgpu lanes: halves of words are apart, and their bytes never a false report") {
  in_each_place([](Place& p) {
    const auto half = [&](const char* verb, const AddressOf& at, std::uint32_t lanes) {
      return p.access(verb, "b16", *verb == 'l' ? "d2" : "s2", at, lanes);
    };
    CHECK(half("st", p.address(0, 2), all_lanes) == nothing);
    CHECK(half("ld", p.address(0, 2), all_lanes) == nothing);
    CHECK(half("st", p.address(0, 2), 0xff) == nothing);
    CHECK(half("ld", p.address(2, 2), 0xff) == p.race());
    CHECK(half("st", p.address(128, 4), 0xff) == nothing);
    CHECK(half("ld", p.address(128, 4), 0xff) == nothing);
    CHECK(half("st", p.address(130, 0), lane(9)) == nothing);
    CHECK(half("ld", p.address(128, 0), lane(0)) == nothing);
    CHECK(p.load(p.address(128, 0), lane(0)) == p.race());
    p.meet();
    CHECK(p.load(p.address(128, 0), lane(0)) == nothing);
    // Both halves are read by lane 0, one of them by lane 1 too.
    CHECK(half("ld", p.address(130, 0), lane(1)) == nothing);
    CHECK(half("st", p.address(128, 0), lane(0)) == nothing);
    CHECK(half("st", p.address(130, 0), lane(0)) == p.race());
    const auto byte = [&](const char* verb, const AddressOf& at, std::uint32_t lanes) {
      return p.access(verb, "b8", *verb == 'l' ? "d2" : "s2", at, lanes);
    };
    p.meet();
    for (const std::uint64_t step : {1, 3}) {
      CHECK(byte("st", p.address(256, step), all_lanes) == nothing);
      CHECK(byte("ld", p.address(256, step), all_lanes) == nothing);
      CHECK(byte("st", p.address(256, step), 0x0f0f) == nothing);
      CHECK(byte("ld", p.address(256, step), 0x0f0f) == nothing);
      p.meet();
    }
    CHECK(byte("st", p.address(400, 2), all_lanes) == nothing);
    CHECK(byte("ld", p.address(401, 2), all_lanes) == nothing);
    CHECK(byte("ld", p.address(402, 2), lane(0)) == p.race());
  });
}

TEST_CASE("simgpu lanes: atomics, and plain accesses beside them") {
  in_each_place([](Place& p) {
    const AddressOf at = p.address(0, 0), apart = p.address(128, 4);
    CHECK(p.store(at, lane(0)) == nothing);
    CHECK(p.add(at, lane(0)) == nothing);
    CHECK(p.add(at) == p.race());
    p.meet();
    CHECK(p.add(at) == nothing);
    CHECK(p.add(at) == nothing);
    CHECK(p.load(at, lane(0)) == p.race());
    CHECK(p.store(at, lane(0)) == p.race());
    p.meet();
    CHECK(p.load(at) == nothing);
    CHECK(p.add(at, lane(4)) == p.race());
    CHECK(p.add(apart) == nothing);
    CHECK(p.load(apart) == nothing);
    CHECK(p.load(p.address(132, 0), lane(2)) == p.race());
    p.meet();
    CHECK(p.access("ld strong", "b32", "d4", apart, all_lanes) == nothing);
    CHECK(p.store(apart) == nothing);
    CHECK(p.access("ld strong", "b32", "d4", p.address(256, 0), all_lanes) == nothing);
    CHECK(p.store(p.address(256, 0), lane(4)) == p.race());
  });
}

TEST_CASE("simgpu lanes: a fence passes data on, as a flag that is waited for shows") {
  in_each_place([](Place& p) {
    CHECK(p.store(p.address(0, 0), lane(0)) == nothing);
    p.block.fence(warp, "fence cta");
    CHECK(p.access("st strong", "b32", "s4", p.address(128, 0), lane(0)) == nothing);
    CHECK(p.access("ld strong", "b32", "d4", p.address(128, 0), lane(1)) == nothing);
    CHECK(p.load(p.address(0, 0), lane(1)) == nothing);
  });
}

TEST_CASE("simgpu lanes: matrices are accesses of the whole warp") {
  for (const HostIsa& isa : host_isas()) {
    CheckedGrid grid;
    CheckedBlock block(grid, 1, isa);
    block.part_lanes();
    block.write_states();
    block.meet_all();
    Place p{block, 0, true};
    const AddressOf rows = at_lanes(0, 16);
    const auto matrices = [&](const char* name, const char* pattern) {
      return fault_of([&] { block.access(warp, name, pattern, rows); });
    };
    const char* load = "ldmatrix.sync.aligned.m8n8.x4.shared.b16";
    const char* store = "stmatrix.sync.aligned.m8n8.x4.shared.b16";
    CHECK(p.store(at_lanes(0, 16)) == nothing);
    CHECK(matrices(load, "d4v4 m4") == p.race());
    p.meet();
    CHECK(matrices(load, "d4v4 m4") == nothing);
    CHECK(p.store(at_lanes(0, 16)) == p.race());
    p.meet();
    CHECK(matrices(store, "m4 s4v4") == nothing);
    CHECK(matrices(load, "d4v4 m4") == nothing);
    CHECK(p.load(at_lanes(0, 16)) == p.race());
    p.meet();
    CHECK(p.load(at_lanes(0, 16)) == nothing);
  }
}

TEST_CASE("simgpu lanes: the report names the lane") {
  in_each_place([](Place& p) {
    std::string text;
    CHECK(p.store(p.address(0, 4), 0xff) == nothing);
    CHECK(p.load(p.address(12, 0), lane(17), &text) == p.race());
    CHECK(text ==
          "reads 4 bytes that lane 3 of the same warp has written, with no __syncwarp or "
          "barrier between that orders the two");
    p.meet();
    CHECK(p.load(p.address(0, 0)) == nothing);
    CHECK(p.access("st", "b32", "s4", p.address(0, 0), lane(0), 7, &text) == p.race());
    CHECK(text.find("several lanes of the same warp have read") != std::string::npos);
  });
}

TEST_CASE("simgpu lanes: a sum within a warp, with __syncwarp in each step or all but one" *
          doctest::skip(!has_nvrtc())) {
  const std::string body = R"(
  __shared__ int sums[128];
  int* own = sums + t / 32 * 32;
  int lane = t % 32, v = data[i];
  own[lane] = v;
  if (n != 1) __syncwarp();
  for (int step = 16; step > 0; step /= 2) {
    if (lane < step) v += own[lane + step];
    if (n != 2) __syncwarp();
    own[lane] = v;
    if (step != n) __syncwarp();
  }
  if (lane == 0) more[i / 32] = own[0];)";
  KernelCase c(kernel(body));
  CHECK(c.run(16, 128) == nothing);
  CHECK(c.word(c.more, 1) == 32 * 32 + 16 * 31);
  CHECK(c.run(16, 128, 1) == FaultKind::shared_race);
  CHECK(c.run(16, 128, 8) == FaultKind::shared_race);
  CHECK(c.text.find("of the same warp has written, with no __syncwarp") != std::string::npos);
  CHECK(c.run(16, 128, 2) == FaultKind::shared_race);
  CHECK(c.text.find("of the same warp has read, with no __syncwarp") != std::string::npos);
}

TEST_CASE("simgpu lanes: one prepares for all, in global memory" * doctest::skip(!has_nvrtc())) {
  KernelCase c(kernel(R"(
  if (t % 32 == 0) more[i / 32] = data[i] * 3;
  if (n == 0) __syncwarp();
  if (n == 1) __shfl_sync(~0u, t, 0);
  if (n == 2) __ballot_sync(~0u, t > 3);
  more[1024 + i] = more[i / 32];)"));
  CHECK(c.run(4, 64) == nothing);
  CHECK(c.word(c.more, 1024 + 70) == 64 * 3);
  // Shuffles and votes order no memory, the programming guide says.
  CHECK(c.run(4, 64, 1) == FaultKind::global_race);
  CHECK(c.run(4, 64, 2) == FaultKind::global_race);
}

// What sync() of a tile and of coalesced threads becomes.
TEST_CASE("simgpu lanes: groups of lanes meet by themselves" * doctest::skip(!has_nvrtc())) {
  KernelCase c(kernel(R"(
  __shared__ int tile[64], few[2];
  tile[t] = data[i];
  if (n != 1) __syncwarp(0xffu << (t & 24));
  int sum = 0;
  for (int k = 0; k < 8; ++k) sum += tile[t / 8 * 8 + k];
  if (n == 2) sum += tile[t ^ 8];
  if (t % 3 == 0) {
    unsigned here = __activemask();
    if (t % 32 == __ffs(here) - 1) few[t / 32] = n;
    if (n != 3) __syncwarp(here);
    sum += few[t / 32];
  }
  if (n == 4) sum += few[t / 32];
  more[i] = sum;)"));
  CHECK(c.run(4, 64) == nothing);
  CHECK(c.word(c.more, 9) == 8 * 8 + 28);
  for (const int wrong : {1, 2, 3, 4}) CHECK(c.run(4, 64, wrong) == FaultKind::shared_race);
}

TEST_CASE("simgpu lanes: lanes that find the same say so together" * doctest::skip(!has_nvrtc())) {
  KernelCase c(kernel(R"(
  __shared__ int found;
  if (t == 0) found = 0;
  __syncthreads();
  for (int k = 0; k < 8; ++k)
    if (data[i + 32 * k] % 5 == 3) found = n == 0 ? 1 : k + 1;
  __syncthreads();
  more[i] = found;)"));
  CHECK(c.run(4, 32) == nothing);
  CHECK(c.word(c.more, 3) == 1);
  CHECK(c.run(4, 32, 1) == FaultKind::shared_race);
}

TEST_CASE("simgpu lanes: a histogram of a warp is read before it is done" *
          doctest::skip(!has_nvrtc())) {
  KernelCase c(kernel(R"(
  __shared__ int counts[32];
  counts[t] = 0;
  if (n != 1) __syncwarp();
  atomicAdd(counts + (data[i] * 7) % 32, 1);
  if (n != 2) __syncwarp();
  more[i] = counts[t];)"));
  CHECK(c.run(4, 32) == nothing);
  CHECK(c.word(c.more, 3) == 1);
  CHECK(c.run(4, 32, 1) == FaultKind::shared_race);
  CHECK(c.run(4, 32, 2) == FaultKind::shared_race);
}

}  // namespace simgpu
