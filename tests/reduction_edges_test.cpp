// Reductions where they go wrong: precision, ties, NaN, infinities and tails, at both levels.

#include "runtime/reductions.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "runtime/cpu/pool.h"
#include "tests/each_level.h"

namespace sinter::tests {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr DType floating_dtypes[] = {f16, bf16, f32, f64};
constexpr DType signed_dtypes[] = {f16, bf16, f32, f64, i32, i64};

/// A tensor and the axis that a line of elements runs along in it.
struct Placed {
  Tensor tensor;
  std::int64_t axis;
};

/// The line alone, as each row and as each column of a matrix.
std::vector<Placed> placements(const Tensor& line) {
  return {{line, 0}, {stack({line, line, line}, 0), 1}, {stack({line, line, line}, 1), 0}};
}

Tensor line_of(const std::vector<double>& elements, DType dtype) {
  return cast(from_host(elements, {static_cast<std::int64_t>(elements.size())}), dtype);
}

/// Every element of `result` is `expected`.
void check_all(const Tensor& result, double expected) {
  for (const double value : result.to_host<double>()) {
    CAPTURE(value);
    CAPTURE(expected);
    CHECK((value == expected || (std::isnan(value) && std::isnan(expected))));
  }
}

void check_all_near(const Tensor& result, double expected, double relative) {
  for (const double value : result.to_host<double>()) {
    CAPTURE(value);
    CAPTURE(expected);
    CHECK(std::abs(value - expected) <= relative * std::abs(expected));
  }
}

/// `body` on 1, 2 and 5 threads.
template <typename Body>
void at_thread_counts(Body&& body) {
  const int before = cpu::threads();
  for (const int count : {1, 2, 5}) {
    cpu::set_threads(count);
    body();
  }
  cpu::set_threads(before);
}

}  // namespace

TEST_CASE("var and std of small differences of large values") {
  std::vector<double> ramp, noise;
  for (int i = 0; i < 16; ++i) ramp.push_back(8192 + i / 1024.0);
  for (int i = 0; i < 5000; ++i) noise.push_back(8192 + i * 7919 % 1000 / 1024.0);
  double mean_of_noise = 0, var_of_noise = 0;
  for (const double x : noise) mean_of_noise += x / 5000;
  for (const double x : noise) var_of_noise += (x - mean_of_noise) * (x - mean_of_noise) / 5000;
  at_each_level([&] {
    for (const DType dtype : {f32, f64}) {
      for (const auto& [x, axis] : placements(line_of(ramp, dtype))) {
        check_all_near(var(x, {axis}, 0), 21.25 / 1024 / 1024, 1e-5);
        check_all_near(sinter::std(x, {axis}, 0), std::sqrt(21.25) / 1024, 1e-5);
      }
      for (const auto& [x, axis] : placements(line_of(noise, dtype)))
        check_all_near(var(x, {axis}, 0), var_of_noise, 1e-4);
    }
    for (const DType dtype : floating_dtypes)
      for (const auto& [x, axis] : placements(full({256}, dtype == f16 ? 6e4 : 1e6, dtype))) {
        check_all(var(x, {axis}), 0);
        check_all(sinter::std(x, {axis}), 0);
      }
  });
}

TEST_CASE("16-bit floats are accumulated in f32 and rounded once") {
  at_each_level([] {
    CHECK(sum(ones({4096}, f16)).item<double>() == 4096);
    CHECK(mean(ones({70000}, bf16)).item<double>() == 1);
    CHECK(mean(full({70000}, 2, f16)).item<double>() == 2);  // the sum is beyond f16
    CHECK(logsumexp(zeros({65536}, f16)).item<double>() == 11.09375);
    CHECK(sum(expand(ones({1}), {20'000'000})).item<double>() == 20'000'000);
    for (const DType dtype : {f16, bf16}) {
      for (const auto& [x, axis] : placements(ones({4096}, dtype))) {
        check_all(sum(x, {axis}), 4096);
        check_all(mean(x, {axis}), 1);
        check_all(norm(x, {axis}), 64);
        check_all(var(x, {axis}), 0);
        check_all(softmax(x, axis), 1.0 / 4096);
        check_all(select(cumsum(x, axis), axis, -1), 4096);
      }
      // The gradient of what was broadcast is a sum as well.
      const Tensor bias = zeros({1}, dtype);
      const Tensor loss = sum(expand(bias, {4096}));
      CHECK(grad(loss, std::vector<Tensor>{bias})[0].item<double>() == 4096);
    }
  });
}

