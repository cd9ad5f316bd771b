// The ops and conversions of a GPU's prelude, one element at a time, against the CPU's vectors.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "tests/golden_kernel_table.h"

namespace sinter::tests {
namespace {

constexpr std::size_t count = 1 << 16;

/// Any bits, and numbers that ops do not only overflow on.
template <class T>
std::vector<T> numbers(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> x(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = random();
    if constexpr (std::is_integral_v<T>) {
      x[i] = static_cast<T>(bits) >> random() % 64;
    } else {
      std::memcpy(&x[i], &bits, sizeof(T));
      if (i % 2 == 0) x[i] = static_cast<T>(static_cast<std::int64_t>(bits) >> 40) * T(0x1p-18);
      if (i % 16 == 2) x[i] = std::trunc(x[i]);
    }
  }
  using Limits = std::numeric_limits<T>;
  const T rare[] = {T(0),
                    T(1),
                    T(-1),
                    T(2),
                    Limits::max(),
                    Limits::lowest(),
                    Limits::min(),
                    static_cast<T>(-T(0)),
                    Limits::infinity(),
                    Limits::denorm_min(),
                    Limits::quiet_NaN()};
  for (std::size_t i = 0; i < std::size(rare); ++i) x[i * (seed + 1)] = rare[i];
  return x;
}

template <class T>
std::size_t different(const std::vector<T>& a, const std::vector<T>& b) {
  for (std::size_t i = 0; i < count; ++i)
    // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): the bits are what must be the same
    if (std::memcmp(&a[i], &b[i], sizeof(T)) != 0 && (a[i] == a[i] || b[i] == b[i])) return i;
  return count;
}

template <class T>
int compare_op(const OpRow& host, const OpRow& gpu, RowFunction<T> OpRow::*row) {
  REQUIRE(host.name == gpu.name);
  REQUIRE((host.*row == nullptr) == (gpu.*row == nullptr));
  if (host.*row == nullptr || gpu.*row == nullptr) return 0;
  const std::vector<T> a = numbers<T>(1), b = numbers<T>(2), c = numbers<T>(3);
  const T* const operands[] = {a.data(), b.data(), c.data()};
  std::vector<T> expected(count), result(count);
  (host.*row)(operands, expected.data(), count);
  (gpu.*row)(operands, result.data(), count);
  const std::size_t at = different(expected, result);
  CAPTURE(host.name);
  if (at == count) return 1;
  CAPTURE(a[at]);
  CAPTURE(b[at]);
  CHECK(result[at] == expected[at]);
  return 1;
}

template <class T, class Row>
void compare_cast(const CastRow& host, const CastRow& gpu, Row CastRow::*row) {
  REQUIRE(host.name == gpu.name);
  const std::vector<T> x = numbers<T>(4);
  using Words = std::vector<std::uint64_t>;
  Words stored[2] = {Words(count), Words(count)}, computed[2] = {Words(count), Words(count)};
  (host.*row)(x.data(), stored[0].data(), computed[0].data(), count);
  (gpu.*row)(x.data(), stored[1].data(), computed[1].data(), count);
  CAPTURE(host.name);
  CHECK(stored[0] == stored[1]);
  CHECK(computed[0] == computed[1]);
}

TEST_CASE("cuda: each op gives the bits of the CPU's vectors in each compute type") {
  if (!host_kernels_run()) return;
  const auto host = host_ops(), gpu = simulated_ops();
  REQUIRE(host.size() == gpu.size());
  int compared = 0;
  for (std::size_t i = 0; i < host.size(); ++i) {
    compared += compare_op(host[i], gpu[i], &OpRow::f32);
    compared += compare_op(host[i], gpu[i], &OpRow::f64);
    compared += compare_op(host[i], gpu[i], &OpRow::i64);
  }
  CHECK(compared > 150);
}

TEST_CASE("cuda: each conversion gives the bits of the CPU's vectors") {
  if (!host_kernels_run()) return;
  const auto host = host_casts(), gpu = simulated_casts();
  REQUIRE(host.size() == 8);
  REQUIRE(gpu.size() == 8);
  for (std::size_t i = 0; i < host.size(); ++i) {
    compare_cast<float>(host[i], gpu[i], &CastRow::f32);
    compare_cast<double>(host[i], gpu[i], &CastRow::f64);
    compare_cast<std::int64_t>(host[i], gpu[i], &CastRow::i64);
  }
}

}  // namespace
}  // namespace sinter::tests
