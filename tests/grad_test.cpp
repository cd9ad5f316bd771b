// Differentiation: what can be asked for, what is kept and let go, and derivatives at odd places.
// (Each op's derivative is compared with finite differences by op_test.cpp.)

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

#include "tests/each_level.h"

namespace sinter::tests {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// d sum(f(x)) / dx.
template <typename F>
Floats derivative(F&& f, const Floats& x) {
  const Tensor at = floats(x);
  const Tensor g = grad(sum(f(at)), std::vector<Tensor>{at})[0];
  return g.defined() ? g.to_host<float>() : Floats{};
}

}  // namespace

TEST_CASE("gradients meet where paths meet, and broadcasting is undone") {
  at_each_level([] {
    const Tensor x = reshape(arange(6, f32), {2, 3}), b = floats({1, 2, 3}), s = full({}, 2);
    const Tensor loss = sum((x + b) * s * x);
    const auto g = grad(loss, std::vector<Tensor>{x, b, s});
    CHECK(g[0].to_host<float>() == Floats{2, 8, 14, 14, 20, 26});
    CHECK(g[1].to_host<float>() == Floats{6, 10, 14});
    CHECK(g[2].item<float>() == 89);
  });
}

TEST_CASE("what does not depend has no gradient, bool and integers pass none") {
  const Tensor x = ones({2}), unused = ones({2});
  const auto g = grad(sum(x * 2), std::vector<Tensor>{x, unused});
  CHECK(g[0].defined());
  CHECK_FALSE(g[1].defined());
  const Tensor chain = sum(cast(cast(x, i32), f32));
  CHECK_FALSE(grad(chain, std::vector<Tensor>{x})[0].defined());
}

TEST_CASE("no_grad and detach cut, enable_grad mends") {
  at_each_level([] {
    const Variable w(floats({3}), "w");
    const auto of = [&](const Tensor& y) { return grad(sum(y), std::vector<Variable>{w})[0]; };
    CHECK(of(w * detach(w.value())).to_host<float>() == Floats{3});
    Tensor cut, mended;
    {
      const NoGrad off;
      cut = w * 5;
      const EnableGrad on;
      mended = w * 7;
    }
    CHECK_FALSE(cut.requires_grad());
    CHECK(of(cut + w).to_host<float>() == Floats{1});
    CHECK(of(mended).to_host<float>() == Floats{7});
  });
}

TEST_CASE("second and third derivatives") {
  at_each_level([] {
    const Tensor x = floats({2, -1});
    const GradOptions again{.create_graph = true};
    const Tensor first = grad(sum(x * x * x * x), std::vector<Tensor>{x}, again)[0];
    const Tensor second = grad(sum(first), std::vector<Tensor>{x}, again)[0];
    const Tensor third = grad(sum(second), std::vector<Tensor>{x})[0];
    CHECK(first.to_host<float>() == Floats{32, -4});
    CHECK(second.to_host<float>() == Floats{48, 12});
    CHECK(third.to_host<float>() == Floats{48, -24});
  });
}

TEST_CASE("a composite is differentiated twice through its decomposition") {
  at_each_level([] {
    // softmax of two: s' = s (1 - s), s'' = s (1 - s)(1 - 2 s).
    const Tensor x = from_host(std::vector<double>{0.3, -0.4}, {2});
    const Tensor first =
        grad(select(softmax(x), 0, 0), std::vector<Tensor>{x}, {.create_graph = true})[0];
    const Tensor second = grad(select(first, 0, 0), std::vector<Tensor>{x})[0];
    const double s = 1 / (1 + std::exp(-0.7));
    CHECK(first.to_host<double>()[0] == doctest::Approx(s * (1 - s)));
    CHECK(second.to_host<double>()[0] == doctest::Approx(s * (1 - s) * (1 - 2 * s)));
    CHECK(second.to_host<double>()[1] == doctest::Approx(-s * (1 - s) * (1 - 2 * s)));
  });
}

TEST_CASE("a gradient can be taken after the loss was read") {
  at_each_level([] {
    const Variable w(floats({2, 3}), "w");
    const Tensor loss = sum(square(w.value()) * 0.5);
    CHECK(loss.item<float>() == 6.5f);
    CHECK(grad(loss, std::vector<Variable>{w})[0].to_host<float>() == Floats{2, 3});
  });
}

