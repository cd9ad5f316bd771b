// kernels/math.h: special values, accuracy, and the same bits from every instruction set.
#include "kernels/math.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "runtime/dtype.h"
#include "tests/math_reference.h"
#include "tests/math_table.h"

namespace {

namespace kernels = sinter::kernels;
namespace m = sinter::kernels::m;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float no_number = std::numeric_limits<float>::quiet_NaN();
constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
float from_bits(std::uint32_t x) { return std::bit_cast<float>(x); }

/// The same bits, or both NaN.
bool same(float a, float b) { return bits(a) == bits(b) || (std::isnan(a) && std::isnan(b)); }

/// Every pattern of the high 16 bits, and random mantissas at every exponent and sign.
std::vector<float> sample_floats() {
  std::vector<float> x;
  for (std::uint32_t high = 0; high < 65536; ++high) x.push_back(from_bits(high << 16));
  std::mt19937 random(20);
  for (std::uint32_t exponent = 0; exponent < 512; ++exponent)
    for (int i = 0; i < 64; ++i)
      x.push_back(from_bits(exponent << 23 | (static_cast<std::uint32_t>(random()) & 0x7fffffu)));
  return x;
}

/// Compares with what portable vector code gives.
void check_agreement(const sinter::MathPath& path, bool scalar) {
  const std::vector<float> x = sample_floats();
  std::vector<float> z = x, want(x.size()), got(x.size());
  std::shuffle(z.begin(), z.end(), std::mt19937(21));
  const auto n = static_cast<std::ptrdiff_t>(x.size());
  const sinter::MathTable portable = sinter::math_paths()[0].table(), table = path.table();
  REQUIRE(table.count == portable.count);
  for (std::size_t f = 0; f < table.count; ++f) {
    const sinter::MathFunction& function = table.first[f];
    portable.first[f].vector(x.data(), z.data(), want.data(), n);
    (scalar ? function.scalar : function.vector)(x.data(), z.data(), got.data(), n);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (same(want[i], got[i])) continue;
      FAIL_CHECK(function.name << "(" << x[i] << ", " << z[i] << ") is " << got[i] << ", portable "
                               << want[i]);
      break;
    }
  }
}

bool runs_here(std::size_t path) {
  return path < sinter::math_paths().size() && sinter::math_paths()[path].runs_here;
}

void check_path(std::size_t path) {
  const sinter::MathPath& tested = sinter::math_paths()[path];
  check_agreement(tested, false);
  check_agreement(tested, true);
  const char* fault = tested.vector_fault();
  CHECK_MESSAGE(fault == nullptr, std::string(fault ? fault : ""));
}

}  // namespace

