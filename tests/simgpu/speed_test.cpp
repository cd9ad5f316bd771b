// Results of simple kernels, and how fast they were run: `simgpu_tests --test-suite=speed` prints
// it, for the settings of the environment.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "tests/simgpu/kernel_file.h"
#include "tests/simgpu/simulated_device.h"
#include "tools/simgpu/machine/workers.h"

namespace simgpu {
namespace {

constexpr LaunchConfiguration sizes{{64}, {256}};
constexpr int threads = 64 * 256;

float polynomial(int i, int times) {
  const float x = static_cast<float>(i) * 1e-6f;
  float y = 1;
  for (int k = 0; k < times; ++k)
    y = std::fma(std::fma(std::fma(y, x, 0.5f), x, 0.25f), x, -0.125f);
  return y;
}

unsigned hash(int i, int times) {
  auto h = static_cast<unsigned>(i);
  for (int k = 0; k < times; ++k) {
    h = (h ^ h >> 16) * 0x7feb352du;
    h = (h ^ h >> 15) * 0x846ca68bu + static_cast<unsigned>(k);
  }
  return h;
}

/// The fastest of three launches.
template <class... Values>
void measure(SimulatedDevice& device, const char* name, const Values&... arguments) {
  double best = HUGE_VAL;
  for (int run = 0; run < 3; ++run) {
    const auto start = std::chrono::steady_clock::now();
    const auto fault = device.launch(name, sizes, arguments...);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    REQUIRE_MESSAGE(!fault, fault->text);
    best = std::min(best, taken.count());
  }
  const double instructions = static_cast<double>(device.counts().warp_instructions);
  MESSAGE(fmt::format("{:10} {:4.0f} million instructions of warps a second and thread", name,
                      instructions / best / 1e6 / workers()));
}

}  // namespace

TEST_CASE("simgpu speed: simple kernels are right, and how fast they ran is told" *
          doctest::test_suite("speed") * doctest::skip(!has_nvrtc())) {
  SimulatedDevice device;
  device.load_cuda(kernel_file("speed.cu"));
  constexpr int times = 1001, per_thread = 64, rows = 4096;

  auto* polynomials = device.allocate<float>(threads);
  measure(device, "polynomial", polynomials, times);
  auto* hashes = device.allocate<unsigned>(threads);
  measure(device, "hash", hashes, times);
  const std::vector<float> polynomials_got = device.download(polynomials, threads);
  const std::vector<unsigned> hashes_got = device.download(hashes, threads);
  for (int i = 0; i < threads; i += 37) {
    CAPTURE(i);
    CHECK(polynomials_got[static_cast<std::size_t>(i)] == polynomial(i, times));
    CHECK(hashes_got[static_cast<std::size_t>(i)] == hash(i, times));
  }

  const std::vector<float> ones(threads * per_thread, 1);
  auto* x = device.upload(ones);
  auto* y = device.upload(ones);
  measure(device, "axpy", y, x, 2.0f, threads * per_thread);
  CHECK(device.download(y, ones.size()) == std::vector<float>(ones.size(), 7));  // after three

  auto* sums = device.allocate<float>(rows);
  measure(device, "row_sums", sums, x, rows);
  CHECK(device.download(sums, rows) == std::vector<float>(rows, 256));
}

}  // namespace simgpu