TEST_CASE("the saved value is the one of the time, whatever happens to the name") {
  at_each_level([] {
    Tensor x = from_host(Floats{1, 2}, {1, 2});
    const Variable w(ones({2, 1}), "w");
    const Tensor y = sum(matmul(x, w));
    x *= 2;
    w.set(w * 100);
    CHECK(x.to_host<float>() == Floats{2, 4});
    const Tensor g = grad(y, std::vector<Tensor>{w.value()})[0];
    CHECK_FALSE(g.defined());  // the cell's value now is not the one y was made of
  });
  at_each_level([] {
    Tensor x = from_host(Floats{1, 2}, {1, 2});
    const Variable w(ones({2, 1}), "w");
    const Tensor y = sum(matmul(x, w));
    const Tensor old = w.value();
    x *= 2;
    CHECK(grad(y, std::vector<Tensor>{old})[0].to_host<float>() == Floats{1, 2});
  });
}

TEST_CASE("a way that was cut is an error with the place, not a missing gradient") {
  const Tensor x = ones({2});
  const Tensor y = exp(x);
  y.evaluate();
  const std::string message = usage_message([&] { grad(sum(y * 2), std::vector<Tensor>{x}); });
  CHECK(contains(message, "exp"));
  CHECK(contains(message, "grad_test.cpp"));
  CHECK(contains(message, "Variable"));
}

TEST_CASE("a gradient that was refused may be asked for again after a read") {
  at_each_level([] {
    const Variable w(floats({1, 2}), "w");
    const Tensor x = floats({3, 4});
    const Tensor cut = exp(x);
    cut.evaluate();
    const Tensor loss = sum(w * w * cut);
    CHECK_FALSE(usage_message([&] { grad(loss, std::vector<Tensor>{w.value(), x}); }).empty());
    loss.evaluate();
    const Tensor g = grad(loss, std::vector<Variable>{w})[0];
    CHECK(g.to_host<float>()[1] == doctest::Approx(4 * std::exp(4.0)));

    // So it is when a rule of the user's has failed.
    bool refuses = true;
    const Tensor y = custom_gradient(
        [](const std::vector<Tensor>& in) { return in[0] * 1; },
        [&](const std::vector<Tensor>&, const Tensor&, const Tensor& g_y) -> std::vector<Tensor> {
          if (refuses) throw std::runtime_error("not yet");
          return {g_y * 5};
        },
        {w * 2});
    const Tensor own_loss = sum(y);
    CHECK_THROWS_AS(grad(own_loss, std::vector<Variable>{w}), std::runtime_error);
    own_loss.evaluate();
    refuses = false;
    CHECK(grad(own_loss, std::vector<Variable>{w})[0].to_host<float>() == Floats{10, 10});
  });
}

TEST_CASE("a value that a gradient still needs is not overwritten by a read inside of it") {
  at_each_level([] {
    const Variable w(floats({1, 2}), "w", false);
    w.value().evaluate();
    const Tensor x = floats({3, 4}), other = floats({1}) + 1;
    const auto fixed = [&] {  // the walk holds it, but nothing below it
      const NoGrad no_grad;
      return w * 2;
    };
    const Tensor y =
        custom_gradient([](const std::vector<Tensor>& in) { return in[0] * 1; },
                        [&](const std::vector<Tensor>&, const Tensor&, const Tensor& g) {
                          other.evaluate();
                          return std::vector<Tensor>{g * 1};
                        },
                        {x * fixed()});
    const Tensor loss = sum(y);
    w.set(w * 10);
    const Tensor g = grad(loss, std::vector<Tensor>{x})[0];
    CHECK(g.to_host<float>() == Floats{2, 4});
    CHECK(w.value().to_host<float>() == Floats{10, 20});
  });
}

