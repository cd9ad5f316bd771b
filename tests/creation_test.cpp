// Tensors made from nothing: ends of ranges and of dtypes.

#include <cmath>

#include "tests/refusal.h"

namespace sinter::tests {
namespace {

bool within(const Tensor& a, double low, double high) {
  for (const double value : a.to_host<double>())
    if (!(value >= low && value < high)) return false;
  return true;
}

}  // namespace

TEST_CASE("creation: uniform never gives its upper end") {
  // 2^18 draws of 24 bits round up to 1 in bf16 some hundred times.
  constexpr std::int64_t count = 1 << 18;
  at_each_level([] {
    Generator generator(5);
    for (const DType dtype : {bf16, f16, f32, f64}) {
      CAPTURE(to_string(dtype));
      CHECK(within(uniform({count}, generator, 0, 1, dtype), 0, 1));
      CHECK(within(uniform({count}, generator, -3, -2, dtype), -3, -2));
      CHECK(within(uniform({1000}, generator, 0.3, 100.1, dtype), 0.3, 100.1));
      CHECK(within(uniform({1000}, generator, -1, 0, dtype), -1, 0));
    }
    CHECK(within(uniform({1000}, generator, 1, 1 + 0x1p-23, f32), 1, 1 + 0x1p-23));
    CHECK(amax(uniform({count}, generator, 0, 1, bf16)).item<double>() == 1 - 0x1p-8);
    CHECK(uniform({2}, generator, 0.1, 0.1).to_host<float>() == Floats{0.1f, 0.1f});
  });
}

TEST_CASE("creation: uniform and normal in f64 have the digits of f64") {
  at_each_level([] {
    Generator generator(5);
    for (const Tensor& draws :
         {uniform({100}, generator, 0, 1, f64), normal({100}, generator, 0, 1, f64)}) {
      int finer = 0;  // than f32
      for (const double draw : draws.to_host<double>())
        finer += static_cast<double>(static_cast<float>(draw)) != draw ? 1 : 0;
      CHECK(finer > 90);
    }
    const std::vector<double> many = normal({1 << 16}, generator, 0, 1, f64).to_host<double>();
    double mean = 0, square = 0;
    for (const double draw : many) {
      mean += draw / 65536;
      square += draw * draw / 65536;
    }
    CHECK(std::abs(mean) < 0.02);
    CHECK(square == doctest::Approx(1).epsilon(0.03));
  });
}

TEST_CASE("creation: ranges that a floating dtype does not hold") {
  Generator generator(1);
  REFUSES("uniform", uniform({2}, generator, 0, 1e6, f16));
  REFUSES("uniform", uniform({2}, generator, -3e38, 3e38, f32));
  REFUSES("uniform", uniform({2}, generator, 1e39, 2e39, bf16));
  REFUSES("uniform", uniform({2}, generator, 1.0001, 1.0002, bf16));  // none between
  REFUSES("uniform", uniform({-1}, generator));
  REFUSES("normal", normal({-1}, generator, 0, 1, f64));
  REFUSES("bernoulli", bernoulli({-1}, 0.5, generator));
  REFUSES("random_integers", random_integers({-1}, 0, 2, generator));
  CHECK(generator.ordinal() == 0);
}

TEST_CASE("creation: random integers up to both ends of i64") {
  constexpr std::int64_t highest = INT64_MAX, lowest = INT64_MIN;
  at_each_level([] {
    Generator generator(7);
    for (const std::int64_t draw :
         random_integers({100}, highest - 3, highest, generator).to_host<std::int64_t>())
      CHECK((draw >= highest - 3 && draw < highest));
    for (const std::int64_t draw :
         random_integers({100}, lowest, lowest + 3, generator).to_host<std::int64_t>())
      CHECK(draw < lowest + 3);
    for (const std::int64_t draw :
         random_integers({100}, 0, highest, generator).to_host<std::int64_t>())
      CHECK(draw >= 0);
  });
}

TEST_CASE("creation: a shape without meaning is refused in the name of the function") {
  const Shape negative{-1}, large{INT64_C(1) << 40, INT64_C(1) << 40};
  REFUSES("full", full(negative, 1));
  REFUSES("full_integer", full_integer(large, 1));
  REFUSES("zeros", zeros(negative));
  REFUSES("zeros", zeros(large));
  REFUSES("ones", ones(negative));
  REFUSES("arange", arange(-2));
  REFUSES("eye", eye(-1, 2));
  REFUSES("eye", eye(2, -1));
  REFUSES("one_hot", one_hot(zeros({2}, i64), -1));
  REFUSES("one_hot", one_hot(zeros({1, 1, 1, 1, 1, 1, 1, 1}, i64), 2));
}

}  // namespace sinter::tests
