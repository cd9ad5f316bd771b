// What NVRTC makes of functions, parameters, variables and scopes, loaded and run.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/simgpu/simulated_device.h"

namespace simgpu {
namespace {

const bool missing = !has_nvrtc();

/// Functions that are not inlined, with structures for parameters and results.
const char* const functions = R"(
struct Eight { int values[8]; };
__noinline__ __device__ Eight rotate(Eight from, int by) {
  Eight made;
  for (int k = 0; k < 8; ++k) made.values[k] = from.values[(k + by) & 7];
  return made;
}
__noinline__ __device__ long long widen(int a, short b) { return (long long)a * b; }
__noinline__ __device__ int twice(int a) { return (int)widen(a, 2); }
extern "C" __global__ void calls(long long* out, Eight given, short by) {
  const int t = threadIdx.x;
  Eight turned = rotate(given, t);
  if (t & 1) turned = rotate(turned, 3);
  out[t] = widen(turned.values[0], by) + twice(t);
}
)";

/// Variables of the module: with values, with addresses of others, packed.
const char* const variables = R"(
__device__ int table[4] = {3, 5, 7, 9};
__device__ int* entries[2] = {table + 1, table + 3};
__constant__ int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
struct __attribute__((packed)) Packed { char first; int* second; };
__device__ Packed packed = {40, table + 2};
extern __shared__ int dynamic[];
extern "C" __global__ void variables(int* out) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  tile[t] = primes[t & 7];
  dynamic[t] = *entries[t & 1];
  __syncthreads();
  out[t] = tile[63 - t] * 1000 + dynamic[t ^ 1] + packed.first + *packed.second * 100000;
}
)";

/// Inline assembly with registers and labels of its own, twice; a switch; local memory.
const char* const scopes = R"(
__device__ unsigned count_down(unsigned from) {
  unsigned steps;
  asm volatile("{\n\t.reg .pred p;\n\t.reg .b32 left;\n\tmov.u32 left, %1;\n\tmov.u32 %0, 0;\n"
      "AGAIN:\n\tadd.u32 %0, %0, 1;\n\tsub.u32 left, left, 1;\n\tsetp.gt.s32 p, left, 0;\n\t"
      "@p bra AGAIN;\n\t}" : "=r"(steps) : "r"(from));
  return steps;
}
extern "C" __global__ void scopes(unsigned* out, int choice) {
  const unsigned t = threadIdx.x;
  unsigned ring[16];
  for (int k = 0; k < 16; ++k) ring[k] = t * k;
  unsigned value = count_down(t) * 100 + count_down(t + 3);
  switch (choice + t % 6) {
    case 0: value += 1; break;
    case 1: value ^= 5; break;
    case 2: value *= 3; break;
    case 3: value -= 7; break;
    case 4: value |= 64; break;
    default: value = ~value; break;
  }
  out[t] = value + ring[(t + choice) & 15];
}
)";

/// Parameters that are read at an index known only to the thread.
const char* const indexed = R"(
struct Table { int values[16]; };
extern "C" __global__ void __launch_bounds__(64, 2)
indexed(int* out, const __grid_constant__ Table table) {
  out[threadIdx.x] = table.values[(threadIdx.x * 5) & 15];
}
)";

struct Eight {
  std::int32_t values[8];
};
struct Table {
  std::int32_t values[16];
};

constexpr unsigned threads = 64;
constexpr LaunchConfiguration one_block{{1, 1, 1}, {threads, 1, 1}, 4 * threads};

/// For each architecture: the kernel `name` of the source with these arguments, and what it wrote.
template <class T, class Check, class... Values>
void run(const char* source, const std::string& name, Check check, const Values&... arguments) {
  for (const char* profile : {"sm_80", "sm_90", "sm_100"}) {
    CAPTURE(profile);
    SimulatedDevice device(profile);
    device.load_cuda(source);
    T* out = device.allocate<T>(threads);
    const auto fault = device.launch(name, one_block, out, arguments...);
    if (fault) FAIL(fault->text);
    const std::vector<T> wrote = device.download(out, threads);
    for (unsigned t = 0; t < threads; ++t) {
      CAPTURE(t);
      CHECK(wrote[t] == check(t));
    }
  }
}

}  // namespace

TEST_CASE("simgpu compiled: functions with structures for parameters" * doctest::skip(missing)) {
  const Eight given{{10, -20, 30, 40, 50, -60, 70, 80}};
  run<std::int64_t>(
      functions, "calls",
      [&](unsigned t) {
        const unsigned first = (t % 2 == 1 ? t + 3 : t) % 8;
        return std::int64_t{given.values[first]} * -300 + 2 * static_cast<std::int64_t>(t);
      },
      given, std::int16_t{-300});
}

TEST_CASE("simgpu compiled: variables of the module" * doctest::skip(missing)) {
  run<std::int32_t>(variables, "variables", [](unsigned t) {
    constexpr std::int32_t primes[] = {2, 3, 5, 7, 11, 13, 17, 19};
    // Thread t ^ 1 has put the other of the two entries.
    return primes[(63 - t) % 8] * 1000 + (t % 2 == 0 ? 9 : 5) + 40 + 700000;
  });
}

TEST_CASE("simgpu compiled: scopes, a switch and local memory" * doctest::skip(missing)) {
  run<std::uint32_t>(
      scopes, "scopes",
      [](unsigned t) {
        const std::uint32_t steps = t == 0 ? 1 : t;
        std::uint32_t value = steps * 100 + t + 3;
        const std::uint32_t cases[] = {value + 1, value ^ 5, value * 3, value - 7, value | 64};
        value = t % 6 < 5 ? cases[t % 6] : ~value;
        return value + t * (t % 16);
      },
      std::int32_t{0});
}

TEST_CASE("simgpu compiled: parameters at an index" * doctest::skip(missing)) {
  Table table{};
  for (int k = 0; k < 16; ++k) table.values[k] = k * k - 20;
  run<std::int32_t>(
      indexed, "indexed", [&](unsigned t) { return table.values[t * 5 % 16]; }, table);
  SimulatedDevice device;
  device.load_cuda(indexed);
  CHECK(device.kernel("indexed").most_threads == 64);
}

}  // namespace simgpu
