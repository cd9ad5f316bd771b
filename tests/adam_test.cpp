#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/adam.h"
#include "models/schedule.h"
#include "tests/refusal.h"

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

TEST_CASE("a parameter whose first gradient comes later starts at its own first step") {
  // No gradient, no elements and 16 bits at each place of the list.
  at_each_level([] {
    for (std::size_t shift = 0; shift < 4; ++shift) {
      const Variable whole(zeros({3}), "whole"), late(zeros({1}), "late"),
          empty(zeros({0}), "empty"), half(zeros({2}, bf16), "half");
      std::vector<Variable> parameters{whole, half, late, empty};
      std::vector<Tensor> first{ones({3}), ones({2}, bf16), {}, zeros({0})}, second = first;
      second[2] = ones({1});
      const auto turn = [&](auto& list) {
        std::rotate(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(shift), list.end());
      };
      turn(parameters);
      turn(first);
      turn(second);
      Adam adam(parameters, AdamOptions{.learning_rate = 0.1, .epsilon = 1e-8});
      adam.step(first);
      CHECK(late.value().item<float>() == 0);
      for (const double x : whole.value().to_host<double>()) CHECK(x == doctest::Approx(-0.1));
      for (const double x : half.value().to_host<double>())
        CHECK(x == doctest::Approx(-0.1).epsilon(0.004));
      adam.step(second);
      CHECK(late.value().item<double>() == doctest::Approx(-0.1).epsilon(1e-6));
      CHECK(whole.value().to_host<double>()[2] == doctest::Approx(-0.2).epsilon(1e-6));
      CHECK(adam.state().at("late.steps").item<double>() == 1);
      CHECK(adam.state().at("empty.steps").item<double>() == 2);
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

TEST_CASE("16-bit parameters are updated in f32, with gradients of their dtype or of f32") {
  at_each_level([] {
    for (const DType dtype : {bf16, f16})
      for (const DType gradient : {dtype, f32}) {
        const Variable p(zeros({1}, dtype), "p");
        Adam adam(std::vector<Variable>{p}, AdamOptions{.learning_rate = 0.1});
        for (int step = 1; step <= 3; ++step) {
          adam.step({full({1}, 0.25, gradient)});
          CHECK(value(p) == doctest::Approx(-0.1 * step).epsilon(0.01));
        }
        CHECK(adam.state().at("p.second").dtype() == f32);
      }
  });
}

TEST_CASE("many parameters of odd sizes are as if each were alone") {
  at_each_level([] {
    for (const int count : {1, 370, 371, 1000}) {
      const auto make = [&] {
        std::vector<Variable> all;
        for (int i = 0; i < count; ++i)
          all.emplace_back(full({(i * 7 + 3) % 18}, i), "p" + std::to_string(i));
        return all;
      };
      const std::vector<Variable> together = make(), apart = make();
      std::vector<Tensor> gradients;
      for (int i = 0; i < count; ++i) gradients.push_back(full({(i * 7 + 3) % 18}, 0.5 + i));
      const AdamOptions options{.learning_rate = 0.01};
      Adam adam(together, options);
      for (int step = 0; step < 2; ++step) adam.step(gradients);
      int wrong = 0;
      for (std::size_t i = 0; i < apart.size(); ++i) {
        Adam alone(std::vector<Variable>{apart[i]}, options);
        for (int step = 0; step < 2; ++step) alone.step({gradients[i]});
        wrong += apart[i].value().to_host<float>() != together[i].value().to_host<float>();
      }
      CHECK(wrong == 0);
    }
  });
}

TEST_CASE("other rates and betas each step are one program, and give what new programs give") {
  at_each_level([] {
    const auto train = [](bool keep) {
      const Variable p(floats({1, 2, 3, 4}), "p");
      Adam adam(std::vector<Variable>{p}, AdamOptions{.weight_decay = 0.1, .decoupled = true});
      reset_programs();
      const std::uint64_t before = evaluation_statistics().programs_built;
      for (int i = 1; i <= 100; ++i) {
        if (!keep) reset_programs();
        AdamOptions& options = adam.groups()[0].options;
        options.learning_rate = 0.1 / i;
        options.beta1 = 1 - 1.0 / (i + 1);
        options.beta2 = 1 - 0.1 / i;
        adam.step({full({4}, 1.0 / i)});
      }
      const std::uint64_t built = evaluation_statistics().programs_built - before;
      if (keep) CHECK(built <= 2);
      else CHECK(built >= 100);
      return p.value().to_host<float>();
    };
    CHECK(train(true) == train(false));
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
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  using List = std::vector<Variable>;
  REFUSES("Adam", Adam(List{p, p}, AdamOptions{}));
  REFUSES("Adam", Adam(List{Variable()}, AdamOptions{}));
  REFUSES("Adam", Adam(List{Variable(ones({2}, i64), "whole")}, AdamOptions{}));
  REFUSES("Adam", Adam({{{p}, {}}, {{p}, {}}}));
  for (const double bad : {-1.0, nan, infinity}) {
    REFUSES("Adam", Adam(List{p}, AdamOptions{.learning_rate = bad}));
    REFUSES("Adam", Adam(List{p}, AdamOptions{.epsilon = bad}));
    REFUSES("Adam", Adam(List{p}, AdamOptions{.weight_decay = bad}));
  }
  for (const double bad : {-0.1, 1.0, 2.0, nan}) {
    REFUSES("Adam", Adam(List{p}, AdamOptions{.beta1 = bad}));
    REFUSES("Adam", Adam(List{p}, AdamOptions{.beta2 = bad}));
  }
  const Variable q(ones({3}), "q");
  Adam adam(List{p, q}, AdamOptions{});
  REFUSES("Adam", adam.step({}));
  REFUSES("Adam", adam.step({ones({2})}));
  REFUSES("Adam", adam.step({ones({2}), ones({3}), ones({3})}));
  REFUSES("Adam", adam.step({ones({2}), ones({2})}));
  REFUSES("Adam", adam.step({ones({2}), ones({})}));
  REFUSES("Adam", adam.step({ones({2}), ones({3}, i64)}));
  REFUSES("Adam", adam.step({ones({2}), ones({3}, boolean)}));
  REFUSES("Adam", adam.set_learning_rate(nan));
  REFUSES("Adam", adam.set_learning_rate(-1));
  adam.groups()[0].options.beta2 = 1;
  REFUSES("Adam", adam.step({ones({2}), ones({3})}));
  adam.groups()[0].options.beta2 = 0.999;
  adam.groups()[0].parameters.pop_back();
  REFUSES("Adam", adam.step({ones({2})}));
  adam.groups()[0].parameters.push_back(q);
  adam.groups().push_back({{Variable(ones({1}), "r")}, {}});
  REFUSES("Adam", adam.step({ones({2}), ones({3}), ones({1})}));
  adam.groups().pop_back();
  Adam groups({{{p}, {}}, {{q}, {}}});  // the second group's fault leaves the first alone
  REFUSES("Adam", groups.step({ones({2}), ones({2})}));
  const auto state = adam.state();
  for (const auto& [name, tensor] : state) {
    auto other = state;
    other.erase(name);
    REFUSES("Adam", adam.load_state(other));
    for (const Tensor& bad : {ones({5}), ones(tensor.shape(), i64), Tensor()}) {
      other[name] = bad;
      REFUSES("Adam", adam.load_state(other));
    }
  }
  std::vector<Tensor> gradients{ones({2})};
  REFUSES("clip_by_global_norm", models::clip_by_global_norm(gradients, nan));
  REFUSES("clip_by_global_norm", models::clip_by_global_norm(gradients, -1));
  gradients = {ones({2}, i64)};
  REFUSES("clip_by_global_norm", models::clip_by_global_norm(gradients, 1));
  CHECK(p.value().to_host<float>() == Floats{1, 1});
  CHECK(q.value().to_host<float>() == Floats{1, 1, 1});
  for (const auto& [name, tensor] : adam.state()) CHECK(sum(abs(tensor)).item<double>() == 0);
  adam.step({ones({2}), ones({3})});
  CHECK(p.value().to_host<float>()[0] == doctest::Approx(0.999));
}

TEST_CASE("a state needs a name for each parameter, of its own") {
  at_each_level([] {
    for (const auto& [name, other, said] :
         {std::tuple("", "b", "has no name"),
          std::tuple("a", "a", "two parameters have the name a")}) {
      const Variable a(ones({2}), name), b(ones({2}), other);
      Adam adam(std::vector<Variable>{a, b}, AdamOptions{});
      adam.step({ones({2}), ones({2})});  // training does without
      CHECK(contains(usage_message([&] { adam.state(); }), said));
      CHECK(contains(usage_message([&] { adam.load_state({}); }), said));
    }
  });
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
