// Groups of threads as <cooperative_groups.h> makes them: tests/simgpu/kernels/groups.cu. That
// header needs the C++ library of CUDA, which not every toolkit has.
#include <algorithm>
#include <functional>
#include <numeric>

#include "tests/simgpu/kernel_suite.h"
#include "tests/simgpu/toolkit.h"

namespace simgpu {
namespace {

using S32 = std::int32_t;

/// What f makes of each tile's values, for each of its threads.
template <class T, class F>
std::vector<T> by_tile(const std::vector<T>& values, std::size_t size, F f) {
  std::vector<T> made;
  for (std::size_t begin = 0; begin < values.size(); begin += size)
    made.insert(made.end(), size,
                std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(begin) + 1,
                                values.begin() + static_cast<std::ptrdiff_t>(begin + size),
                                values[begin], f));
  return made;
}

std::uint32_t place_in_eight(const std::vector<S32>& a, std::size_t t) {
  const std::size_t begin = t / 8 * 8;
  std::uint32_t odd = 0, same = 0, positive = 0;
  for (std::size_t k = 0; k < 8; ++k) {
    const S32 other = a[begin + k];
    odd |= static_cast<std::uint32_t>(other & 1) << k;
    same |= static_cast<std::uint32_t>((other & 3) == (a[t] & 3)) << k;
    positive |= static_cast<std::uint32_t>(other > 0) << k;
  }
  return static_cast<std::uint32_t>(t % 8 | t / 8 % 4 << 4) | odd << 8 | same << 16 |
         static_cast<std::uint32_t>(positive != 0) << 24 |
         static_cast<std::uint32_t>(positive == 0xff) << 25;
}

std::vector<S32> of_coalesced(const std::vector<S32>& a) {
  std::vector<S32> made(a.size(), -1);
  for (std::size_t begin = 0; begin < a.size(); begin += 32) {
    S32 sum = 0, even = 0, count = 0;
    for (std::size_t t = begin; t < begin + 32; ++t) {
      if (a[t] % 3 != 0) continue;
      made[t] = count++;
      sum += a[t];
      even += a[t] % 2 == 0;
    }
    for (std::size_t t = begin; t < begin + 32; ++t)
      if (a[t] % 3 == 0) made[t] |= (a[t] % 2 == 0 ? even : count - even) << 8 | (sum & 0xff) << 16;
  }
  return made;
}

std::vector<KernelRow> rows() {
  const auto small = [](std::size_t count, std::uint64_t seed) {
    return each<S32>([](double x) { return static_cast<S32>(x); },
                     numbers<double>(count, seed, -99, 99));
  };
  const auto a = small(128, 1), b = small(256, 2), c = small(512, 3);
  const auto floats = numbers<float>(128, 4, -1, 1);
  const std::plus<S32> plus;
  const auto least = [](S32 x, S32 y) { return std::min(x, y); };
  const auto greatest = [](float x, float y) { return std::max(x, y); };
  const auto sums = by_tile(c, 128, plus);
  std::vector<std::uint32_t> places(128);
  std::vector<S32> scanned(128), halves = by_tile(b, 128, plus), turned(192), copied;
  for (std::size_t t = 0; t < 128; ++t) {
    places[t] = place_in_eight(a, t);
    scanned[t] = t % 16 == 0 ? 0 : scanned[t - 1] + a[t - 1];
  }
  for (std::size_t t = 0; t < 256; ++t) halves[t] += b[t / 128 * 128 + 127 - t % 128];
  std::vector<S32> first(192);
  std::iota(first.begin(), first.end(), 0);
  for (std::size_t t = 0; t < 192; ++t) turned[t] = static_cast<S32>((t + 5) % 192);
  for (std::size_t t = 0; t < 128; ++t) {
    const std::size_t box = t / 64 * 256, k = t % 64;
    copied.push_back(c[box + k] + c[box + 255 - k] + c[box + 64 + k]);
  }
  LaunchConfiguration cooperative = grid(3, 64);
  cooperative.cooperative = true;
  return {
      row("of_block", grid(4, 128),
          exactly(
              std::vector<S32>{sums[0] + 128, sums[128] + 128, sums[256] + 128, sums[384] + 128}),
          c),
      row("of_tiles", grid(1, 128), exactly(by_tile(a, 32, plus)), exactly(by_tile(a, 8, plus)),
          exactly(places), a),
      row("of_coalesced", grid(1, 128), exactly(of_coalesced(a)), std::vector<S32>(1), a),
      row("reduced", grid(1, 128), exactly(by_tile(a, 16, plus)), exactly(by_tile(a, 16, least)),
          exactly(by_tile(floats, 16, greatest)), exactly(scanned), a, floats),
      row("of_warps", grid(1, 256), exactly(halves), b),
      row("copied", grid(2, 64), exactly(copied), c),
      row("of_grid", cooperative, exactly(turned, first), 5),
      // The blocks of other launches do not meet.
      row("of_grid", grid(3, 64), exactly(std::vector<S32>(192, -1), first), 5),
  };
}

}  // namespace

TEST_CASE("simgpu suite: groups of threads" *
          doctest::skip(!has_nvrtc() || library_headers().empty())) {
  const std::string library = "--include-path=" + library_headers();
  check_kernels("groups.cu", rows(), {library.c_str()});
}

}  // namespace simgpu
