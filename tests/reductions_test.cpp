// Reductions at the ends of their definitions: as PyTorch 2.15 gives them.

#include <limits>

#include "tests/nn_checks.h"

namespace sinter::tests {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("reductions: var of few elements") {
  // torch.var(x, correction=c) of the first n of 3 and 5.
  const struct {
    std::int64_t count, correction;
    double expected;
  } rows[] = {{0, -1, nan}, {0, 0, nan}, {0, 1, nan}, {0, 2, nan}, {0, 3, nan},
              {1, 0, 0},    {1, 1, nan}, {1, 2, nan}, {1, 3, nan}, {2, 0, 1},
              {2, 1, 2},    {2, 2, inf}, {2, 3, inf}};
  at_each_level([&] {
    for (const DType dtype : {f32, f64, f16, bf16})
      for (const auto& [count, correction, expected] : rows) {
        CAPTURE(to_string(dtype));
        CAPTURE(count);
        CAPTURE(correction);
        const Tensor x = cast(slice(floats({3, 5}), 0, 0, count), dtype);
        const Tensor variance = var(x, {}, correction, true);
        check_same(parts_of(variance).to_host<double>(), {expected});
        check_same(variance.to_host<double>(), {expected});
        const double root =
            expected == 2 ? sinter::sqrt(full({}, 2, dtype)).item<double>() : expected;
        check_same(sinter::std(x, {}, correction).to_host<double>(), {root});
      }
    // Equal elements: 0 / 0.
    check_same(var(full({2, 2}, 3), {1}, 2).to_host<double>(), {nan, nan});
  });
}

TEST_CASE("reductions: over an axis of no elements") {
  at_each_level([] {
    const Tensor none = zeros({0, 2});
    const auto expect = [](const Tensor& result, double each) {
      check_same(parts_of(result).to_host<double>(), {each, each});
      check_same(result.to_host<double>(), {each, each});
    };
    expect(var(none, {0}, 1, true), nan);
    expect(var(none, {0}, 0, true), nan);
    expect(mean(none, {0}, true), nan);
    expect(logsumexp(none, {0}, true), -inf);
    expect(norm(none, {0}, true), 0);
    check_same(sinter::std(none, {0}).to_host<double>(), {nan, nan});
    CHECK(var(zeros({2, 0}), {0}).shape() == Shape{0});
  });
}

}  // namespace sinter::tests
