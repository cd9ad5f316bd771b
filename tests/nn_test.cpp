#include "runtime/autocast.h"
#include "tests/nn_checks.h"

namespace sinter::tests {
namespace {

std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b,
                            std::size_t m, std::size_t k, std::size_t n) {
  std::vector<double> c(m * n, 0.0);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t l = 0; l < k; ++l) c[i * n + j] += a[i * k + l] * b[l * n + j];
  return c;
}

}  // namespace

TEST_CASE("matrix products of operands whose axes interleave in memory") {
  at_each_level([] {
    for (const DType dtype : {bf16, f16, f32, f64}) {
      CAPTURE(to_string(dtype));
      const Tensor x = reshape(cast(arange(138) % 7, dtype), {23, 3, 2}).evaluate();
      const Tensor a = permute(slice(x, 1, 0, 3, 2), {1, 2, 0});
      const Tensor b = ones({23, 6}, dtype);
      const Tensor expected = matmul(cast(a, f64), ones({23, 6}, f64));
      CHECK(matmul(a, b).to_host<double>() == expected.to_host<double>());
      CHECK(linear(a, ones({6, 23}, dtype)).to_host<double>() == expected.to_host<double>());
      CHECK(matmul(ones({6, 2}, dtype), a).shape() == Shape{2, 6, 23});
      matmul(ones({6, 2}, dtype), a).evaluate();
    }
  });
}

TEST_CASE("matmul of vectors, matrices and stacks") {
  at_each_level([&] {
    for (const DType dtype : {f16, bf16, f32, f64}) {
      const double tolerance = dtype == f64 ? 1e-13 : dtype == f32 ? 1e-6 : 1e-2;
      const std::vector<double> a = sample_values({5, 7}, 1), b = sample_values({7, 3}, 2);
      const Tensor x = sample({5, 7}, 1, dtype), y = sample({7, 3}, 2, dtype);
      check_close(matmul(x, y), product(a, b, 5, 7, 3), tolerance);
      CHECK(matmul(x, y).dtype() == dtype);
      check_close(matmul(select(x, 0, 0), y), product({a.begin(), a.begin() + 7}, b, 1, 7, 3),
                  tolerance);
      CHECK(matmul(select(x, 0, 0), y).shape() == Shape{3});
      CHECK(matmul(x, select(y, 1, 0)).shape() == Shape{5});
      CHECK(matmul(select(x, 0, 0), select(y, 1, 0)).shape() == Shape{});
      const Tensor stack = expand(unsqueeze(x, 0), {2, 5, 7});
      CHECK(matmul(stack, reshape(y, {1, 1, 7, 3})).shape() == Shape{1, 2, 5, 3});
      check_close(select(matmul(stack, y), 0, 1), product(a, b, 5, 7, 3), tolerance);
    }
    check_close(matmul(from_host<int>({1, 2}, {1, 2}), from_host<int>({3, 4}, {2, 1})), {11}, 0);
    check_close(matmul(sample({2, 0}), sample({0, 2})), {0, 0, 0, 0}, 0);
    CHECK(matmul(sample({0, 2}), sample({2, 3})).to_host<float>().empty());
    CHECK(matmul(sample({2, 2}), sample({2, 2}, 1, f64)).dtype() == f64);
  });
}

TEST_CASE("linear rounds once") {
  at_each_level([&] {
    const Tensor x = cast(from_host<float>({1, 256}, {1, 2}), bf16);
    const Tensor ones_row = ones({1, 2}, bf16), one = ones({1}, bf16);
    CHECK(linear(x, ones_row, one).item<float>() == 258);
    CHECK(linear(x, ones_row, one, Activation::relu).item<float>() == 258);
    for (const auto activation : {Activation::gelu, Activation::gelu_tanh, Activation::silu})
      CHECK(linear(x, ones_row, one, activation).item<float>() == 258);
    CHECK(linear(x, ones_row, {}, Activation::none, ones({1, 1}, bf16)).item<float>() == 258);
    // Sums of many terms, for one row and for many, that are halfway before the bias is added.
    for (const auto& [dtype, count, more] :
         {std::tuple(bf16, 257, 1), {bf16, 4112, 16}, {f16, 2049, 1}, {f16, 16392, 8}})
      for (const std::int64_t rows : {1, 20})
        for (const std::int64_t columns : {1, 18}) {
          CAPTURE(count);
          const Tensor in = ones({rows, count}, dtype), weight = ones({columns, count}, dtype);
          const Tensor bias = full({columns}, more, dtype), residual = full({rows, 1}, more, dtype);
          const auto size = static_cast<std::size_t>(rows * columns);
          const std::vector<double> expected(size, count + more);
          for (const auto activation : {Activation::none, Activation::relu, Activation::silu})
            check_close(linear(in, weight, bias, activation), expected, 0);
          check_close(linear(in, weight, {}, Activation::none, expand(residual, {rows, columns})),
                      expected, 0);
        }
  });
}