TEST_CASE("a gradient is taken while another thread evaluates what it passes through") {
  at_each_level([] {
    int whole = 0, cut = 0;
    for (int round = 0; round < 100; ++round) {
      const Tensor x = reshape(arange(6, f32), {2, 3}), scale = ones({3}), shift = zeros({3});
      const Tensor y = layer_norm(x, scale, shift);
      const Tensor first =
          grad(sum(y * y), std::vector<Tensor>{x}, GradOptions{.create_graph = true})[0];
      std::atomic<bool> begun{false};
      std::thread reader([&] {
        begun = true;
        first.evaluate();
      });
      while (!begun) {
      }
      try {
        grad(sum(first * first), std::vector<Tensor>{x})[0].evaluate();
        ++whole;
      } catch (const UsageError& error) {  // evaluated before
        CHECK(contains(error.what(), "cut"));
        ++cut;
      }
      reader.join();
    }
    CHECK(whole + cut == 100);
  });
}

TEST_CASE("a second gradient through one taken without create_graph is an error") {
  const Tensor x = floats({2, 3});
  const Tensor first = grad(sum(x * x * x), std::vector<Tensor>{x})[0];
  const std::string message = usage_message([&] {
    grad(sum(first * x), std::vector<Tensor>{ones({2}), x});
  });
  CHECK(message.empty());  // x is reached beside the gradient, and the other tensor by nothing
  const std::string cut = usage_message([&] { grad(sum(first), std::vector<Tensor>{x}); });
  CHECK(contains(cut, "create_graph"));
  CHECK(contains(cut, "the gradient of add (grad_test.cpp:"));
}

TEST_CASE("the loss is one floating number") {
  const Tensor x = ones({2});
  CHECK(contains(usage_message([&] { grad(x * 2, std::vector<Tensor>{x}); }), "f32 [2]"));
  CHECK(contains(usage_message([&] { grad(sum(cast(x, i64)), std::vector<Tensor>{x}); }), "i64"));
  CHECK(contains(usage_message([&] { grad({}, std::vector<Tensor>{x}); }), "not defined"));
}

TEST_CASE("gradients of slices that lie side by side are put together, others among zeros") {
  at_each_level([] {
    const Tensor x = floats({1, 2, 3, 4, 5, 6}), w = floats({10, 20});
    const auto piece = [&](std::int64_t start, std::int64_t length) {
      return narrow(x, 0, start, length);
    };
    const auto gradient = [&](const Tensor& loss) { return grad(loss, std::vector<Tensor>{x})[0]; };
    // In any order of recording; the product of two of them needs both values.
    const Tensor whole = gradient(sum(piece(2, 2) * w * piece(0, 2)) + sum(piece(4, 2) * 3));
    CHECK(whole.node()->op == Op::concatenate);
    CHECK(whole.to_host<float>() == Floats{30, 80, 10, 40, 3, 3});
    const Tensor gap = gradient(sum(piece(0, 2) * 2) + sum(piece(4, 2) * 3));
    CHECK(gap.to_host<float>() == Floats{2, 2, 0, 0, 3, 3});
    const Tensor overlap = gradient(sum(piece(0, 4) * 2) + sum(piece(2, 4) * 3));
    CHECK(overlap.to_host<float>() == Floats{2, 2, 5, 5, 3, 3});
    const Tensor with_step = gradient(sum(slice(x, 0, 0, 6, 2) * 2) + sum(slice(x, 0, 1, 6, 2)));
    CHECK(with_step.to_host<float>() == Floats{2, 1, 2, 1, 2, 1});
    const Tensor beside = gradient(sum(piece(0, 3) * 2) + sum(piece(3, 3)) + sum(x * 10));
    CHECK(beside.to_host<float>() == Floats{12, 12, 12, 11, 11, 11});
    const Tensor twice = gradient(sum(piece(0, 6)) + sum(piece(0, 3)) + sum(piece(0, 3)));
    CHECK(twice.to_host<float>() == Floats{3, 3, 3, 1, 1, 1});
    const Tensor square = reshape(x, {2, 3});
    const Tensor other_axes =
        gradient(sum(narrow(square, 0, 0, 1) * 2) + sum(narrow(square, 1, 0, 1)));
    CHECK(other_axes.to_host<float>() == Floats{3, 2, 2, 1, 0, 0});
  });
}

