#include <doctest/doctest.h>

#include <cmath>

#include "models/adam.h"
#include "models/schedule.h"
#include "tests/each_level.h"

namespace sinter::tests {
namespace {

using models::Adam;
using models::AdamOptions;

double value(const Variable& variable) { return variable.value().to_host<double>()[0]; }

Tensor one(float g) { return full({1}, static_cast<double>(g)); }

}  // namespace

TEST_CASE("the formula: epsilon is added to the corrected root") {
  at_each_level([] {
    const Variable p(zeros({1}), "p");
    Adam(std::vector<Variable>{p}, AdamOptions{.learning_rate = 0.1, .epsilon = 0.1})
        .step({one(0.01f)});
    CHECK(value(p) == doctest::Approx(-0.009090909).epsilon(1e-6));
  });
}

TEST_CASE("decay: decoupled and through the gradient") {
  at_each_level([] {
    const Variable w(ones({1}), "w"), l(ones({1}), "l");
    AdamOptions options{.learning_rate = 0.1, .weight_decay = 0.1, .decoupled = true};
    Adam(std::vector<Variable>{w}, options).step({one(0)});
    CHECK(value(w) == doctest::Approx(0.99).epsilon(1e-6));
    options.decoupled = false;
    Adam(std::vector<Variable>{l}, options).step({one(0)});
    CHECK(value(l) == doctest::Approx(0.9).epsilon(1e-6));
  });
}

TEST_CASE("amsgrad divides by the largest second moment, corrected as of now") {
  at_each_level([] {
    const auto run = [](bool amsgrad) {
      const Variable p(zeros({1}), "p");
      Adam adam(std::vector<Variable>{p}, AdamOptions{.learning_rate = 0.1, .amsgrad = amsgrad});
      std::vector<double> values;
      for (const float g : {1.0f, 0.0f, 0.0f}) {
        adam.step({one(g)});
        values.push_back(value(p));
      }
      return values;
    };
    const auto with = run(true), without = run(false);
    CHECK(with[0] == doctest::Approx(-0.1).epsilon(1e-6));
    CHECK(with[1] == doctest::Approx(-0.166972312).epsilon(1e-6));
    CHECK(with[2] == doctest::Approx(-0.218716213).epsilon(1e-6));
    CHECK(without[1] == doctest::Approx(-0.167005823).epsilon(1e-6));
    CHECK(without[2] == doctest::Approx(-0.218801520).epsilon(1e-6));
  });
}

TEST_CASE("a parameter without gradient is untouched and counts its own steps") {
  at_each_level([] {
    const Variable p0(floats({1, 2, 3}), "p0"), p1(floats({5}), "p1"), p2(zeros({0}), "p2"),
        p3(cast(ones({2}), bf16), "p3");
    Adam adam({p0, p1, p2, p3}, {.learning_rate = 0.1, .weight_decay = 0.01, .decoupled = true});
    const Tensor g3 = cast(ones({2}), bf16);
    adam.step({ones({3}), {}, zeros({0}), g3});
    CHECK(value(p1) == 5);
    CHECK(p0.value().to_host<float>()[0] == doctest::Approx(0.899));
    CHECK(p3.dtype() == bf16);
    CHECK(value(p3) == doctest::Approx(0.899).epsilon(0.005));
    CHECK(adam.state().at("p1.steps").item<double>() == 0);
    adam.step({ones({3}), one(1), zeros({0}), g3});
    CHECK(value(p1) == doctest::Approx(5 * 0.999 - 0.1).epsilon(1e-6));
    CHECK(adam.state().at("p0.steps").item<double>() == 2);
  });
}

TEST_CASE("many parameters of odd sizes are as if each were alone") {
  at_each_level([] {
    for (const int count : {1, 370, 371, 1000}) {
      if (level() == Level::interpret && count > 371) continue;
      std::vector<Variable> all;
      std::vector<Tensor> gradients;
      for (int i = 0; i < count; ++i) {
        all.emplace_back(full({i % 18}, i), "p" + std::to_string(i));
        gradients.push_back(full({i % 18}, 0.5 + i));
      }
      Adam adam(all, AdamOptions{.learning_rate = 0.01});
      for (int step = 0; step < 2; ++step) adam.step(gradients);
      for (const int i : {1, count / 2, count - 1}) {
        if (i % 18 == 0 || i >= count) continue;
        const Variable alone(full({i % 18}, i), "alone");
        Adam single(std::vector<Variable>{alone}, AdamOptions{.learning_rate = 0.01});
        for (int step = 0; step < 2; ++step) single.step({gradients[static_cast<std::size_t>(i)]});
        CHECK(alone.value().to_host<float>() ==
              all[static_cast<std::size_t>(i)].value().to_host<float>());
      }
    }
  });
}

TEST_CASE("parameters of one shape, some of their values held, are as if each were alone") {
  at_each_level([] {
    const auto run = [](bool held) {
      const Variable a(full({4}, 1), "a"), b(full({4}, 5), "b"), c(full({4}, 9), "c");
      Adam adam(std::vector<Variable>{a, b, c}, AdamOptions{.learning_rate = 0.01});
      std::vector<Tensor> old;
      for (int step = 0; step < 3; ++step) {
        if (held) old.push_back((step == 1 ? b : a).value());
        adam.step({full({4}, 1), full({4}, -1), full({4}, 2)});
      }
      if (held) CHECK(old[0].to_host<float>() == Floats(4, 1));
      return Floats{a.value().to_host<float>()[0], b.value().to_host<float>()[0],
                    c.value().to_host<float>()[3]};
    };
    const Floats moved = run(true);
    CHECK(moved == run(false));
    CHECK(moved[0] == doctest::Approx(0.97));
    CHECK(moved[1] == doctest::Approx(5.03));
    CHECK(moved[2] == doctest::Approx(8.97));
  });
}

TEST_CASE("one value at two positions of a list is read at both") {
  at_each_level([] {
    const Variable a(full({4}, 1), "a", false);
    a.value().evaluate();
    const Tensor old = a.value() * 1, other = full({4}, 7) * 1;
    std::vector<std::vector<Tensor>> mapped;
    {
      const Tensor x = full({4}, 2) * 3;
      mapped = foreach_map([](const std::vector<Tensor>& in) { return std::vector{in[0] + 1}; },
                           {{x, x, x}});
    }
    for (const Tensor& result : mapped[0]) CHECK(result.to_host<float>() == Floats(4, 7));
  });
}

TEST_CASE("a gradient refused in one group leaves the parameters of all") {
  at_each_level([] {
    const Variable a(ones({2}), "a"), b(ones({3}), "b");
    Adam adam({{{a}, AdamOptions{}}, {{b}, AdamOptions{}}});
    CHECK(contains(usage_message([&] { adam.step({ones({2}), ones({2})}); }), "parameter b"));
    CHECK(a.value().to_host<float>() == Floats{1, 1});
    for (const auto& [name, value] : adam.state()) CHECK(sum(value).item<float>() == 0);
    adam.step({ones({2}), ones({3})});
    CHECK(adam.state().at("a.steps").item<double>() == 1);
  });
}

TEST_CASE("another rate each step is one program") {
  at_each_level([] {
    const Variable p(ones({4}), "p");
    Adam adam(std::vector<Variable>{p}, AdamOptions{});
    reset_programs();
    const std::uint64_t before = evaluation_statistics().programs_built;
    for (int i = 1; i <= 100; ++i) {
      adam.set_learning_rate(0.1 / i);
      adam.step({ones({4})});
    }
    CHECK(evaluation_statistics().programs_built - before <= 2);
  });
}

TEST_CASE("clipping by the norm of all gradients") {
  at_each_level([] {
    std::vector<Tensor> gradients{floats({3}), {}, floats({0, 4})};
    const Tensor norm = models::clip_by_global_norm(gradients, 1);
    CHECK(norm.item<float>() == 5);
    CHECK(gradients[0].item<float>() == doctest::Approx(0.6));
    CHECK_FALSE(gradients[1].defined());
    CHECK(gradients[2].to_host<float>()[1] == doctest::Approx(0.8));
    std::vector<Tensor> small{floats({0.5f})};
    for (const double refused : {-1.0, std::nan("")})
      CHECK(contains(usage_message([&] { models::clip_by_global_norm(small, refused); }),
                     "clip_by_global_norm: the largest norm is"));
    models::clip_by_global_norm(small, 1);
    CHECK(small[0].item<float>() == 0.5f);
  });
}

TEST_CASE("bad options, gradients and states are refused and change nothing") {
  const Variable p(ones({2}), "p");
  CHECK(contains(usage_message([&] {
                   Adam(std::vector<Variable>{p, p}, AdamOptions{});
                 }),
                 "named twice"));
  CHECK(contains(usage_message([&] { Adam(std::vector<Variable>{p}, AdamOptions{.beta1 = 1}); }),
                 "beta1"));
  Adam adam(std::vector<Variable>{p}, AdamOptions{});
  CHECK(contains(usage_message([&] { adam.step({}); }), "0 gradients for 1"));
  CHECK(contains(usage_message([&] { adam.step({ones({3})}); }), "adam_test.cpp"));
  auto state = adam.state();
  state.at("p.first") = ones({5});
  CHECK(contains(usage_message([&] { adam.load_state(state); }), "p.first"));
  CHECK(p.value().to_host<float>() == Floats{1, 1});
}

TEST_CASE("warm-up and cosine") {
  const models::CosineSchedule schedule{
      .peak = 2, .floor = 0.5, .warmup_steps = 4, .total_steps = 14};
  CHECK(schedule.rate(1) == 0.5);
  CHECK(schedule.rate(4) == 2);
  CHECK(schedule.rate(9) == doctest::Approx(1.25));
  CHECK(schedule.rate(14) == doctest::Approx(0.5));
  CHECK(schedule.rate(100) == doctest::Approx(0.5));
}

}  // namespace sinter::tests
