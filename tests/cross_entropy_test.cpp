#include <limits>

#include "tests/nn_checks.h"

namespace sinter::tests {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

Tensor classes(const std::vector<std::int64_t>& targets) {
  return from_host(targets, {static_cast<std::int64_t>(targets.size())});
}

/// The loss of every row and what it weighs, in double.
struct Reference {
  double total = 0, weights = 0;

  Reference(const std::vector<double>& logits, const std::vector<std::int64_t>& targets,
            const std::vector<double>& weight, double smoothing) {
    const std::size_t n = weight.size();
    for (std::size_t r = 0; r < targets.size(); ++r) {
      if (targets[r] < 0) continue;
      const double* x = logits.data() + r * n;
      double sum = 0, smooth = 0;
      for (std::size_t j = 0; j < n; ++j) sum += std::exp(x[j]);
      for (std::size_t j = 0; j < n; ++j) smooth -= weight[j] * (x[j] - std::log(sum));
      const auto t = static_cast<std::size_t>(targets[r]);
      total += -(1 - smoothing) * weight[t] * (x[t] - std::log(sum)) +
               smoothing / static_cast<double>(n) * smooth;
      weights += weight[t];
    }
  }
};

std::vector<Tensor> loss_and_gradient(const Tensor& logits, const Tensor& targets,
                                      const CrossEntropyOptions& options) {
  const Tensor loss = cross_entropy(logits, targets, options);
  return {loss, vjp({loss}, {sample(loss.shape(), 3, loss.dtype()) + 0.5}, {logits})[0]};
}

}  // namespace

TEST_CASE("an ignored row counts for nothing, whatever its logits are") {
  at_each_level([&] {
    const Tensor logits =
        cast(from_host(std::vector<double>{2, 0, not_a_number, infinity}, {2, 2}), f32);
    const Variable x(logits);
    const Tensor loss = cross_entropy(x, classes({0, -100}));
    const Tensor gradient = grad(loss, std::vector<Variable>{x})[0];
    CHECK(loss.item<double>() == doctest::Approx(0.1269280).epsilon(1e-6));
    check_close(gradient, {-0.1192029, 0.1192029, 0, 0}, 1e-6);
    CHECK(gradient.to_host<float>()[2] == 0.0f);
    CHECK(gradient.to_host<float>()[3] == 0.0f);
  });
}

TEST_CASE("ignored rows of NaN and infinities, for every dtype and option") {
  std::vector<std::int64_t> targets{3, -100, 0, -100, 32};
  std::vector<double> logits = sample_values({5, 33}, 9), counted;
  for (std::size_t i = 0; i < 165; ++i) {
    if (i / 33 % 2 == 0) counted.push_back(logits[i]);
    else logits[i] = i % 3 == 0 ? infinity : i % 3 == 1 ? not_a_number : -infinity;
  }
  at_each_level([&] {
    for (const DType dtype : {f16, bf16, f32, f64})
      for (const Reduction reduction : {Reduction::none, Reduction::mean, Reduction::sum})
        for (const double smoothing : {0.0, 0.2})
          for (const bool weighted : {false, true}) {
            CAPTURE(to_string(dtype));
            CrossEntropyOptions options{.reduction = reduction, .label_smoothing = smoothing};
            if (weighted) options.weight = sample({33}, 8, dtype) + 2.5;
            const auto of = [&](const std::vector<double>& x, const Tensor& rows) {
              const Tensor own = cast(from_host(x, {rows.size(0), 33}), dtype);
              const Tensor loss = cross_entropy(own, rows, options);
              return std::vector{loss, grad(sum(loss), std::vector<Tensor>{own})[0]};
            };
            const auto all = of(logits, classes(targets)), alone = of(counted, classes({3, 0, 32}));
            const Tensor kept = arange(0, 5, 2), ignored = arange(1, 5, 2);
            if (reduction == Reduction::none) {
              check_same(take(all[0], kept, 0).to_host<double>(), alone[0].to_host<double>());
              check_close(take(all[0], ignored, 0), {0, 0}, 0);
            } else {
              check_close(all[0], alone[0].to_host<double>(), dtype == f64 ? 1e-12 : 1e-6);
            }
            check_close(take(all[1], kept, 0), alone[1].to_host<double>(),
                        dtype == f64   ? 1e-12
                        : dtype == f32 ? 1e-6
                                       : 1e-2);
            check_close(take(all[1], ignored, 0), std::vector<double>(66, 0.0), 0);
          }
  });
}