TEST_SUITE("math") {
  TEST_CASE("portable scalar and vector code give the same bits") { check_path(0); }
  TEST_CASE("avx2 gives the bits of portable code" * doctest::skip(!runs_here(1))) {
    check_path(1);
  }
  TEST_CASE("avx512 gives the bits of portable code" * doctest::skip(!runs_here(2))) {
    check_path(2);
  }

  TEST_CASE("errors are below the stated bounds") {
    const std::vector<float> x = sample_floats();
    std::vector<float> y(x.size());
    const sinter::MathTable table = sinter::math_paths()[0].table();
    for (const sinter::MathReference& reference : sinter::math_references()) {
      const sinter::MathFunction& function = find(table, reference.name);
      function.vector(x.data(), x.data(), y.data(), static_cast<std::ptrdiff_t>(x.size()));
      double worst = 0.0;
      float at = 0.0f;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double error = error_in_ulp(reference, x[i], y[i]);
        if (error > worst) worst = error, at = x[i];
      }
      CHECK_MESSAGE(worst <= reference.allowed, std::string(reference.name)
                                                    << ": " << worst << " ulp at " << at);
    }
  }

  TEST_CASE("NaN wins in minimum, maximum and relu") {
    CHECK(std::isnan(m::maximum(no_number, 1.0f)));
    CHECK(std::isnan(m::maximum(1.0f, no_number)));
    CHECK(std::isnan(m::minimum(no_number, 1.0f)));
    CHECK(std::isnan(m::minimum(1.0f, no_number)));
    CHECK(std::isnan(m::maximum(1.0, std::numeric_limits<double>::quiet_NaN())));
    CHECK(std::isnan(m::relu(no_number)));
    CHECK(same(m::maximum(-0.0f, 0.0f), 0.0f));
    CHECK(same(m::maximum(0.0f, -0.0f), 0.0f));
    CHECK(same(m::minimum(0.0f, -0.0f), -0.0f));
    CHECK(same(m::minimum(-0.0f, 0.0f), -0.0f));
    CHECK(same(m::relu(-0.0f), 0.0f));
    CHECK(m::maximum(-infinity, 2.0f) == 2.0f);
    CHECK(m::minimum(lowest, std::int64_t{5}) == lowest);
  }

  TEST_CASE("tests for NaN and infinity, and choosing by them") {
    CHECK(m::isnan(no_number) == 1.0f);
    CHECK(m::isnan(infinity) == 0.0f);
    CHECK(m::isinf(-infinity) == 1.0f);
    CHECK(m::isinf(no_number) == 0.0f);
    CHECK(m::isfinite(3.4e38f) == 1.0f);
    CHECK(m::isfinite(no_number) == 0.0f);
    CHECK(m::where(m::isnan(no_number), 0.0f, no_number) == 0.0f);
    CHECK(m::where(no_number, 1.0f, 2.0f) == 1.0f);  // not 0
    CHECK(m::where(-0.0f, 1.0f, 2.0f) == 2.0f);
    CHECK(m::logical_and(no_number, 1.0f) == 1.0f);
    CHECK(m::logical_xor(2.0f, 3.0f) == 0.0f);
    CHECK(m::logical_not(std::int64_t{7}) == 0);
    CHECK(m::not_equal(no_number, no_number) == 1.0f);
    CHECK(m::less_equal(no_number, no_number) == 0.0f);
  }

  TEST_CASE("denormals are kept") {
    CHECK(1e-40f * 1.0f != 0.0f);
    CHECK(m::exp(-100.0f) == doctest::Approx(3.783506e-44).epsilon(0.02));
    CHECK(m::sigmoid(-100.0f) == doctest::Approx(3.783506e-44).epsilon(0.02));
    CHECK(m::sqrt(0x1p-148f) == 0x1p-74f);
    CHECK(m::log2(0x1p-149f) == -149.0f);
  }

  TEST_CASE("activations at the extremes") {
    CHECK(m::gelu(infinity) == infinity);
    CHECK(m::gelu(-infinity) == 0.0f);
    CHECK(m::gelu(-1e4f) == 0.0f);
    CHECK(m::gelu(1.0f) == doctest::Approx(0.8413447).epsilon(1e-6));
    CHECK(m::gelu_tanh(1e20f) == 1e20f);
    CHECK(m::gelu_tanh(-infinity) == 0.0f);
    CHECK(m::gelu_tanh(1.0f) == doctest::Approx(0.8411920).epsilon(1e-6));
    CHECK(m::gelu_derivative(1.0f) == doctest::Approx(1.0833155).epsilon(1e-6));
    CHECK(m::gelu_derivative(-1.0f) == doctest::Approx(-0.0833155).epsilon(1e-6));
    CHECK(m::gelu_tanh_derivative(1.0f) == doctest::Approx(1.0829641).epsilon(1e-6));
    CHECK(m::gelu_tanh_derivative(-1.0f) == doctest::Approx(-0.0829641).epsilon(1e-6));
    CHECK(m::tanh(1e4f) == 1.0f);
    CHECK(m::erf(-1e4f) == -1.0f);
    CHECK(m::sigmoid(-200.0f) == 0.0f);
    CHECK(m::silu(-1e4f) == 0.0f);
    CHECK(m::silu(-infinity) == 0.0f);
  }

  TEST_CASE_TEMPLATE("derivatives of activations are finite everywhere", T, float, double) {
    for (const T x : {T(1e20), T(1e4), T(100), static_cast<T>(infinity)}) {
      CAPTURE(x);
      CHECK(m::gelu_derivative(x) == T(1));
      CHECK(m::gelu_tanh_derivative(x) == T(1));
      CHECK(m::silu_derivative(x) == T(1));
      CHECK(m::gelu_derivative(-x) == doctest::Approx(0.0));
      CHECK(m::gelu_tanh_derivative(-x) == doctest::Approx(0.0));
      CHECK(m::silu_derivative(-x) == doctest::Approx(0.0));
    }
    CHECK(std::isnan(m::gelu_tanh_derivative(static_cast<T>(no_number))));
  }

  TEST_CASE("exp of doubles is within one place") {
    for (int i = -74600; i <= 71000; ++i) {
      const double x = i * 0.01 + 1e-5 * (i % 7), got = m::exp(x);
      const long double want = std::exp(static_cast<long double>(x));
      const int last_place = std::max(std::ilogb(want) - 52, -1074);
      const double allowed = last_place == -1074 ? 2 : 1;
      if (want >= 0x1p1024L) CHECK(got == std::numeric_limits<double>::infinity());
      else CHECK(std::fabs(std::scalbn(got - want, -last_place)) <= allowed);
    }
    constexpr double infinite = std::numeric_limits<double>::infinity();
    CHECK(m::exp(0.0) == 1.0);
    CHECK(m::exp(-0.0) == 1.0);
    CHECK(m::exp(infinite) == infinite);
    CHECK(m::exp(-infinite) == 0.0);
    CHECK(std::isnan(m::exp(std::numeric_limits<double>::quiet_NaN())));
  }

  TEST_CASE_TEMPLATE("pow follows C99", T, float, double) {
    const T inf = std::numeric_limits<T>::infinity(), no = std::numeric_limits<T>::quiet_NaN();
    const T numbers[] = {T(0),    T(-0.0), T(1),     T(-1), T(2), T(-2), T(3),     T(-3), T(0.5),
                         T(-0.5), T(1e30), T(-1e30), inf,   -inf, no,    T(1e-30), T(7),  T(33)};
    for (const T x : numbers)
      for (const T y : numbers) {
        CAPTURE(x);
        CAPTURE(y);
        const T want = static_cast<T>(std::pow(static_cast<double>(x), static_cast<double>(y)));
        CHECK(same(static_cast<float>(m::pow(x, y)), static_cast<float>(want)));
      }
  }

  TEST_CASE_TEMPLATE("atan2 in all directions", T, float, double) {
    const T inf = std::numeric_limits<T>::infinity();
    const T numbers[] = {T(0), T(-0.0), T(1), T(-1), T(1e30), T(-1e-30), inf, -inf};
    for (const T y : numbers)
      for (const T x : numbers) {
        CAPTURE(y);
        CAPTURE(x);
        const auto want = std::atan2(static_cast<double>(y), static_cast<double>(x));
        CHECK(static_cast<double>(m::atan2(y, x)) == doctest::Approx(want).epsilon(1e-7));
        CHECK(std::signbit(m::atan2(y, x)) == std::signbit(want));
      }
  }

  TEST_CASE_TEMPLATE("remainders of floats", T, float, double) {
    CHECK(m::remainder(T(-7), T(3)) == T(2));
    CHECK(m::remainder(T(7), T(-3)) == T(-2));
    CHECK(m::fmod(T(-7), T(3)) == T(-1));
    CHECK(std::signbit(m::remainder(T(6), T(-3))));
    CHECK(std::signbit(m::fmod(T(-6), T(3))));
    CHECK(m::floor_divide(T(-7), T(2)) == T(-4));
    CHECK(m::floor_divide(T(1), T(0.1)) == T(9));  // the exact quotient is just below 10
    CHECK(m::floor_divide(T(1), T(0)) == std::numeric_limits<T>::infinity());
    CHECK(m::floor_divide(T(-1), std::numeric_limits<T>::infinity()) == T(-1));
    CHECK(std::isnan(m::remainder(T(1), T(0))));
    CHECK(m::fmod(T(5), std::numeric_limits<T>::infinity()) == T(5));
  }

  TEST_CASE("integers wrap and never trap") {
    using I = std::int64_t;
    CHECK(m::floor_divide(lowest, I{-1}) == lowest);
    CHECK(m::fmod(lowest, I{-1}) == 0);
    CHECK(m::remainder(lowest, I{-1}) == 0);
    CHECK(m::floor_divide(I{5}, I{0}) == 0);
    CHECK(m::remainder(I{5}, I{0}) == 0);
    CHECK(m::fmod(I{5}, I{0}) == 0);
    CHECK(m::floor_divide(I{-7}, I{2}) == -4);
    CHECK(m::remainder(I{-7}, I{3}) == 2);
    CHECK(m::remainder(I{7}, I{-3}) == -2);
    CHECK(m::fmod(I{-7}, I{3}) == -1);
    CHECK(m::abs(lowest) == lowest);
    CHECK(m::square(I{1} << 32) == 0);
    CHECK(m::pow(I{-2}, I{3}) == -8);
    CHECK(m::pow(I{0}, I{0}) == 1);
    CHECK(m::pow(I{3}, I{39}) == 4052555153018976267);
    CHECK(m::pow(I{-1}, I{-3}) == -1);
    CHECK(m::pow(I{2}, I{-1}) == 0);
    CHECK(m::pow(lowest, I{1} << 62) == 0);
  }

  TEST_CASE("shifts by any count") {
    using I = std::int64_t;
    CHECK(m::shift_left(I{1}, I{63}) == lowest);
    CHECK(m::shift_left(I{1}, I{64}) == 0);
    CHECK(m::shift_left(I{1}, I{-1}) == 0);
    CHECK(m::shift_right(I{-8}, I{1}) == -4);
    CHECK(m::shift_right(I{-8}, I{64}) == -1);
    CHECK(m::shift_right(I{8}, lowest) == 0);
    CHECK(m::bitwise_not(I{0}) == -1);
  }

  TEST_CASE("a multiplication and an addition stay two roundings") {
    const kernels::VecF a(-0.25f), b(0.75f), c(0.25f);
    float out[16];
    m::sqrt((a / b) * b + c).store(out);
    CHECK(out[0] == 0.0f);
    CHECK(m::sqrt((-0.25f / 0.75f) * 0.75f + 0.25f) == 0.0f);
  }

  TEST_CASE("conversions to 16 bits are those of runtime/dtype.h") {
    std::vector<float> x = sample_floats();
    for (std::uint32_t u : {0x7f800001u, 0x7fffffffu, 0xffffffffu, 0x7f7fffffu, 0x3f808000u,
                            0x477fefffu, 0x477ff000u, 0x33000000u, 0x33000001u, 0x387fe000u})
      x.push_back(from_bits(u));
    for (const float value : x) {
      REQUIRE(kernels::to_bf16(value) == sinter::BFloat16(value).bits);
      REQUIRE(kernels::to_f16(value) == sinter::Half(value).bits);
    }
    CHECK(kernels::from_bf16<float>(kernels::to_bf16(from_bits(0x7f7fffff))) == infinity);
    CHECK(kernels::from_bf16<float>(kernels::to_bf16(1.0f + 0x1p-8f)) == 1.0f);
    for (std::int32_t half = 0; half < 65536; ++half) {
      sinter::Half want;
      want.bits = static_cast<std::uint16_t>(half);
      REQUIRE(same(kernels::from_f16<float>(half), static_cast<float>(want)));
    }
  }
}
