// Warp-wide instructions as the real NVRTC makes them of CUDA C++: tests/simgpu/kernels/warp.cu.

#include <doctest/doctest.h>

#include <numeric>

#include "tests/simgpu/kernel_file.h"
#include "tests/simgpu/simulated_device.h"

namespace simgpu {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr LaunchConfiguration one_warp = {{1, 1, 1}, {32, 1, 1}};

std::vector<int> numbers(std::size_t count) {
  std::vector<int> made(count);
  for (std::size_t i = 0; i < count; ++i) made[i] = static_cast<int>(i * 37 % 101) - 20;
  return made;
}

void check_runs(const std::optional<FaultReport>& fault) {
  if (fault) FAIL(fault->text);
}

template <class Body>
void on_each_profile(Body body) {
  for (const char* profile : {"sm_80", "sm_90", "sm_100"}) {
    CAPTURE(profile);
    SimulatedDevice device(profile);
    device.load_cuda(kernel_file("warp.cu"));
    body(device);
  }
}

}  // namespace

TEST_CASE("simgpu kernels: shuffles, sums and scans of two warps" * doctest::skip(!has_nvrtc())) {
  on_each_profile([](SimulatedDevice& device) {
    const std::vector<int> values = numbers(64);
    const int* from = device.upload(values);
    int* out = device.allocate<int>(5 * 64);
    check_runs(device.launch("shuffles", {{1, 1, 1}, {64, 1, 1}}, from, out));
    const std::vector<int> got = device.download(out, 5 * 64);
    for (std::size_t i = 0; i < 64; ++i) {
      const std::size_t lane = i % 32, warp = i - lane;
      CHECK(got[i] == values[warp + (lane * 7 + 3) % 32]);
      CHECK(got[64 + i] == values[lane < 3 ? i : i - 3]);
      CHECK(got[128 + i] == values[lane % 16 + 5 < 16 ? i + 5 : i]);
      CHECK(got[192 + i] == values[warp + (lane ^ 9)]);
      CHECK(got[256 + i] == values[i / 8 * 8 + 2]);
    }

    check_runs(device.launch("scan", {{1, 1, 1}, {64, 1, 1}}, from, out));
    const std::vector<int> sums = device.download(out, 64);
    for (std::size_t i = 0; i < 64; ++i)
      CHECK(sums[i] == std::accumulate(&values[i / 32 * 32], &values[i] + 1, 0));

    std::vector<double> reals(64);
    for (std::size_t i = 0; i < 64; ++i) reals[i] = values[i] / 8.0;  // sums are exact
    double* real_sums = device.allocate<double>(64);
    check_runs(device.launch("sums", {{1, 1, 1}, {64, 1, 1}}, device.upload(reals), real_sums));
    const std::vector<double> got_reals = device.download(real_sums, 64);
    for (std::size_t i = 0; i < 64; ++i)
      CHECK(got_reals[i] == std::accumulate(&reals[i / 32 * 32], &reals[i / 32 * 32] + 32, 0.0));
  });
}

TEST_CASE("simgpu kernels: votes, matches and what a ballot packs" * doctest::skip(!has_nvrtc())) {
  on_each_profile([](SimulatedDevice& device) {
    const std::vector<int> values = numbers(32);
    const int* from = device.upload(values);
    int* out = device.allocate<int>(32);
    int* count = device.allocate<int>(1);
    check_runs(device.launch("compact", one_warp, from, out, count));
    std::vector<int> kept;
    for (const int value : values)
      if (value % 2 == 0) kept.push_back(value);
    CHECK(device.download(count, 1)[0] == static_cast<int>(kept.size()));
    CHECK(device.download(out, kept.size()) == kept);

    std::uint32_t* words = device.allocate<std::uint32_t>(160);
    check_runs(device.launch("votes", one_warp, from, words));
    const Words got = device.download(words, 160);
    for (std::size_t i = 0; i < 32; ++i) {
      const std::size_t half = i / 16 * 16;
      bool any = false, all = true;
      std::uint32_t same = 0, equal = 0;
      for (std::size_t other = 0; other < 32; ++other) {
        same |= std::uint32_t{(values[other] & 3) == (values[i] & 3)} << other;
        equal |= std::uint32_t{values[other] == values[i]} << other;
        if (other / 16 * 16 != half) continue;
        any |= values[other] == 3;
        all &= values[other] < 40;
      }
      CHECK(got[i] == (std::uint32_t{any} | std::uint32_t{all} << 1));
      CHECK(got[32 + i] == same);
      CHECK(got[64 + i] == (half == 0 ? 0x0000'ffffu : 0u));
      CHECK(got[96 + i] == (half == 0 ? 1 : 0));
      CHECK(got[128 + i] == equal);
    }
  });
}

TEST_CASE("simgpu kernels: groups of lanes that went the same way, and what is left of a warp" *
          doctest::skip(!has_nvrtc())) {
  on_each_profile([](SimulatedDevice& device) {
    const std::vector<int> values = numbers(32);
    std::uint32_t* out = device.allocate<std::uint32_t>(64);
    check_runs(device.launch("groups", one_warp, device.upload(values), out));
    std::uint32_t sum = 0, parity = 0, common = ~0u;
    int least = 1000, greatest = -1000;
    for (const int value : values) {
      const auto word = static_cast<std::uint32_t>(value);
      if (value % 3 == 0) {
        sum += word;
        least = std::min(least, value);
        greatest = std::max(greatest, value);
      } else {
        parity ^= word;
        common &= word | 0xff00u;
      }
    }
    const Words got = device.download(out, 64);
    for (std::size_t i = 0; i < 32; ++i) {
      const bool first = values[i] % 3 == 0;
      CHECK(got[i] == (first ? sum : parity | 1u << 31));
      CHECK(got[32 + i] == (first ? static_cast<std::uint32_t>(greatest - least) : common));
    }

    int* rest = device.allocate<int>(16);
    check_runs(device.launch("rest", one_warp, rest));
    const std::vector<int> left = device.download(rest, 16);
    for (int i = 0; i < 16; ++i) CHECK(left[static_cast<std::size_t>(i)] == 120 + (i ^ 1));
  });
}

TEST_CASE("simgpu kernels: lanes that are not there are found" * doctest::skip(!has_nvrtc())) {
  on_each_profile([](SimulatedDevice& device) {
    int* out = device.allocate<int>(32);
    const auto read = device.launch("absent", one_warp, out);
    REQUIRE(read);
    CHECK(read->kind == FaultKind::absent_lane);
    const auto waits = device.launch("alone", one_warp, out);
    // The other lanes leave, and are not waited for; the first is there.
    check_runs(waits);
    CHECK(device.download(out, 8) == std::vector<int>(8, 0));
  });
}

}  // namespace simgpu