TEST_CASE("smoothing, weights and targets that are all ignored") {
  at_each_level([&] {
    const Tensor logits = from_host<float>({2, 0, 0, 3}, {2, 2});
    CHECK(cross_entropy(logits, classes({0, -100}), {.label_smoothing = 0.2}).item<double>() ==
          doctest::Approx(0.3269280).epsilon(1e-6));
    const Tensor none = classes({-100, -100});
    CHECK(std::isnan(cross_entropy(logits, none).item<double>()));
    CHECK(cross_entropy(logits, none, {.reduction = Reduction::sum}).item<double>() == 0);
    const Variable x(logits);
    const Tensor total = cross_entropy(x, none, {.reduction = Reduction::sum});
    check_close(grad(total, std::vector<Variable>{x})[0], {0, 0, 0, 0}, 0);
    // The mean divides by no row, but the rows that count for nothing have gradient 0 all the same.
    const Tensor mean_of_none = cross_entropy(x, none);
    check_close(grad(mean_of_none, std::vector<Variable>{x})[0], {0, 0, 0, 0}, 0);
    const Tensor weight = from_host<float>({0.2f, 0.3f}, {2});
    CHECK(std::isnan(cross_entropy(logits, none, {.weight = weight}).item<double>()));
    CHECK(cross_entropy(logits, classes({0, -100}), {.weight = weight}).item<double>() ==
          doctest::Approx(0.1269280).epsilon(1e-6));
  });
}

TEST_CASE("a target that is no class is an error when the loss is read") {
  at_each_level([&] {
    const Tensor logits = sample({2, 2});
    for (const std::int64_t bad : {2, -1}) {
      const std::string message = usage_message([&] {
        cross_entropy(logits, classes({0, bad})).item<float>();
      });
      CHECK(message.find("cross_entropy") != std::string::npos);
      CHECK(message.find(std::to_string(bad)) != std::string::npos);
      CHECK(message.find("cross_entropy_test.cpp:") != std::string::npos);
    }
  });
}

TEST_CASE("cross_entropy is right for every dtype, weight and smoothing") {
  const Shape shape{7, 33};
  const std::vector<double> logits = sample_values(shape, 2);
  const std::vector<std::int64_t> targets{0, 32, -100, 5, 5, -100, 17};
  at_each_level([&] {
    for (const DType dtype : {f16, bf16, f32, f64}) {
      for (const bool weighted : {false, true}) {
        for (const double smoothing : {0.0, 0.1}) {
          std::vector<double> weight(33, 1.0);
          CrossEntropyOptions options{.label_smoothing = smoothing};
          if (weighted) {
            for (std::size_t j = 0; j < 33; ++j) weight[j] = 0.25 + static_cast<double>(j % 4) / 4;
            options.weight = cast(from_host(weight, {33}), dtype);
          }
          const Reference expected(logits, targets, weight, smoothing);
          const Tensor x = sample(shape, 2, dtype);
          const double tolerance = dtype == f64 ? 1e-13 : 2e-6;
          const Tensor mean = cross_entropy(x, classes(targets), options);
          CHECK(mean.dtype() == (dtype == f64 ? f64 : f32));
          check_close(mean, {expected.total / expected.weights}, tolerance);
          options.reduction = Reduction::sum;
          check_close(cross_entropy(x, cast(classes(targets), i32), options), {expected.total},
                      tolerance);
          options.reduction = Reduction::none;
          const Tensor each = cross_entropy(x, classes(targets), options);
          CHECK(each.shape() == Shape{7});
          check_close(sum(each), {expected.total}, tolerance);
          CHECK(each.to_host<double>()[2] == 0);
        }
      }
    }
  });
}