TEST_CASE("linear is its parts") {
  for (const DType dtype : {f16, bf16, f32, f64}) {
    const double tolerance = dtype == f64 ? 1e-13 : dtype == f32 ? 2e-6 : 1e-2;
    for (const Activation activation : {Activation::none, Activation::relu, Activation::gelu,
                                        Activation::gelu_tanh, Activation::silu}) {
      const Tensor x = sample({2, 5, 19}, 1, dtype) * 0.25, weight = sample({6, 19}, 2, dtype);
      const Tensor bias = sample({6}, 3, dtype), residual = sample({2, 5, 6}, 4, dtype);
      check_parts({linear(x, weight)}, tolerance);
      check_parts({linear(x, weight, bias, activation)}, tolerance);
      check_parts({linear(x, weight, {}, activation, residual)}, tolerance);
      check_parts({linear(x, weight, bias, activation, residual)}, tolerance);
      check_parts({linear(select(select(x, 0, 0), 0, 0), weight, bias, activation)}, tolerance);
      const auto meaning =
          evaluated([&] { return std::vector{linear(x, weight, bias, activation, residual)}; },
                    Level::interpret);
      const AtLevel here(Level::eager);
      check_close(linear(x, weight, bias, activation, residual), meaning[0], tolerance);
    }
  }
}

TEST_CASE("gradients of matmul and linear") {
  const std::vector<std::vector<Shape>> operands{{{2, 3}, {3, 2}},
                                                 {{3}, {3, 2}},
                                                 {{2, 3}, {3}},
                                                 {{3}, {3}},
                                                 {{2, 2, 3}, {3, 2}},
                                                 {{2, 3}, {2, 3, 2}},
                                                 {{2, 1, 2, 3}, {2, 3, 1}}};
  const auto multiply = [](const auto& in) { return matmul(in[0], in[1]); };
  for (const auto& shapes : operands) check_gradient(multiply, shapes);
  check_second_gradient(multiply, operands[0]);
  for (const Activation activation : {Activation::none, Activation::relu, Activation::gelu,
                                      Activation::gelu_tanh, Activation::silu}) {
    const auto all = [&](const auto& in) { return linear(in[0], in[1], in[2], activation, in[3]); };
    check_gradient(all, {{2, 2, 3}, {2, 3}, {2}, {2, 2, 2}});
    check_gradient(all, {{3}, {2, 3}, {2}, {2}});
  }
  check_second_gradient(
      [](const auto& in) { return linear(in[0], in[1], in[2], Activation::silu); },
      {{2, 3}, {2, 3}, {2}});
}

TEST_CASE("the gradient of a weight is laid as the weight is") {
  at_each_level([] {
    Generator generator(1);
    const Tensor x = normal({5, 3}, generator), g = normal({5, 4}, generator);
    const Tensor w = normal({4, 3}, generator), turned = transpose(w).evaluate();
    const Tensor of_w = vjp({linear(x, w)}, {g}, {w})[0].evaluate();
    const Tensor of_turned = vjp({linear(x, transpose(turned))}, {g}, {turned})[0].evaluate();
    for (const Tensor& gradient : {of_w, of_turned})
      CHECK(is_contiguous(gradient.shape(), gradient.node()->value().strides));
    CHECK(of_turned.to_host<float>() == transpose(of_w).to_host<float>());
  });
}

TEST_CASE("conv2d_patches is a convolution with the stride of its kernel") {
  const Shape image{2, 3, 4, 6}, kernel{5, 3, 2, 3};
  const std::vector<double> x = sample_values(image, 1), w = sample_values(kernel, 2),
                            b = sample_values({5}, 3);
  std::vector<double> expected;
  for (std::size_t n = 0; n < 2; ++n)
    for (std::size_t o = 0; o < 5; ++o)
      for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 2; ++j) {
          double total = b[o];
          for (std::size_t c = 0; c < 3; ++c)
            for (std::size_t p = 0; p < 2; ++p)
              for (std::size_t q = 0; q < 3; ++q)
                total += x[((n * 3 + c) * 4 + i * 2 + p) * 6 + j * 3 + q] *
                         w[((o * 3 + c) * 2 + p) * 3 + q];
          expected.push_back(total);
        }
  at_each_level([&] {
    const Tensor y = conv2d_patches(sample(image, 1), sample(kernel, 2), sample({5}, 3));
    CHECK(y.shape() == Shape{2, 5, 2, 2});
    check_close(y, expected, 1e-6);
  });
  check_gradient([](const auto& in) { return conv2d_patches(in[0], in[1], in[2]); },
                 {{1, 2, 2, 4}, {3, 2, 1, 2}, {3}});
}

