// Atomic operations, against results in wider types. PTX ISA 9.7.13.5 (atom), 9.7.13.6 (red).
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "tests/simgpu/checked_block.h"

namespace simgpu {
namespace {

/// Runs `name` in one lane on memory that holds `old`: what it gives and what it leaves.
template <class T>
struct Result {
  T given, left;
  bool operator==(const Result&) const = default;
};

template <class T>
Result<T> run_one(CheckedGrid& grid, CheckedBlock& block, const std::string& name, T old, T b,
                  std::optional<T> c = {}) {
  const std::uint64_t at = grid.allocate(sizeof(T));
  std::memcpy(reinterpret_cast<void*>(at), &old, sizeof old);
  OneWarp& warp = block.warp(0);
  warp.reset();
  warp.set_active(1u << 9);
  const std::string size = std::to_string(sizeof(T));
  const std::string pattern = "d" + size + " m s" + size + (c ? " s" + size : "");
  std::vector<std::uint32_t> operands = {warp.add<T>([](int) { return T{}; }),
                                         warp.add<std::uint64_t>([=](int) { return at; }),
                                         warp.add<T>([=](int) { return b; })};
  if (c) operands.push_back(warp.add<T>([=](int) { return *c; }));
  warp.run(find_opcode(block.isa(), name, pattern), operands);
  Result<T> result{warp.at<T>(operands[0])[9], {}};
  std::memcpy(&result.left, reinterpret_cast<void*>(at), sizeof(T));
  CHECK(warp.at<T>(operands[0])[8] == T{});
  // The same without a result.
  if (!c && name.find("exch") == std::string::npos) {
    std::memcpy(reinterpret_cast<void*>(at), &old, sizeof old);
    std::string red = name;
    red.replace(0, 4, "red");
    warp.run(find_opcode(block.isa(), red, pattern.substr(3)), {operands[1], operands[2]});
    T left{};
    std::memcpy(&left, reinterpret_cast<void*>(at), sizeof(T));
    const bool is_same = std::memcmp(&left, &result.left, sizeof left) == 0;
    CHECK(is_same);
  }
  CHECK(grid.memory().free(at, ""));
  return result;
}

template <class Body>
void on_each_isa(Body body) {
  for (const HostIsa& isa : host_isas()) {
    CAPTURE(isa.name);
    CheckedGrid grid(1);
    CheckedBlock block(grid, 0, isa);
    body(grid, block);
  }
}

template <class T>
constexpr T interesting[] = {0,
                             1,
                             2,
                             77,
                             static_cast<T>(-1),
                             static_cast<T>(-5),
                             std::numeric_limits<T>::max(),
                             std::numeric_limits<T>::min(),
                             std::numeric_limits<T>::max() / 2 + 3};

template <class Signed, class Unsigned>
void check_integers(CheckedGrid& grid, CheckedBlock& block, const std::string& bits) {
  for (const Unsigned old : interesting<Unsigned>) {
    for (const Unsigned b : interesting<Unsigned>) {
      CAPTURE(old);
      CAPTURE(b);
      const auto run = [&](const std::string& op) {
        const Result<Unsigned> result =
            run_one<Unsigned>(grid, block, "atom global " + op + bits, old, b);
        CHECK(result.given == old);
        return result.left;
      };
      CHECK(run("and b") == (old & b));
      CHECK(run("or b") == (old | b));
      CHECK(run("xor b") == (old ^ b));
      CHECK(run("exch b") == b);
      CHECK(run("add u") == static_cast<Unsigned>(old + b));
      CHECK(run("add s") == static_cast<Unsigned>(old + b));
      CHECK(run("min u") == std::min(old, b));
      CHECK(run("max u") == std::max(old, b));
      const auto s = static_cast<Signed>(old), t = static_cast<Signed>(b);
      CHECK(run("min s") == static_cast<Unsigned>(std::min(s, t)));
      CHECK(run("max s") == static_cast<Unsigned>(std::max(s, t)));
      const std::string cas = "atom global cas b" + bits;
      CHECK(run_one<Unsigned>(grid, block, cas, old, b, Unsigned{99}) ==
            Result<Unsigned>{old, old == b ? Unsigned{99} : old});
    }
  }
}

std::uint32_t bits_of(float value) { return __builtin_bit_cast(std::uint32_t, value); }

}  // namespace

TEST_CASE("simgpu atomics: integers of 32 bits") {
  on_each_isa([](CheckedGrid& grid, CheckedBlock& block) {
    check_integers<std::int32_t, std::uint32_t>(grid, block, "32");
  });
}

TEST_CASE("simgpu atomics: integers of 64 bits") {
  on_each_isa([](CheckedGrid& grid, CheckedBlock& block) {
    check_integers<std::int64_t, std::uint64_t>(grid, block, "64");
  });
}

TEST_CASE("simgpu atomics: counting round, and 16 bits") {
  on_each_isa([](CheckedGrid& grid, CheckedBlock& block) {
    const auto count = [&](const char* name, std::uint32_t old, std::uint32_t b) {
      return run_one<std::uint32_t>(grid, block, name, old, b).left;
    };
    CHECK(count("atom global inc u32", 3, 5) == 4);
    CHECK(count("atom global inc u32", 5, 5) == 0);
    CHECK(count("atom global inc u32", 9, 5) == 0);
    CHECK(count("atom global dec u32", 3, 5) == 2);
    CHECK(count("atom global dec u32", 0, 5) == 5);
    CHECK(count("atom global dec u32", 6, 5) == 5);
    CHECK(count("atom global dec u32", 5, 5) == 4);
    using U16 = std::uint16_t;
    CHECK(run_one<U16>(grid, block, "atom global cas b16", 7, 7, U16{9}) == Result<U16>{7, 9});
    CHECK(run_one<U16>(grid, block, "atom global cas b16", 7, 8, U16{9}) == Result<U16>{7, 7});
    CHECK(run_one<U16>(grid, block, "atom exch b16", 7, 8) == Result<U16>{7, 8});
  });
}

TEST_CASE("simgpu atomics: sums of floats") {
  on_each_isa([](CheckedGrid& grid, CheckedBlock& block) {
    const auto add = [&](const char* name, float old, float b) {
      return run_one<std::uint32_t>(grid, block, name, bits_of(old), bits_of(b)).left;
    };
    CHECK(add("atom global add f32", 1.5f, 2.25f) == bits_of(3.75f));
    CHECK(add("atom global add f32", 0x1p24f, 1.0f) == bits_of(0x1p24f));  // a tie, to even
    CHECK(add("atom global add f32", 0x1.000002p24f, 1.0f) == bits_of(0x1.000004p24f));
    // Subnormal numbers are flushed in global memory alone: PTX ISA 9.7.13.5.
    CHECK(add("atom global add f32", 0x1p-130f, 0x1p-130f) == bits_of(0.0f));
    CHECK(add("atom add f32", -0x1p-130f, -0x1p-130f) == bits_of(-0.0f));
    using U64 = std::uint64_t;
    const auto wide = [](double value) { return __builtin_bit_cast(U64, value); };
    CHECK(run_one<U64>(grid, block, "atom global add f64", wide(1.5), wide(0x1p-1074)).left ==
          wide(1.5));
    CHECK(run_one<U64>(grid, block, "atom global add f64", wide(0x1p-1074), wide(0x1p-1074)).left ==
          wide(0x1p-1073));
    // 1 + 2^-11 is a tie between 1 and 1 + 2^-10; 2^-24 is the least f16.
    using U16 = std::uint16_t;
    const auto half = [&](const char* name, U16 old, U16 b) {
      return run_one<U16>(grid, block, name, old, b).left;
    };
    CHECK(half("atom global add f16", 0x3c00, 0x4000) == 0x4200);  // 1 + 2
    CHECK(half("atom global add f16", 0x3c00, 0x1000) == 0x3c00);
    CHECK(half("atom global add f16", 0x3c01, 0x1000) == 0x3c02);
    CHECK(half("atom add f16", 0x0001, 0x0001) == 0x0002);
    CHECK(half("atom global add f16", 0x7bff, 0x7bff) == 0x7c00);
    CHECK(half("atom global add bf16", 0x3f80, 0x4000) == 0x4040);
    CHECK(half("atom global add bf16", 0x3f80, 0x3b80) == 0x3f80);  // 1 + 2^-8
    CHECK(half("atom global add bf16", 0x3f81, 0x3b80) == 0x3f82);
    const auto two = [&](const char* name, std::uint32_t old, std::uint32_t b) {
      return run_one<std::uint32_t>(grid, block, name, old, b).left;
    };
    CHECK(two("atom global add f16x2", 0x3c00'3c01, 0x4000'1000) == 0x4200'3c02);
    CHECK(two("atom global add bf16x2", 0x3f80'3f81, 0x4000'3b80) == 0x4040'3f82);
  });
}

TEST_CASE("simgpu atomics: shared memory keeps subnormal numbers, at any kind of address") {
  on_each_isa([](CheckedGrid&, CheckedBlock& block) {
    block.write_states();
    auto* at = reinterpret_cast<std::uint32_t*>(block.shared());
    const auto add = [&](const char* name, const char* pattern, std::uint64_t address) {
      at[4] = bits_of(0x1p-130f);
      block.access(0, name, pattern, at_lanes(address, 0), bits_of(0x1p-130f), 1);
      return at[4];
    };
    CHECK(add("atom shared add f32", "d4 m4 s4", 16) == bits_of(0x1p-129f));
    CHECK(add("red shared add f32", "m4 s4", 16) == bits_of(0x1p-129f));
    CHECK(add("atom shared add f32", "d4 m s4", 16) == bits_of(0x1p-129f));
    CHECK(add("atom add f32", "d4 m s4", block.shared() + 16) == bits_of(0x1p-129f));
    CHECK(add("red release add f32", "m s4", block.shared() + 16) == bits_of(0x1p-129f));
  });
}

TEST_CASE("simgpu atomics: lanes at one address come one after the other, vectors by element") {
  on_each_isa([](CheckedGrid& grid, CheckedBlock& block) {
    const std::uint64_t at = grid.allocate(64);
    auto* memory = reinterpret_cast<std::uint32_t*>(at);
    memory[0] = 100;
    const auto operands = block.access(0, "atom global add u32", "d4 m s4", at_lanes(at, 0), 3);
    CHECK(memory[0] == 100 + 3 * 32);
    std::vector<std::uint32_t> given(block.warp(0).at<std::uint32_t>(operands[0]),
                                     block.warp(0).at<std::uint32_t>(operands[0]) + 32);
    std::sort(given.begin(), given.end());
    for (std::uint32_t n = 0; n < 32; ++n) CHECK(given[n] == 100 + 3 * n);
    for (std::uint32_t n = 0; n < 4; ++n) memory[4 + n] = bits_of(static_cast<float>(n));
    block.access(0, "red global add v4 f32", "m s4v4", at_lanes(at + 16, 0), bits_of(0.5f), 0xff);
    for (std::uint32_t n = 0; n < 4; ++n)
      CHECK(memory[4 + n] == bits_of(static_cast<float>(n) + 4.0f));
    CHECK(fault_of([&] {
            block.access(0, "red global add v4 f32", "m s4v4", at_lanes(at + 8, 0), 0, 1);
          }) == FaultKind::misaligned);
  });
}

TEST_CASE("simgpu atomics: blocks on several threads lose nothing") {
  on_each_isa([](CheckedGrid& grid, CheckedBlock& first) {
    const std::uint64_t at = grid.allocate(64);
    std::memset(reinterpret_cast<void*>(at), 0, 64);
    std::vector<std::thread> threads;
    for (std::uint64_t n = 0; n < 4; ++n) {
      threads.emplace_back([&, n] {
        CheckedBlock block(grid, n, first.isa());
        for (int k = 0; k < 500; ++k) {
          block.access(0, "red global add u64", "m s8", at_lanes(at, 0), 1);
          block.access(0, "atom global add f32", "d4 m s4", at_lanes(at + 8, 0), bits_of(1.0f));
          block.access(0, "atom global add bf16x2", "d4 m s4", at_lanes(at + 16, 0), 0, 1);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(*reinterpret_cast<std::uint64_t*>(at) == 4 * 500 * 32);
    CHECK(*reinterpret_cast<std::uint32_t*>(at + 8) == bits_of(4.0f * 500 * 32));
  });
}

}  // namespace simgpu