TEST_CASE("cross_entropy has one meaning on every path") {
  for (const std::int64_t width : {1, 3, 64, 300, 5000}) {
    const Shape shape{2, 5, width};
    const Tensor targets =
        reshape(classes({0, width - 1, -100, 0, width / 2, 0, -100, 0, 0, 0}), {2, 5});
    for (const DType dtype : {bf16, f16, f32, f64})
      for (const Reduction reduction : {Reduction::none, Reduction::mean, Reduction::sum})
        for (const double smoothing : {0.0, 0.1})
          for (const bool weighted : {false, true}) {
            CAPTURE(width);
            CAPTURE(to_string(dtype));
            CrossEntropyOptions options{.reduction = reduction, .label_smoothing = smoothing};
            if (weighted) options.weight = sample({width}, 8, dtype) + 2.5;
            const auto record = [&] {
              return loss_and_gradient(sample(shape, 6, dtype), targets, options);
            };
            // Each is a kernel to compile.
            const bool fused = dtype == f32 || (dtype == bf16 && !weighted);
            check_levels_agree(record, fused ? std::vector{Level::eager, Level::fused}
                                             : std::vector{Level::eager});
            check_parts(record());
          }
  }
}

TEST_CASE("the gradient of cross_entropy") {
  const Tensor targets = classes({2, -100, 0});
  const auto plain = [&](const auto& in) { return cross_entropy(in[0], targets); };
  const auto smooth = [&](const auto& in) {
    return cross_entropy(in[0], targets,
                         {.reduction = Reduction::sum,
                          .label_smoothing = 0.3,
                          .weight = from_host<double>({1, 2, 0.5}, {3})});
  };
  const auto each = [&](const auto& in) {
    return cross_entropy(in[0], targets, {.reduction = Reduction::none});
  };
  at_each_level([&] {
    check_gradient(plain, {{3, 3}});
    check_gradient(smooth, {{3, 3}});
    check_gradient(each, {{3, 3}});
  });
  check_second_gradient(plain, {{3, 3}});
  check_second_gradient(smooth, {{3, 3}});
  check_second_gradient(each, {{3, 3}});
}

TEST_CASE("the number of threads changes no bit of a loss") {
  std::vector<std::int64_t> targets;
  for (std::int64_t r = 0; r < 300; ++r) targets.push_back(r % 7 == 0 ? -100 : r % 100);
  const auto record = [&] { return loss_and_gradient(sample({300, 100}), classes(targets), {}); };
  check_threads_agree(record);
}

TEST_CASE("cross_entropy without rows") {
  at_each_level([&] {
    const Tensor logits = Tensor(parameter({0, 4})), targets = classes({});
    CHECK(std::isnan(cross_entropy(logits, targets).item<float>()));
    CHECK(cross_entropy(logits, targets, {.reduction = Reduction::none}).to_host<float>().empty());
    CHECK(vjp({cross_entropy(logits, targets)}, {full({}, 1.0)}, {logits})[0]
              .to_host<float>()
              .empty());
  });
}

TEST_CASE("cross_entropy refuses what has no meaning") {
  const Tensor logits = sample({2, 3}), targets = classes({0, 1});
  const auto message = [&](const Tensor& x, const Tensor& t, const CrossEntropyOptions& options) {
    return usage_message([&] { cross_entropy(x, t, options); });
  };
  CHECK(message(logits, classes({0}), {}).find("logits f32 [2, 3], targets i64 [1]") !=
        std::string::npos);
  CHECK(message(logits, cast(targets, f32), {}).find("i32 or i64") != std::string::npos);
  CHECK(message(cast(logits, i32), targets, {}).find("floating") != std::string::npos);
  CHECK(message(full({}, 1.0), targets, {}).find("[..., classes]") != std::string::npos);
  CHECK(message(sample({2, 0}), targets, {}).find("no classes") != std::string::npos);
  CHECK(message(logits, targets, {.label_smoothing = 1.5}).find("smoothing") != std::string::npos);
  CHECK(message(logits, targets, {.label_smoothing = not_a_number}).find("smoothing") !=
        std::string::npos);
  CHECK(message(logits, targets, {.weight = sample({2})}).find("weight") != std::string::npos);
  CHECK(message({}, targets, {}).find("not defined") != std::string::npos);
}

}  // namespace sinter::tests
