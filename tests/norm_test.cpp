#include <limits>

#include "runtime/cpu/pool.h"
#include "runtime/cpu/probe.h"
#include "tests/nn_checks.h"

namespace sinter::tests {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr DType floating_dtypes[] = {f16, bf16, f32, f64};

std::vector<double> softmax_reference(const std::vector<double>& x, std::size_t n, bool logarithm) {
  std::vector<double> y(x.size());
  for (std::size_t row = 0; row < x.size(); row += n) {
    double most = -infinity, total = 0;
    for (std::size_t i = row; i < row + n; ++i) most = std::max(most, x[i]);
    for (std::size_t i = row; i < row + n; ++i) total += std::exp(x[i] - most);
    for (std::size_t i = row; i < row + n; ++i)
      y[i] = logarithm ? x[i] - most - std::log(total) : std::exp(x[i] - most) / total;
  }
  return y;
}

std::vector<double> layer_norm_reference(const std::vector<double>& x, std::size_t n,
                                         double epsilon) {
  std::vector<double> y(x.size());
  for (std::size_t row = 0; row < x.size(); row += n) {
    double mean = 0, spread = 0;
    for (std::size_t i = row; i < row + n; ++i) mean += x[i] / static_cast<double>(n);
    for (std::size_t i = row; i < row + n; ++i)
      spread += (x[i] - mean) * (x[i] - mean) / static_cast<double>(n);
    for (std::size_t i = row; i < row + n; ++i) y[i] = (x[i] - mean) / std::sqrt(spread + epsilon);
  }
  return y;
}

/// softmax, layer_norm and so on with all their gradients.
std::vector<Tensor> everything(const Tensor& x, const Tensor& weight, const Tensor& bias,
                               std::int64_t axis) {
  std::vector<Tensor> all{softmax(x, axis), log_softmax(x, axis), layer_norm(x, weight, bias),
                          rms_norm(x, weight)};
  const std::vector<Tensor> inputs{x, weight, bias};
  for (std::size_t i = 0; i < 4; ++i) {
    const Tensor g = sample(x.shape(), 7, x.dtype());
    for (const Tensor& gradient : vjp({all[i]}, {g}, inputs))
      if (gradient.defined()) all.push_back(gradient);
  }
  return all;
}

}  // namespace

TEST_CASE("softmax and log_softmax are right on every axis and dtype") {
  at_each_level([&] {
    for (const std::int64_t n : {1, 5, 16, 65, 300, 5000}) {
      CAPTURE(n);
      const Shape shape{3, n};
      const std::vector<double> x = sample_values(shape, 4);
      for (const DType dtype : floating_dtypes) {
        CAPTURE(to_string(dtype));
        const double tolerance = dtype == f64 ? 1e-14 : dtype == f32 ? 2e-6 : 1e-2;
        const auto size = static_cast<std::size_t>(n);
        const Tensor rows = sample(shape, 4, dtype), columns = transpose(rows);
        check_close(softmax(rows), softmax_reference(x, size, false), tolerance);
        check_close(log_softmax(rows), softmax_reference(x, size, true), tolerance);
        check_close(transpose(softmax(columns, 0)), softmax_reference(x, size, false), tolerance);
        check_close(transpose(log_softmax(reshape(columns, {n, 3}), 0)),
                    softmax_reference(x, size, true), tolerance);
      }
    }
  });
}

TEST_CASE("softmax at infinities and NaN") {
  at_each_level([&] {
    check_close(log_softmax(from_host<float>({1000, 0}, {2})), {0, -1000}, 0);
    check_close(softmax(from_host(std::vector<double>{-infinity, 0, 0}, {3})), {0, 0.5, 0.5}, 0);
    check_close(log_softmax(from_host(std::vector<double>{-infinity, 0}, {2})), {-infinity, 0}, 0);
    check_close(softmax(from_host(std::vector<double>{-infinity, -infinity}, {2})),
                {not_a_number, not_a_number}, 0);
    check_close(softmax(cast(from_host(std::vector<double>{infinity, 1}, {2}), f32)),
                {not_a_number, not_a_number}, 0);
    check_close(softmax(cast(from_host(std::vector<double>{1, not_a_number, 2}, {3}), f32)),
                {not_a_number, not_a_number, not_a_number}, 0);
    check_close(softmax(full({512}, 3.0, bf16)), std::vector<double>(512, 1.0 / 512), 0);
  });
}