TEST_CASE("second derivatives go through gradients of slices") {
  const Tensor x = floats({2, 3, 5, 7});
  const Tensor loss = sum(square(narrow(x, 0, 0, 2)) * narrow(x, 0, 2, 2));
  const Tensor first = grad(loss, std::vector<Tensor>{x}, {.create_graph = true})[0];
  CHECK(grad(sum(first), std::vector<Tensor>{x})[0].to_host<float>() == Floats{14, 20, 4, 6});
}

TEST_CASE("custom_gradient") {
  at_each_level([] {
    const Tensor x = floats({1, 2});
    const auto clip = [&](const Tensor& a) {
      return custom_gradient(
          [](const std::vector<Tensor>& in) { return in[0] * 3; },
          [](const std::vector<Tensor>& in, const Tensor& result, const Tensor& g) {
            return std::vector<Tensor>{g * 100 + result * 0 + in[0]};
          },
          {a});
    };
    CHECK(clip(x).to_host<float>() == Floats{3, 6});
    CHECK(grad(sum(clip(x) * 2), std::vector<Tensor>{x})[0].to_host<float>() == Floats{201, 202});
    const auto wrong = [&] {
      const Tensor y = custom_gradient([](const std::vector<Tensor>& in) { return in[0] * 3; },
                                       [](const std::vector<Tensor>&, const Tensor&,
                                          const Tensor&) { return std::vector<Tensor>{ones({7})}; },
                                       {x});
      grad(sum(y), std::vector<Tensor>{x});
    };
    CHECK(contains(usage_message(wrong), "[7]"));
  });
}

TEST_CASE("gradients at ties") {
  at_each_level([] {
    CHECK(derivative([](const Tensor& x) { return amax(x); }, {1, 3, 3}) == Floats{0, 0.5f, 0.5f});
    CHECK(derivative([](const Tensor& x) { return relu(x); }, {0}) == Floats{0});
    CHECK(derivative([](const Tensor& x) { return clamp(x, 0, 6); }, {-1, 0, 3, 6, 7}) ==
          Floats{0, 1, 1, 1, 0});
    CHECK(derivative([](const Tensor& x) { return maximum(x, 2); }, {1, 2, 3}) ==
          Floats{0, 0.5f, 1});
  });
}

TEST_CASE("gelu's derivatives are finite far out") {
  at_each_level([] {
    const auto exact = derivative([](const Tensor& x) { return gelu(x); },
                                  {1, -1, 1e20f, -1e20f, infinity, -infinity});
    const auto tanh_kind = derivative([](const Tensor& x) { return gelu_tanh(x); },
                                      {1, -1, 1e20f, -1e20f, infinity, -infinity});
    CHECK(exact[0] == doctest::Approx(1.0833155));
    CHECK(exact[1] == doctest::Approx(-0.0833155));
    CHECK(tanh_kind[0] == doctest::Approx(1.0829641));
    CHECK(tanh_kind[1] == doctest::Approx(-0.0829641));
    for (const auto& values : {exact, tanh_kind}) {
      CHECK(values[2] == 1);
      CHECK(values[3] == 0);
      CHECK(values[4] == 1);
      CHECK(values[5] == 0);
    }
  });
}

TEST_CASE("derivatives at 0 and of negative bases") {
  at_each_level([] {
    const auto length = [](const Tensor& x) { return norm(x); };
    CHECK(derivative(length, {0, 0, 0}) == Floats{0, 0, 0});
    const Floats unit = derivative(length, {1, 2, 2});
    CHECK(unit[0] == doctest::Approx(1.0 / 3));
    CHECK(unit[1] == doctest::Approx(2.0 / 3));
    CHECK(unit[2] == doctest::Approx(2.0 / 3));
    CHECK(derivative([](const Tensor& x) { return abs(x); }, {0}) == Floats{0});
    CHECK(derivative([](const Tensor& x) { return pow(x, 3); }, {-2}) == Floats{12});
    CHECK(pow(floats({-2}), 3).item<float>() == -8);
    CHECK(derivative([](const Tensor& x) { return pow(x, 2); }, {0}) == Floats{0});
    CHECK(derivative([](const Tensor& x) { return pow(x, 0); }, {0}) == Floats{0});
    CHECK(pow(floats({0}), 0).item<float>() == 1);
    CHECK(derivative([](const Tensor& x) { return sqrt(x); }, {0}) == Floats{infinity});
    CHECK(derivative([](const Tensor& x) { return prod(x); }, {0, 2, 3}) == Floats{6, 0, 0});
    CHECK(derivative([](const Tensor& x) { return prod(x); }, {0, 0, 3}) == Floats{0, 0, 0});
    CHECK(derivative([](const Tensor& x) { return elu(x); }, {200, 0.5f}) == Floats{1, 1});
  });
}