TEST_CASE("dropout keeps the share it says, and the same elements each time") {
  for (const DType dtype : {f16, bf16, f32, f64}) {
    const auto record = [&] {
      Generator generator(7);
      const Tensor x = sample({300, 7}, 1, dtype);
      const Tensor y = dropout(x, 0.25, generator), z = dropout(x, 0.25, generator);
      return std::vector<Tensor>{y, z, dropout(transpose(x), 0.5, generator),
                                 vjp({y}, {ones(y.shape(), dtype)}, {x})[0]};
    };
    check_levels_agree(record);
    check_parts(record());
  }
  Generator generator(1);
  const Variable x(ones({200, 500}));
  const Tensor y = dropout(x, 0.1, generator);
  const Tensor gradient = grad(sum(y), std::vector<Variable>{x})[0];
  const std::vector<double> values = y.to_host<double>();
  check_same(values, gradient.to_host<double>());
  double kept = 0;
  for (const double value : values) {
    CHECK((value == 0 || value == static_cast<double>(static_cast<float>(1 / 0.9))));
    kept += value != 0;
  }
  CHECK(std::abs(kept / 1e5 - 0.9) < 0.004);
  const auto again = dropout(x, 0.1, generator).to_host<double>();
  CHECK(again != values);
  check_close(dropout(full({3}, std::nan("")), 1, generator), {0, 0, 0}, 0);
  check_close(dropout(from_host<float>({1, 2}, {2}), 0, generator), {1, 2}, 0);
  CHECK(dropout(sample({0, 3}), 0.5, generator).to_host<float>().empty());
}

TEST_CASE("the number of threads changes no bit of a product or of dropout") {
  const auto record = [] {
    Generator generator(3);
    const Tensor x = sample({3, 130, 48}), weight = sample({70, 48}, 2);
    return std::vector<Tensor>{linear(x, weight, sample({70}, 3)),
                               matmul(transpose(reshape(x, {390, 48})), reshape(x, {390, 48})),
                               dropout(sample({200, 200}), 0.5, generator)};
  };
  check_threads_agree(record);
}

TEST_CASE("autocast runs products in 16 bits and leaves gradients as they are") {
  const Variable weight = parameter({4, 3}, 1), bias = parameter({4}, 2);
  Tensor y, loss, wide;
  {
    const Autocast autocast(bf16);
    y = linear(sample({2, 3}), weight, bias);
    wide = linear(sample({2, 3}), weight, bias, Activation::none, sample({2, 4}));
    loss = cross_entropy(y, from_host<int>({0, 1}, {2}));
    CHECK(matmul(sample({2, 3}), sample({3, 2})).dtype() == bf16);
    CHECK(matmul(sample({2, 3}, 1, f64), sample({3, 2}, 1, f64)).dtype() == f64);
    const Tensor product = matmul(sample({2, 3}, 1, f64), sample({3, 2}, 1, f64));
    CHECK(product.dtype() == f64);
    const auto gradients = grad(loss, std::vector<Variable>{weight, bias});
    CHECK(gradients[0].dtype() == f32);
    CHECK(gradients[1].dtype() == f32);
  }
  CHECK(y.dtype() == bf16);
  CHECK(wide.dtype() == f32);
  CHECK(loss.dtype() == f32);

  // A product recorded before keeps its dtype in the gradient that is recorded inside.
  const Variable x = parameter({2, 2}, 5);
  const Tensor exact = sum(matmul(x, full({2, 2}, 1 + 0x1p-12)));
  const Autocast autocast(bf16);
  const Tensor gradient = grad(exact, std::vector<Variable>{x})[0];
  CHECK(gradient.to_host<double>()[0] == 2 + 0x1p-11);
}

TEST_CASE("products and dropout refuse what has no meaning") {
  const Tensor a = sample({8, 32}), weight = sample({4, 32});
  CHECK(usage_message([&] {
          matmul(a, sample({16, 4}));
        }).starts_with("matmul: inner sizes differ: f32 [8, 32] x f32 [16, 4] (nn_test.cpp:"));
  CHECK(usage_message([&] {
          matmul(full({}, 1.0), a);
        }).starts_with("matmul: operands need an axis"));
  CHECK(usage_message([&] {
          matmul(sample({2, 3, 4}), sample({3, 4, 2}));
        }).find("leading axes") != std::string::npos);
  CHECK(usage_message([&] { matmul(a, Tensor()); }).find("not defined") != std::string::npos);
  const Tensor truth = full({2, 2}, 1, boolean);
  CHECK(usage_message([&] { matmul(truth, truth); }).find("bool") != std::string::npos);
  CHECK(usage_message([&] { linear(a, sample({4, 31})); }).find("last size") != std::string::npos);
  CHECK(usage_message([&] { linear(a, sample({32})); }).find("[out, in]") != std::string::npos);
  CHECK(usage_message([&] { linear(a, weight, sample({5})); }).find("bias") != std::string::npos);
  CHECK(usage_message([&] { linear(a, weight, {}, Activation::none, a); }).find("residual") !=
        std::string::npos);
  CHECK(usage_message([&] { linear(cast(a, i32), weight); }).find("floating") != std::string::npos);
  CHECK(usage_message([&] {
          conv2d_patches(sample({1, 3, 5, 4}), sample({2, 3, 2, 2}));
        }).find("whole number of patches") != std::string::npos);
  CHECK(usage_message([&] {
          conv2d_patches(sample({1, 2, 4, 4}), sample({2, 3, 2, 2}));
        }).find("channels") != std::string::npos);
  CHECK(usage_message([&] { dropout(a, 1.5); }).find("not in [0, 1]") != std::string::npos);
  CHECK(usage_message([&] { dropout(cast(a, i64), 0.5); }).find("floating") != std::string::npos);
}

}  // namespace sinter::tests
