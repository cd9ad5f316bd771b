// Programs and guards: what is found again, what is built anew, and that nothing goes stale.

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <thread>

#include "tests/each_level.h"

namespace sinter::tests {
namespace {

/// How many Programs `body` makes the evaluator build.
template <typename Body>
std::uint64_t programs_built(Body&& body) {
  reset_programs();
  const std::uint64_t before = evaluation_statistics().programs_built;
  body();
  return evaluation_statistics().programs_built - before;
}

}  // namespace

TEST_CASE("numbers of different type are different programs, values are not") {
  at_each_level([] {
    const Tensor x = from_host(std::vector<int>{1, 2}, {2});
    for (int order = 0; order < 3; ++order) {
      const Tensor by_int = x * 1, by_real = x * 1.0, by_bool = x * true;
      CHECK(by_int.dtype() == i32);
      CHECK(by_real.dtype() == f32);
      CHECK(by_bool.dtype() == i32);
      CHECK((order == 0   ? by_int
             : order == 1 ? by_real
                          : by_bool)
                .to_host<int>() == std::vector<int>{1, 2});
      CHECK(by_real.to_host<float>() == Floats{1, 2});
    }
    const Tensor one = ones({});
    CHECK((one / 0.0).item<float>() == std::numeric_limits<float>::infinity());
    CHECK((one / -0.0).item<float>() == -std::numeric_limits<float>::infinity());
    const auto add_nan = [&] {
      for (int i = 0; i < 50; ++i) CHECK(std::isnan((one + std::nan("")).item<float>()));
    };
    CHECK(programs_built(add_nan) == 1);
  });
}

TEST_CASE("a step with another rate and count each time is one program") {
  at_each_level([] {
    const Variable p(floats({1, 2, 3}), "p"), m(zeros({3}), "m", false);
    float expected = 1, moment = 0;
    const std::uint32_t id = new_region();
    const auto train = [&] {
      for (int i = 1; i <= 100; ++i) {
        const double rate = 0.1 / i, beta = 1.0 - 1.0 / (i + 1);
        const Tensor g = grad(sum(square(p.value())) * 0.5, std::vector<Variable>{p})[0];
        const Region region(id);
        m.set(m * beta + g * (1 - beta));
        p.set(p - m * rate / (1.0 - std::pow(beta, i)));
        moment = moment * static_cast<float>(beta) + expected * static_cast<float>(1 - beta);
        expected -= moment * static_cast<float>(rate) / static_cast<float>(1.0 - std::pow(beta, i));
      }
    };
    CHECK(programs_built(train) <= 2);
    CHECK(p.value().to_host<float>()[0] == doctest::Approx(expected));
  });
}

TEST_CASE("nothing that a closure captured goes stale") {
  at_each_level([] {
    double k = 2;
    Tensor captured = ones({3});
    const auto f = [&](const Tensor& x) { return (x * k + captured).to_host<float>(); };
    CHECK(f(floats({1, 2, 3})) == Floats{3, 5, 7});
    k = 3;
    CHECK(f(floats({1, 2, 3})) == Floats{4, 7, 10});
    captured = full({3}, 10);
    CHECK(f(floats({1, 2, 3})) == Floats{13, 16, 19});
  });
}

TEST_CASE("functions made and ended in a loop are not confused") {
  at_each_level([] {
    const auto run = [](int from) {
      for (int k = from; k < from + 250; ++k) {
        const auto g = std::make_unique<std::function<Tensor(const Tensor&)>>(
            [k](const Tensor& a) { return a + k; });
        CHECK((*g)(zeros({2})).to_host<float>()[1] == static_cast<float>(k));
      }
    };
    run(0);
    std::thread(run, 250).join();
  });
}

TEST_CASE("sizes are free unless they are 0 or 1") {
  at_each_level([] {
    const auto f = [](std::int64_t n) {
      const Floats values = (arange(n, f32) * 2 + ones({1})).to_host<float>();
      CHECK(values.size() == static_cast<std::size_t>(n));
      if (n > 0) CHECK(values.back() == static_cast<float>(2 * n - 1));
    };
    CHECK(programs_built([&] {
            for (const int n : {2, 3, 4, 2, 3, 500}) f(n);
          }) == 1);
    CHECK(programs_built([&] {
            for (const int n : {0, 1, 2, 0, 1, 2}) f(n);
          }) == 3);
  });
}

TEST_CASE("the log names the guard that failed and the line") {
  /// What is said about `second` after `first`.
  const auto record_of = [](auto&& first, auto&& second) {
    std::vector<LogRecord> records;
    const LogSink previous =
        set_log_sink([&](const LogRecord& record) { records.push_back(record); });
    set_logs("recompiles");
    reset_programs();
    first();
    second();
    set_logs("-recompiles");
    set_log_sink(previous);
    REQUIRE(records.size() == 1);
    CHECK(records[0].channel == LogChannel::recompiles);
    return to_string(records[0]);
  };
  const auto range = [](std::int64_t n) { (arange(n, f32) * 2).evaluate(); };
  const std::string smaller = record_of([&] { range(8); }, [&] { range(1); });
  CHECK(contains(smaller, "size of axis 0 of step 0 (arange) was 8, is 1"));
  CHECK(contains(smaller, "guard_test.cpp"));
  CHECK(contains(record_of([&] { range(1); }, [&] { range(0); }), "(arange) was 1, is 0"));

  const Tensor two = ones({3, 2}).evaluate(), one = ones({3, 1}).evaluate();
  const Tensor flat = ones({3}).evaluate();
  const auto add_to_row = [&](const Tensor& x) { (ones({2}) + x).evaluate(); };
  CHECK(contains(record_of([&] { add_to_row(two); }, [&] { add_to_row(one); }),
                 "size of axis 1 of input 0 was 2, is 1"));
  CHECK(contains(record_of([&] { exp(two).evaluate(); }, [&] { exp(flat).evaluate(); }),
                 "input 0 is another: f32 [3]"));
  CHECK(contains(record_of([&] { exp(two).evaluate(); }, [&] { cos(two).evaluate(); }),
                 "step 0 (cos) is another: f32 [3, 2]"));
  const auto two_steps = [&] { cos(exp(two)).evaluate(); };
  CHECK(contains(record_of([&] { exp(two).evaluate(); }, two_steps),
                 "2 steps and 1 inputs, the program has 1 and 1"));
  const auto one_kept = [&] {
    Tensor x = exp(two);
    x = cos(x);
    x.evaluate();
  };
  CHECK(contains(record_of(two_steps, one_kept), "what is kept of step 0 (exp) is another"));
}

TEST_CASE("a program keeps nothing of what a closure captured") {
  at_each_level([] {
    const auto owned = std::make_shared<int>(1);
    const std::weak_ptr<int> watched = owned;
    const auto run = [](std::shared_ptr<int> captured) {
      const Tensor y =
          custom_gradient([](const std::vector<Tensor>& in) { return in[0] * 2; },
                          [captured](const std::vector<Tensor>&, const Tensor&, const Tensor& g) {
                            return std::vector<Tensor>{g * *captured};
                          },
                          {floats({1, 2})});
      CHECK(y.to_host<float>() == Floats{2, 4});
    };
    run(owned);
    CHECK(watched.use_count() == 1);
    CHECK(programs_built([&] {
            for (int i = 0; i < 3; ++i) run(owned);
          }) == 1);
    CHECK(watched.use_count() == 1);
  });
}

TEST_CASE("outputs fed back, new inputs and new draws are all seen") {
  at_each_level([] {
    const auto f = [](const Tensor& x) { return x + 1; };
    const Tensor y1 = f(zeros({2})).evaluate(), y2 = f(full({2}, 10)).evaluate();
    CHECK(y1.to_host<float>() == Floats{1, 1});
    CHECK(y2.to_host<float>() == Floats{11, 11});
    Tensor fed = zeros({2});
    for (int i = 0; i < 10; ++i) fed = f(fed).evaluate();
    CHECK(fed.to_host<float>() == Floats{10, 10});
    Generator generator(5);
    const Floats first = uniform({8}, generator).to_host<float>();
    const Floats second = uniform({8}, generator).to_host<float>();
    CHECK(first != second);
    generator.reseed(5);
    CHECK(uniform({8}, generator).to_host<float>() == first);
  });
}

TEST_CASE("errors come after a good call as before it, and change nothing") {
  at_each_level([] {
    (floats({1, 2, 3}) + floats({1, 2, 3})).evaluate();
    CHECK(contains(usage_message([] {
                     floats({1, 2, 3}) + floats({1, 2, 3, 4});
                   }),
                   "add: shapes do not broadcast: f32 [3], f32 [4] (guard_test.cpp:"));
    CHECK(contains(usage_message([] { matmul(zeros({2, 3}), zeros({4, 5})); }), "[2, 3]"));
    CHECK((floats({1, 2, 3}) + floats({1, 2, 3})).to_host<float>() == Floats{2, 4, 6});
  });
}

}  // namespace sinter::tests
