// Programs and guards: what is found again, what is built anew, and that nothing goes stale.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <thread>

#include "tests/each_level.h"
#include "tests/log_recorder.h"

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

Tensor at_integer(std::int64_t value) { return full_integer({1}, value); }

}  // namespace

TEST_CASE("numbers of different type are different programs in any order, values are not") {
  at_each_level([] {
    const Tensor x = from_host(std::vector<int>{1, 2}, {2});
    std::array<int, 3> order{0, 1, 2};
    do {
      reset_programs();
      for (int call = 0; call < 2; ++call)
        for (const int kind : order) {
          const Tensor y = kind == 0 ? x * 1 : kind == 1 ? x * 1.0 : x * true;
          CHECK(y.dtype() == (kind == 1 ? f32 : i32));
          CHECK(y.to_host<double>() == std::vector<double>{1, 2});
        }
    } while (std::next_permutation(order.begin(), order.end()));
    const Tensor one = ones({});
    for (int call = 0; call < 2; ++call) {
      CHECK((one / 0.0).item<float>() == std::numeric_limits<float>::infinity());
      CHECK((one / -0.0).item<float>() == -std::numeric_limits<float>::infinity());
      CHECK((one * 1.5).item<float>() == 1.5f);
      CHECK((one * -1.5).item<float>() == -1.5f);
    }
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

TEST_CASE("more programs than are kept are built again and right") {
  // Eleven ops, each one of two by the bits of k.
  const auto f = [](int k, Tensor x) {
    for (int bit = 0; bit < 11; ++bit) x = (k >> bit) & 1 ? x + 1 : 0 - x;
    return x.item<float>();
  };
  const auto expected = [](int k, float x) {
    for (int bit = 0; bit < 11; ++bit) x = (k >> bit) & 1 ? x + 1 : -x;
    return x;
  };
  for (const Level each : {Level::interpret, Level::eager}) {  // without a compiler for each
    const AtLevel at(each);
    const auto run = [&](int from, int to) {
      for (int k = from; k < to; ++k) CHECK(f(k, full({}, 5)) == expected(k, 5));
    };
    CHECK(programs_built([&] { run(0, 1100); }) == 1100);
    const std::uint64_t before = evaluation_statistics().programs_built;
    run(600, 1100);  // are still there
    CHECK(evaluation_statistics().programs_built == before);
    run(0, 1);  // went first
    CHECK(evaluation_statistics().programs_built == before + 1);
  }
}

TEST_CASE("threads that call the same thing at once build one program, others their own") {
  const auto on_threads = [](const auto& call) {
    std::atomic<int> waiting{8}, right{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&, t] {
        for (--waiting; waiting > 0;) std::this_thread::yield();
        for (int i = 0; i < 20; ++i) right += call(t);
      });
    for (std::thread& thread : threads) thread.join();
    CHECK(right == 160);
  };
  at_each_level([&] {
    CHECK(programs_built([&] {
            on_threads([](int t) { return (zeros({3}) + t).to_host<int>() == std::vector(3, t); });
          }) == 1);
    const auto chain = [](int t) {
      Tensor x = zeros({3});
      for (int i = 0; i < t; ++i) x = x + 2;
      return (x + t).to_host<int>() == std::vector(3, 3 * t);
    };
    CHECK(programs_built([&] { on_threads(chain); }) == 8);
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
    const LogRecorder log;
    set_logs("recompiles");
    reset_programs();
    first();
    second();
    REQUIRE(log.records.size() == 1);
    CHECK(log.records[0].channel == LogChannel::recompiles);
    return to_string(log.records[0]);
  };
  const auto range = [](std::int64_t n) { (arange(n, f32) * 2).evaluate(); };
  const std::string smaller = record_of([&] { range(8); }, [&] { range(1); });
  CHECK(contains(smaller, "size of axis 0 of step 0 (arange) was 8, is 1"));
  CHECK(contains(smaller, "guard_test.cpp"));
  CHECK(contains(record_of([&] { range(1); }, [&] { range(0); }), "(arange) was 1, is 0"));

  const Tensor two = ones({3, 2}).evaluate(), one = ones({3, 1}).evaluate();
  const Tensor flat = ones({3}).evaluate();
  const auto add_to_row = [&](const Tensor& x) { (ones({2}) + x).evaluate(); };
  CHECK(
      contains(record_of([&] { add_to_row(two); }, [&] { add_to_row(one); }),
               "size of axis 1 of input 0 of add was 2, is 1: sizes of 0 and of 1 have programs of "
               "their own, line=guard_test.cpp:"));
  CHECK(contains(record_of([&] { exp(two).evaluate(); }, [&] { exp(flat).evaluate(); }),
                 "input 0 of exp is another: f32 [3]"));
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
    const auto run = [](const std::shared_ptr<int>& captured) {
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
    for (int i = 0; i < 10; ++i) {  // memory that comes and goes, often at the same address
      auto host = std::make_unique<Floats>(Floats{static_cast<float>(i), 7});
      const Tensor y = f(borrow(host->data(), f32, {2}, nullptr)).evaluate();
      host.reset();
      CHECK(y.to_host<float>() == Floats{static_cast<float>(i + 1), 8});
    }
    CHECK(y1.to_host<float>() == Floats{1, 1});
    Generator generator(5);
    const auto draw = [&] {
      return std::vector{uniform({8}, generator).to_host<float>(),
                         normal({8}, generator).to_host<float>(),
                         dropout(ones({8}), 0.5, generator).to_host<float>()};
    };
    const auto first = draw(), second = draw();
    for (std::size_t i = 0; i < 3; ++i) CHECK(first[i] != second[i]);
    generator.reseed(5);
    CHECK(draw() == first);
    CHECK(draw() == second);
  });
}

TEST_CASE("errors come after good calls as before them, and change nothing") {
  struct Call {
    std::function<Tensor()> good, bad;
    std::vector<std::string> parts;  // of the message of the bad one
  };
  const Tensor five = arange(5, f32);
  const std::vector<Call> calls{
      {[&] { return five + five; },
       [&] {
         return floats({1, 2, 3}) + floats({1, 2, 3, 4});
       },
       {"add: shapes do not broadcast: f32 [3], f32 [4]"}},
      {[] {
         return matmul(ones({2, 3}), ones({3, 5}));
       },
       [] {
         return matmul(ones({2, 3}), ones({4, 5}));
       },
       {"matmul: inner sizes differ: f32 [2, 3] x f32 [4, 5]"}},
      {[&] { return take(five, at_integer(4), 0); },
       [&] { return take(five, at_integer(7), 0); },
       {"take: index 7 is out of range for 5"}},
      {[&] { return select(five, 0, 4); },
       [&] { return select(five, 0, 7); },
       {"select: ", "7", "[5]"}},
      {[&] { return index_add(five, 0, at_integer(0), ones({1})); },
       [&] { return index_add(five, 0, at_integer(-1), ones({1})); },
       {"index_add: index -1 is out of range for 5"}},
      {[&] { return take(five, at_integer(0), 0); },
       [&] { return take(five, ones({1}), 0); },
       {"take: indices must be i32 or i64", "f32 [1]"}},
      {[] { return ones({2}, i64) & ones({2}, i64); },
       [] { return ones({2}) & ones({2}); },
       {"bitwise_and: ", "f32"}},
      {[] {
         return concatenate({ones({1}), ones({1})});
       },
       [] {
         return concatenate({ones({}), ones({1})});
       },
       {"concatenate: axis 0 is out of range for rank 0"}},
      {[] { return matmul(ones({3}), ones({3})); },
       [] { return matmul(ones({}), ones({3})); },
       {"matmul: ", "f32 []"}},
      {[] { return floor_divide(at_integer(7), at_integer(2)); },
       [] { return floor_divide(at_integer(7), at_integer(0)); },
       {"floor_divide: integer division by zero"}},
  };
  at_each_level([&] {
    const Variable cell(floats({1, 2}), "cell", false);
    const std::uint32_t id = new_region();
    for (const Call& call : calls) {
      const std::vector<double> before = call.good().to_host<double>();
      CHECK(call.good().to_host<double>() == before);
      for (int again = 0; again < 2; ++again) {
        const std::string message = usage_message([&] {
          const Region region(id);
          const Tensor result = call.bad();
          cell.set(cell + sum(cast(result, f32)));
        });
        CAPTURE(message);
        for (const std::string& part : call.parts) CHECK(contains(message, part));
        CHECK(contains(message, "guard_test.cpp:"));
        CHECK(cell.value().to_host<float>() == Floats{1, 2});
        CHECK(call.good().to_host<double>() == before);
      }
    }
  });
}

}  // namespace sinter::tests