TEST_CASE("powers have the same derivatives whatever the exponent is") {
  at_each_level([] {
    for (const DType dtype : {f16, bf16, f32, f64}) {
      CAPTURE(to_string(dtype));
      const Tensor x = cast(floats({-2, 0, 0, 0, 2}), dtype);
      const Tensor exponents = cast(floats({3, 2, 0, 1, 3}), dtype);
      const Tensor whole = cast(exponents, i64);
      for (const Tensor& n : {exponents, whole}) {
        const Tensor y = pow(x, n);
        const Tensor slopes = grad(sum(y), std::vector<Tensor>{x})[0];
        CHECK(y.dtype() == dtype);
        CHECK(y.to_host<float>() == Floats{-8, 0, 1, 0, 8});
        CHECK(slopes.to_host<float>() == Floats{12, 0, 0, 1, 12});
      }
      // With regard to the exponent: y log x, and 0 where x is 0.
      const Tensor base = cast(floats({0, 0, 1, 4}), dtype), n = cast(floats({2, 0, 5, 0}), dtype);
      const Floats slopes = grad(sum(pow(base, n)), std::vector<Tensor>{n})[0].to_host<float>();
      CHECK(slopes[0] == 0);
      CHECK(slopes[1] == 0);
      CHECK(slopes[2] == 0);
      CHECK(slopes[3] == doctest::Approx(std::log(4.0)).epsilon(0.004));
    }
  });
}

TEST_CASE("lengths and deviations of lines of zeros have gradient 0 beside others that have not") {
  at_each_level([] {
    for (const DType dtype : {f16, bf16, f32, f64})
      for (const std::int64_t axis : {0, 1}) {
        CAPTURE(to_string(dtype));
        const Tensor lines = cast(from_host(Floats{0, 0, 0, 3, 0, 4}, {2, 3}), dtype);
        const Tensor x = axis == 1 ? lines : transpose(lines);
        const auto of = [&](const Tensor& y) {
          const Tensor g = grad(sum(y), std::vector<Tensor>{x})[0];
          return (axis == 1 ? g : transpose(g)).to_host<float>();
        };
        const Floats unit = of(norm(x, {axis})), spread = of(sinter::std(x, {axis}));
        for (std::size_t i = 0; i < 3; ++i) {
          CHECK(unit[i] == 0);
          CHECK(spread[i] == 0);
        }
        CHECK(unit[3] == doctest::Approx(0.6).epsilon(0.01));
        CHECK(unit[4] == 0);
        // (x - mean) / (std * (n - 1)), std being sqrt(13 / 3).
        CHECK(spread[3] == doctest::Approx(0.160128).epsilon(0.02));
        CHECK(spread[4] == doctest::Approx(-0.560449).epsilon(0.02));
      }
  });
}

TEST_CASE("logsumexp at infinities") {
  at_each_level([] {
    CHECK(logsumexp(floats({-infinity, -infinity})).item<float>() == -infinity);
    CHECK(logsumexp(floats({-infinity, 0})).item<float>() == 0);
    CHECK(derivative([](const Tensor& x) { return logsumexp(x); }, {-infinity, 0}) == Floats{0, 1});
    CHECK(logsumexp(floats({infinity, 1})).item<float>() == infinity);
    CHECK(log_softmax(floats({1000, 0})).to_host<float>() == Floats{0, -1000});
  });
}

TEST_CASE("an error inside a layer names the user's line too") {
  const auto layer = [](const Tensor& x, Where where = Where::current()) {
    const CallScope scope(where);
    return matmul(x, ones({4, 4}));
  };
  const std::string message = usage_message([&] { layer(ones({2, 3})); });
  CHECK(contains(message, "called from grad_test.cpp:"));
}

}  // namespace sinter::tests