TEST_CASE("layer_norm keeps small differences of large values") {
  std::vector<double> row;
  for (int i = 0; i < 16; ++i) row.push_back(8192 + i / 1024.0);
  at_each_level([&] {
    const Tensor y = layer_norm(cast(from_host(row, {16}), f32), ones({16}), zeros({16}));
    CHECK(y.to_host<double>()[0] == doctest::Approx(-1.331333).epsilon(1e-4));
    CHECK(y.to_host<double>()[15] == doctest::Approx(1.331333).epsilon(1e-4));
    for (const DType dtype : floating_dtypes)
      for (const std::int64_t n : {1, 7, 33, 256}) {
        CAPTURE(to_string(dtype));
        const Tensor constant = full({3, n}, dtype == f16 ? 6e4 : 1e6, dtype);
        const Tensor of_constant = layer_norm(constant);
        const Tensor g = vjp({of_constant}, {sample({3, n}, 2, dtype)}, {constant})[0];
        check_close(of_constant, std::vector<double>(static_cast<std::size_t>(3 * n), 0.0), 0);
        CHECK(all(isfinite(g)).item<bool>());
      }
    const Tensor far = cast(from_host(row, {16}), f64);
    const std::vector<double> expected = layer_norm_reference(row, 16, 1e-5);
    check_close(layer_norm(far), expected, 1e-9);
    check_close(
        transpose(layer_norm(stack({far, far + 1e6}))),
        [&] {
          std::vector<double> both;
          for (const double each : expected) both.insert(both.end(), 2, each);
          return both;
        }(),
        1e-6);
  });
}

TEST_CASE("norms are right for every dtype and trailing shape") {
  at_each_level([&] {
    for (const std::int64_t n : {2, 17, 64, 5000}) {
      const Shape shape{3, n};
      const std::vector<double> expected =
          layer_norm_reference(sample_values(shape, 5), static_cast<std::size_t>(n), 1e-5);
      for (const DType dtype : floating_dtypes)
        check_close(layer_norm(sample(shape, 5, dtype)), expected,
                    dtype == f64   ? 1e-12
                    : dtype == f32 ? 1e-5
                                   : 2e-2);
    }
    // 16-bit rows with f32 parameters over two trailing axes.
    const Tensor x = sample({4, 3, 5}, 6, bf16), weight = sample({3, 5}, 7),
                 bias = sample({3, 5}, 8);
    const Tensor exact =
        layer_norm(reshape(cast(x, f64), {4, 15})) * cast(reshape(weight, {15}), f64) +
        cast(reshape(bias, {15}), f64);
    check_close(layer_norm(x, weight, bias), exact.to_host<double>(), 2e-2);
    CHECK(layer_norm(x, weight, bias).dtype() == bf16);
    check_close(rms_norm(from_host<float>({3, 4}, {2}), {}, 0),
                {3 / std::sqrt(12.5), 4 / std::sqrt(12.5)}, 1e-6);
  });
}

TEST_CASE("softmax and norms have one meaning on every path") {
  for (const Shape& shape :
       {Shape{5, 7}, Shape{70, 33}, Shape{3, 64}, Shape{2, 4200}, Shape{130, 1}, Shape{4, 5, 6}}) {
    CAPTURE(to_string(shape));
    for (const DType dtype : floating_dtypes) {
      CAPTURE(to_string(dtype));
      const Shape row{shape.back()};
      const auto record = [&] {
        return everything(sample(shape, 1, dtype), sample(row, 2, dtype), sample(row, 3, dtype),
                          -1);
      };
      check_levels_agree(record);
      check_parts(record());
      const auto first_axis = [&] {
        return everything(sample(shape, 1, dtype), sample(row, 2, dtype), sample(row, 3, dtype), 0);
      };
      check_levels_agree(first_axis);
      check_parts(first_axis());
    }
  }
}

