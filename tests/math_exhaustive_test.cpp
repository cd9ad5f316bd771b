// All 2^32 floats through every f32 function of one argument.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>

#include "tests/float_sweep.h"
#include "tests/math_reference.h"
#include "tests/math_table.h"

namespace sinter {
namespace {

constexpr auto block_size = static_cast<std::ptrdiff_t>(std::tuple_size_v<FloatBlock>);

/// The first i where a and b have different bits and are not both NaN, or the size.
std::size_t first_difference(const FloatBlock& a, const FloatBlock& b) {
  // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): the bits are what must be the same
  if (std::memcmp(a.data(), b.data(), sizeof a) == 0) return a.size();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool same = std::bit_cast<std::uint32_t>(a[i]) == std::bit_cast<std::uint32_t>(b[i]);
    if (!same && !(std::isnan(a[i]) && std::isnan(b[i]))) return i;
  }
  return a.size();
}

/// What differs from portable vector code for some float, or nothing.
std::string disagreement(std::size_t row) {
  const auto paths = math_paths();
  const MathFunction& portable = paths[0].table().first[row];
  std::string found;
  std::mutex mutex;
  sweep_floats(1, [&](int, const FloatBlock& x) {
    FloatBlock want, got;
    portable.vector(x.data(), x.data(), want.data(), block_size);
    for (const MathPath& path : paths.subspan(1)) {
      if (!path.runs_here) continue;
      path.table().first[row].vector(x.data(), x.data(), got.data(), block_size);
      const std::size_t i = first_difference(want, got);
      if (i == got.size()) continue;
      const std::lock_guard lock(mutex);
      found = fmt::format("{}({}) is {} with {}, portable {}", portable.name, x[i], got[i],
                          path.name, want[i]);
    }
  });
  return found;
}

double largest_error(const MathReference& reference, std::uint32_t step) {
  std::array<double, sweep_threads> worst{};
  const MathFunction& function = find(math_paths()[0].table(), reference.name);
  sweep_floats(step, [&](int thread, const FloatBlock& x) {
    FloatBlock y;
    function.vector(x.data(), x.data(), y.data(), block_size);
    double& mine = worst[static_cast<std::size_t>(thread)];
    for (std::size_t i = 0; i < x.size(); ++i)
      mine = std::max(mine, error_in_ulp(reference, x[i], y[i]));
  });
  return std::max(worst[0], worst[1]);
}

}  // namespace

TEST_SUITE("exhaustive") {
  TEST_CASE("every float gives the same bits on every path") {
    const MathTable table = math_paths()[0].table();
    for (std::size_t row = 0; row < table.count; ++row) {
      if (table.first[row].binary) continue;
      const auto start = std::chrono::steady_clock::now();
      const std::string found = disagreement(row);
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      fmt::print("{:>2} of {} {:<22} {:6.1f} s\n", row + 1, table.count, table.first[row].name,
                 seconds.count());
      std::fflush(stdout);
      CHECK_MESSAGE(found.empty(), found);
    }
  }

  TEST_CASE("errors are below the stated bounds for every 61st float") {
    for (const MathReference& reference : math_references()) {
      const double error = largest_error(reference, 61);
      CHECK_MESSAGE(error <= reference.allowed, std::string(reference.name) << ": " << error);
    }
  }
}

}  // namespace sinter