TEST_CASE("bool and integers are accumulated in i64") {
  at_each_level([] {
    const Tensor largest = full_integer({2}, INT32_MAX, i32);
    CHECK(sum(largest).dtype() == i64);
    CHECK(sum(largest).item<std::int64_t>() == 4294967294);
    CHECK(prod(largest).item<std::int64_t>() == std::int64_t{INT32_MAX} * INT32_MAX);
    CHECK(sum(ones({300}, boolean)).item<std::int64_t>() == 300);
    CHECK(sum(full_integer({256}, 255, u8)).item<std::int64_t>() == 65280);
    CHECK(sum(arange(300) < 299).item<std::int64_t>() == 299);
    at_thread_counts([] {
      for (const auto& [x, axis] : placements(arange(100'000, i32)))
        for (const std::int64_t total : sum(x, {axis}).to_host<std::int64_t>())
          CHECK(total == 4999950000);
      for (const auto& [x, axis] : placements(full_integer({100'000}, INT32_MIN, i32)))
        for (const std::int64_t total : sum(x, {axis}).to_host<std::int64_t>())
          CHECK(total == 100'000 * std::int64_t{INT32_MIN});
    });
  });
}

TEST_CASE("argmax and argmin: the first of equals, and NaN before all") {
  std::vector<double> sevens(10007, 0.0);
  for (const std::size_t at : {17u, 4097u, 9999u}) sevens[at] = 7;
  at_each_level([&] {
    at_thread_counts([&] {
      for (const DType dtype : signed_dtypes) {
        const Tensor x = line_of(sevens, dtype);
        CHECK(argmax(x).item<int>() == 17);
        CHECK(argmin(-x).item<int>() == 17);
        CHECK(argmin(x).item<int>() == 0);
      }
    });
    for (const DType dtype : signed_dtypes)
      for (const auto& [x, axis] : placements(line_of({-5, -3, -9}, dtype))) {
        check_all(argmax(x, axis), 1);
        check_all(argmin(x, axis), 2);
      }
    for (const DType dtype : floating_dtypes) {
      for (const auto& [x, axis] : placements(line_of({3, nan, 1, nan, 5}, dtype))) {
        check_all(argmax(x, axis), 1);
        check_all(argmin(x, axis), 1);
      }
      for (const auto& [x, axis] : placements(full({5}, -infinity, dtype))) {
        check_all(argmax(x, axis), 0);
        check_all(argmin(-x, axis), 0);
      }
    }
  });
}

TEST_CASE("NaN wins amax and amin wherever it stands, in its own line alone") {
  at_each_level([] {
    for (const DType dtype : floating_dtypes)
      for (const std::int64_t n : {1, 3, 7, 8, 9, 15, 16, 17, 33})
        for (std::int64_t p = 0; p < n; ++p) {
          CAPTURE(to_string(dtype));
          CAPTURE(n);
          CAPTURE(p);
          const Tensor ramp = arange(n, dtype);
          const Tensor with = where(arange(n) == p, nan, ramp);
          CHECK(with.dtype() == dtype);
          for (const std::int64_t axis : {1, 0}) {
            const Tensor both = stack({ramp, with}, 1 - axis);
            for (const auto& result : {amax(both, {axis}), amin(both, {axis})}) {
              const std::vector<double> values = result.to_host<double>();
              CHECK_FALSE(std::isnan(values[0]));
              CHECK(std::isnan(values[1]));
            }
          }
          CHECK(std::isnan(amax(with).item<double>()));
          CHECK(std::isnan(amin(with).item<double>()));
        }
  });
}

TEST_CASE("what fills up a vector has no part in a reduction") {
  at_each_level([] {
    CHECK(prod(full({17}, 2)).item<double>() == 131072);
    for (const DType dtype : signed_dtypes)
      for (std::int64_t n = 1; n <= 67; n += dtype == f32 ? 1 : 3) {
        CAPTURE(to_string(dtype));
        CAPTURE(n);
        for (const auto& [x, axis] : placements(arange(5, 5 + static_cast<double>(n), 1, dtype))) {
          check_all(amin(x, {axis}), 5);
          check_all(amax(-x, {axis}), -5);
          check_all(argmin(x, axis), 0);
          check_all(argmax(-x, axis), 0);
          check_all(prod(x * 0 - 1, {axis}), n % 2 == 0 ? 1 : -1);
          check_all(sum(x * 0 + 1, {axis}), static_cast<double>(n));
          const Tensor last = x == static_cast<double>(4 + n);
          check_all(any(last, {axis}), 1);
          check_all(any(x == 0, {axis}), 0);
          check_all(all(x != 0, {axis}), 1);
          check_all(all(!last, {axis}), 0);
          if (!is_floating(dtype)) continue;
          check_all(mean(x * 0 + 3, {axis}), 3);
          check_all(norm(x * 0, {axis}), 0);
          check_all_near(logsumexp(x * 0 - 50, {axis}), std::log(static_cast<double>(n)) - 50,
                         0.01);
        }
      }
  });
}

TEST_CASE("logsumexp at infinities, wherever they stand") {
  at_each_level([] {
    for (const DType dtype : floating_dtypes) {
      for (const auto& [x, axis] : placements(line_of({-infinity, 0}, dtype))) {
        check_all(logsumexp(x, {axis}), 0);
        const Tensor gradient = grad(sum(logsumexp(x, {axis})), std::vector<Tensor>{x})[0];
        check_all(gradient - cast(x == 0, dtype), 0);
      }
      for (const auto& [x, axis] : placements(line_of({infinity, -infinity}, dtype)))
        check_all(logsumexp(x, {axis}), infinity);
      for (const auto& [x, axis] : placements(line_of({1000, 0}, dtype))) {
        check_all(select(log_softmax(x, axis), axis, 0), 0);
        check_all(select(log_softmax(x, axis), axis, 1), -1000);
      }
      for (const std::int64_t n : {1, 2, 15, 16, 17, 33})
        for (std::int64_t p = 0; p < n; p += 4) {
          const Tensor lowest = full({n}, -infinity, dtype);
          for (const auto& [x, axis] : placements(lowest))
            check_all(logsumexp(x, {axis}), -infinity);
          for (const auto& [x, axis] : placements(where(arange(n) == p, 3, lowest)))
            check_all(logsumexp(x, {axis}), 3);
          for (const auto& [x, axis] :
               placements(where(arange(n) == p, infinity, ones({n}, dtype))))
            check_all(logsumexp(x, {axis}), infinity);
        }
    }
  });
}

TEST_CASE("gradients of amax and amin are shared among ties and sum to one") {
  at_each_level([] {
    for (const DType dtype : floating_dtypes)
      for (const auto& [x, axis] : placements(line_of({1, 3, 3, -2, 3, 3, -2}, dtype)))
        for (const bool keepdim : {false, true}) {
          const auto shares = [&, x = x](const Tensor& of) {
            return grad(sum(of), std::vector<Tensor>{x})[0];
          };
          check_all(shares(amax(x, {axis}, keepdim)) * 4 - cast(x == 3, dtype), 0);
          check_all(shares(amin(x, {axis}, keepdim)) * 2 - cast(x == -2, dtype), 0);
        }
  });
}

}  // namespace sinter::tests