TEST_CASE("norms of strided and broadcast operands") {
  check_levels_agree([] {
    const Tensor x = transpose(sample({33, 20}));
    const Tensor g = expand(sample({1, 33}, 9), {20, 33});
    const Tensor weight = slice(sample({66}, 3), 0, 0, 66, 2);
    std::vector<Tensor> all{layer_norm(x, weight), softmax(x)};
    for (const Tensor& y : {all[0], all[1]}) all.push_back(vjp({y}, {g}, {x})[0]);
    return all;
  });
}

TEST_CASE("the number of threads changes no bit of a norm or softmax") {
  const auto record = [] {
    return everything(sample({300, 96}), sample({96}, 2), sample({96}, 3), -1);
  };
  check_threads_agree(record);
}

TEST_CASE("no instruction set changes a bit of a norm or softmax") {
  const auto record = [] {
    return everything(sample({70, 37}), sample({37}, 2), sample({37}, 3), -1);
  };
  const cpu::InstructionSet before = cpu::instruction_set();
  cpu::set_instruction_set(cpu::InstructionSet::portable);
  const auto portable = evaluated(record, Level::eager);
  for (const auto set : {cpu::InstructionSet::avx2, cpu::InstructionSet::avx512}) {
    if (set > cpu::processor().best) continue;
    cpu::set_instruction_set(set);
    const auto wide = evaluated(record, Level::eager);
    for (std::size_t i = 0; i < wide.size(); ++i) check_same(portable[i], wide[i]);
  }
  cpu::set_instruction_set(before);
}

TEST_CASE("gradients of softmax and norms") {
  const std::vector<Shape> three{{3, 4}, {4}, {4}};
  const auto plain = [](const auto& in) { return softmax(in[0], 0); };
  const auto logarithm = [](const auto& in) { return log_softmax(in[0]); };
  const auto layer = [](const auto& in) { return layer_norm(in[0], in[1], in[2]); };
  const auto rms = [](const auto& in) { return rms_norm(in[0], in[1]); };
  at_each_level([&] {
    check_gradient(plain, {{3, 4}});
    check_gradient(logarithm, {{3, 4}});
    check_gradient(layer, three);
    check_gradient(rms, {{3, 4}, {4}});
  });
  check_second_gradient(plain, {{2, 3}});
  check_second_gradient(logarithm, {{2, 3}});
  check_second_gradient([](const auto& in) { return layer_norm(in[0], in[1]); }, {{2, 4}, {4}});
  check_second_gradient(rms, {{2, 4}, {4}});
}

TEST_CASE("norms and softmax of nothing") {
  at_each_level([&] {
    for (const Shape& shape : {Shape{0, 4}, Shape{3, 0}}) {
      const Tensor x = Tensor(parameter(shape)), weight = Tensor(parameter({shape.back()}, 2));
      CHECK(softmax(x).to_host<float>().empty());
      CHECK(layer_norm(x, weight).to_host<float>().empty());
      const auto gradients = vjp({layer_norm(x, weight)}, {zeros(shape)}, {x, weight});
      check_close(gradients[1], std::vector<double>(static_cast<std::size_t>(shape.back()), 0.0),
                  0);
    }
  });
}

TEST_CASE("norms and softmax refuse what has no meaning") {
  const Tensor x = sample({2, 3});
  CHECK(usage_message([&] { softmax(x, 2); }).starts_with("softmax: axis 2 is out of range"));
  CHECK(usage_message([&] {
          log_softmax(cast(x, i32));
        }).starts_with("log_softmax: takes a floating"));
  CHECK(usage_message([&] { softmax(Tensor()); }).find("not defined") != std::string::npos);
  CHECK(usage_message([&] { softmax(full({}, 1.0)); }).starts_with("softmax: axis"));
  CHECK(usage_message([&] { layer_norm(x, sample({2})); }).find("f32 [2] for f32 [2, 3]") !=
        std::string::npos);
  CHECK(usage_message([&] { layer_norm(x, sample({3}, 1, f64)); }).find("compute type") !=
        std::string::npos);
  CHECK(usage_message([&] { layer_norm(x, {}, {}, -1.0); }).find("epsilon") != std::string::npos);
  CHECK(usage_message([&] { rms_norm(full({}, 1.0)); }).find("norm_test.cpp:") !=
        std::string::npos);
}

}  // namespace sinter::tests
