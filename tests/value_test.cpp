// Values, Variables and evaluation: what in-place change, aliasing and stale buffers would break.

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "tests/each_level.h"
#include "tests/log_recorder.h"

namespace sinter::tests {

TEST_CASE("rebinding leaves other handles as they were") {
  at_each_level([] {
    Tensor source = floats({0, 1, 2, 3});
    const Tensor copy = source;
    source += 1;
    CHECK(copy.to_host<float>() == Floats{0, 1, 2, 3});
    CHECK(source.to_host<float>() == Floats{1, 2, 3, 4});

    // y = 2x; y -= -4; x[1:] = 9: y keeps what it was made of.
    Tensor x = floats({0, 1, 2});
    Tensor y = x * 2;
    y -= -4;
    x = slice_update(x, full({2}, 9), {1});
    CHECK(y.to_host<float>() == Floats{4, 6, 8});
    CHECK(x.to_host<float>() == Floats{0, 9, 9});
  });
}

TEST_CASE("one tensor passed three times gives what its value gives") {
  const auto f = [](const Tensor& x, Tensor y, const Tensor& z) {
    y = exp(y);
    return (y + x) + exp(z);
  };
  at_each_level([&] {
    CHECK(f(zeros({}), zeros({}), zeros({})).item<float>() == 2);
    const Tensor t = zeros({});
    CHECK(f(t, t, t).item<float>() == 2);  // a value: exp(y) makes another, x and z stay 0
    const Tensor row = floats({0, 0, 0, 0, 0, 0, 0});
    const Tensor a = narrow(row, 0, 0, 3), b = narrow(row, 0, 2, 3), c = narrow(row, 0, 4, 3);
    CHECK(f(a, b, c).to_host<float>() == Floats{2, 2, 2});
  });
}

TEST_CASE("reads of an old value come before a Variable is written") {
  at_each_level([] {
    const std::int64_t n = 100'000;
    const Tensor ramp = arange(n, f32);
    const Variable c(ones({}), "c", false);
    const Tensor old = c;
    c.set(c + 1);
    const Tensor result = ramp + ramp * c;
    CHECK(c.value().item<float>() == 2);
    CHECK(old.item<float>() == 1);
    const Floats values = result.to_host<float>();
    bool right = true;
    for (std::int64_t i = 0; i < n; ++i)
      right = right && values[static_cast<std::size_t>(i)] == 3.0f * static_cast<float>(i);
    CHECK(right);

    const Variable t0(from_host<float>(Floats{-1, 2}, {2}), "t0", false);
    const Tensor t1 = zeros({3, 2});
    const Tensor out = t0 + t1;
    t0.set(relu(t0));
    CHECK(t0.value().to_host<float>() == Floats{0, 2});
    CHECK(out.to_host<float>() == Floats{-1, 2, -1, 2, -1, 2});
  });
}

TEST_CASE("a value that was handed out survives a hundred later steps") {
  at_each_level([] {
    const Variable p(floats({1, 2, 3}), "p");
    const std::uint32_t id = new_region();
    const Tensor before = p;
    std::vector<Tensor> kept;
    for (int i = 0; i < 100; ++i) {
      const Region region(id);
      p.set(p * 2 - p);  // the same values in a buffer that may be reused
      p.set(p + 1);
      kept.push_back(p);
    }
    CHECK(before.to_host<float>() == Floats{1, 2, 3});
    CHECK(kept[0].to_host<float>() == Floats{2, 3, 4});
    CHECK(kept[49].to_host<float>() == Floats{51, 52, 53});
    CHECK(p.value().to_host<float>() == Floats{101, 102, 103});
  });
}

TEST_CASE("moments kept while temporaries of their size come and go") {
  at_each_level([] {
    const Variable m(zeros({1000}), "m", false), p(ones({1000}), "p");
    const Tensor g = ones({1000});
    const std::uint32_t id = new_region();
    {
      const Region region(id);
      m.set(lerp(m, g, 0.05));
    }
    Tensor noise = g;
    for (int i = 0; i < 10; ++i) noise = exp(noise * -1.0).evaluate();
    {
      const Region region(id);
      p.set(p - m * 0.01);
    }
    CHECK(m.value().to_host<float>()[999] == 0.05f);
    CHECK(p.value().to_host<float>()[999] == doctest::Approx(1 - 0.0005));
  });
}

TEST_CASE("a stride-0 destination is written as if it were whole") {
  at_each_level([] {
    const Tensor base = expand(zeros({1, 8}), {4, 8});
    const Tensor rows = from_host(Integers{0, 1, 0}, {3});
    const Tensor sums = sum(index_add(base, 0, rows, ones({3, 8})), {1});
    CHECK(sums.to_host<float>() == Floats{16, 8, 0, 0});
    Tensor x = expand(full({}, 0.785398163), {3});
    x = cos(x);
    for (const float value : x.to_host<float>()) CHECK(value == doctest::Approx(0.70710678));
  });
}

TEST_CASE("views of every kind read the right elements") {
  at_each_level([] {
    const auto z = [](const Tensor& v) { return (v * 2 + 1).to_host<float>(); };
    CHECK(z(flip(floats({1, 2, 3, 4}), {0})) == Floats{9, 7, 5, 3});
    CHECK(z(slice(floats({1, 2, 3, 4, 5}), 0, 0, std::nullopt, 2)) == Floats{3, 7, 11});
    CHECK(z(slice(floats({1, 2, 3}), 0, 1)) == Floats{5, 7});
    CHECK(z(slice(floats({1, 2, 3, 4}), 0, -1, -4, -2)) == Floats{9, 5});
    CHECK(z(transpose(reshape(arange(6, f32), {2, 3}))) == Floats{1, 7, 3, 9, 5, 11});
    CHECK(z(expand(full({1}, 2), {5})) == Floats{5, 5, 5, 5, 5});
    // 33 elements from an address that is 4 modulo 16.
    const Floats ramp = narrow(arange(34, f32), 0, 1, 33).to_host<float>();
    const Tensor unaligned = narrow(floats(Floats(40, 7)), 0, 1, 33);
    CHECK(z(unaligned) == Floats(33, 15));
    CHECK(ramp.front() == 1);
    CHECK(ramp.back() == 33);
    // A reshape that strides cannot express copies.
    CHECK(z(reshape(transpose(reshape(arange(6, f32), {2, 3})), {6})) == Floats{1, 7, 3, 9, 5, 11});
  });
}

TEST_CASE("a read converts as cast does") {
  at_each_level([] {
    const Tensor x = floats({3e9f, -3e9f, NAN, 300, -1.5f});
    CHECK(x.to_host<int>() == cast(x, i32).to_host<int>());
    CHECK(x.to_host<std::uint8_t>() == cast(x, u8).to_host<std::uint8_t>());
    CHECK(x.to_host<std::int64_t>() == cast(x, i64).to_host<std::int64_t>());
  });
  const std::uint8_t bytes[] = {0, 1, 2, 255};
  CHECK(borrow(bytes, boolean, {4}, [] {}).to_host<int>() == std::vector{0, 1, 1, 1});
}

TEST_CASE("host elements of another count are refused") {
  CHECK(usage_message([] {
          from_host(Floats{1, 2, 3}, {2});
        }).starts_with("from_host: 3 elements for shape [2] (value_test.cpp:"));
  const std::byte bytes[5] = {};
  CHECK(usage_message([&] {
          from_bytes(bytes, f32, {1});
        }).starts_with("from_bytes: 5 bytes for f32 [1] (value_test.cpp:"));
}

TEST_CASE("a fault in the data leaves every Variable as it was") {
  at_each_level([] {
    const Variable a(floats({1, 2}), "a"), b(floats({3, 4}), "b");
    a.value().evaluate();
    const std::uint32_t id = new_region();
    const Tensor bad = from_host(Integers{0, 7}, {2});
    const auto step = [&] {
      const Region region(id);
      a.set(a * 10);
      b.set(b + take(a, bad, 0));
    };
    const std::string message = usage_message(step);
    CHECK(contains(message, "take"));
    CHECK(contains(message, "index 7"));
    CHECK(contains(message, "value_test.cpp"));
    CHECK(a.value().to_host<float>() == Floats{1, 2});
    CHECK(b.value().to_host<float>() == Floats{3, 4});
    {
      const Region region(id);
      a.set(a * 10);
    }
    CHECK(a.value().to_host<float>() == Floats{10, 20});
  });
}

TEST_CASE("a failed value fails its readers and nothing else") {
  at_each_level([] {
    const Tensor five = arange(5, f32);
    const Tensor bad = take(five, from_host(Integers{5}, {1}), 0);
    const Tensor reader = bad + 1;
    const Tensor other = five + 1;
    CHECK(contains(usage_message([&] { reader.evaluate(); }), "index 5"));
    CHECK(contains(usage_message([&] { bad.evaluate(); }), "index 5"));
    CHECK(contains(usage_message([&] { (reader * 2).evaluate(); }), "index 5"));
    CHECK(other.to_host<float>() == Floats{1, 2, 3, 4, 5});
  });
}

TEST_CASE("a value that has failed takes the Variables made of it, and no others") {
  at_each_level([] {
    const Variable a(floats({1, 2}), "a"), b(floats({3, 4}), "b"), c(floats({5, 6}), "c");
    const Tensor one = floats({1, 1}).evaluate();
    const Tensor bad = take(a, from_host(Integers{0, 7}, {2}), 0);
    CHECK(contains(usage_message([&] { bad.evaluate(); }), "index 7"));
    a.set(a + 1);  // has nothing to do with the failure
    CHECK((one + 1).to_host<float>() == Floats{2, 2});
    CHECK(a.value().to_host<float>() == Floats{2, 3});

    a.set(a + 1);
    b.set(b + bad);
    c.set(c * one);
    CHECK(contains(usage_message([&] { (one + 1).evaluate(); }), "index 7"));
    CHECK(a.value().to_host<float>() == Floats{3, 4});
    CHECK(b.value().to_host<float>() == Floats{3, 4});
    CHECK(c.value().to_host<float>() == Floats{5, 6});
    CHECK((one + 1).to_host<float>() == Floats{2, 2});
  });
}

TEST_CASE("a fault that no written Variable depends on is thrown to those who read it") {
  at_each_level([] {
    const Variable a(floats({1, 2}), "a");
    const Tensor bad = take(floats({1, 2}), from_host(Integers{0, 7}, {2}), 0), reader = bad * 2;
    a.set(a + 1);
    const Tensor sound = floats({1}) + 1;
    CHECK(sound.item<float>() == 2);
    CHECK(a.value().to_host<float>() == Floats{2, 3});
    CHECK(contains(usage_message([&] { bad.evaluate(); }), "index 7"));
    CHECK(contains(usage_message([&] { reader.evaluate(); }), "index 7"));
  });
}

TEST_CASE("a Variable that was never read goes back to what it was made with") {
  at_each_level([] {
    const Variable a(full({2}, 3) * 2, "a");
    a.set(a + take(a, from_host(Integers{0, 7}, {2}), 0));
    CHECK(contains(usage_message([&] { a.value().evaluate(); }), "index 7"));
    CHECK(a.value().to_host<float>() == Floats{6, 6});
  });
}

TEST_CASE("a fault in a layer also names the line that called the layer") {
  const auto layer = [](const Tensor& indices, Where where) {
    const CallScope scope(where);
    return embedding(ones({2, 3}), indices);
  };
  at_each_level([&] {
    const Tensor bad = layer(from_host(Integers{2}, {1}), Where::current());
    CHECK(contains(usage_message([&] { bad.evaluate(); }), ", called from value_test.cpp:"));
  });
}

TEST_CASE("integer division by zero is an error, the lowest integer over -1 wraps") {
  at_each_level([] {
    const Tensor low = from_host(std::vector<int>{INT32_MIN}, {1});
    CHECK(floor_divide(low, -1).to_host<int>() == std::vector<int>{INT32_MIN});
    CHECK(contains(usage_message([&] { floor_divide(low, zeros({1}, i32)).evaluate(); }),
                   "division by zero"));
    CHECK(contains(usage_message([] { pow(arange(3), -arange(3)).evaluate(); }),
                   "pow: an integer to the power of -1 (value_test.cpp:"));
    const Tensor x = from_host(std::vector<int>{INT32_MAX}, {1});
    CHECK(floor_divide(x * 2, 2).to_host<int>() == std::vector<int>{-1});
    CHECK((x + 1 > x).to_host<bool>() == std::vector<bool>{false});
    CHECK(cast(x + 1, i64).to_host<std::int64_t>() == Integers{INT32_MIN});
  });
}

TEST_CASE("a chain of a million nodes is evaluated and ended without recursion") {
  at_each_level([] {
    Tensor x = zeros({});
    for (int i = 0; i < 1'000'000; ++i) x = x + 1;
    if (level() == Level::eager) {
      CHECK(x.item<float>() == 1'000'000);
    }
    x = Tensor();
  });
}

TEST_CASE("reading one value computes every pending value that is held, once") {
  at_each_level([] {
    reset_programs();
    const Tensor base = arange(100, f32);
    const Tensor loss = sum(base * base), accuracy = mean(base * base);
    const std::uint64_t before = evaluation_statistics().nodes_evaluated;
    loss.item<float>();
    const std::uint64_t after = evaluation_statistics().nodes_evaluated;
    CHECK(after > before);
    CHECK(accuracy.item<float>() == 3283.5f);
    CHECK(evaluation_statistics().nodes_evaluated == after);
  });
}

TEST_CASE("a loop that reads no loss holds no graph and no batch") {
  at_each_level([] {
    const Variable w(floats({1, 2, 3}), "w");
    const std::uint32_t id = new_region();
    std::int64_t ended = 0;
    std::vector<Tensor> losses;
    for (int i = 0; i < 50; ++i) {
      auto batch = std::make_shared<Floats>(Floats{1, 2, 3});
      const Tensor x = borrow(batch->data(), f32, {3}, [batch, &ended] { ++ended; });
      const Tensor loss = sum(square(w * x));
      const Region region(id);
      w.set(w - grad(loss, std::vector<Variable>{w})[0] * 0.01);
      losses.push_back(loss);
    }
    CHECK(ended == 50);
    CHECK(pending_size().nodes < 10);
    CHECK(losses[0].item<float>() == 98);
  });
}

TEST_CASE("a graph that nobody reads is evaluated when it has grown too large, with a record") {
  const LogRecorder log;
  set_logs("perf_hints");
  const std::uint32_t id = new_region();
  Tensor x = zeros({});
  for (int i = 0; i < 60; ++i) {
    const Region region(id);
    for (int j = 0; j < 500; ++j) x = x + 1;  // two nodes each
  }
  CHECK(pending_size().nodes <= 50'000);
  CHECK(log.records.size() == 1);
  CHECK(x.item<float>() == 30'000);
  const Tensor large = zeros({1 << 20}).evaluate();
  std::vector<Tensor> held;
  {
    const Region region(id);
    for (int i = 0; i < 1100; ++i) held.push_back(sum(large));  // four MiB are pinned by each
  }
  CHECK(pending_size().nodes < 1000);
  CHECK(log.records.size() == 2);
}

TEST_CASE("handles made and dropped on other threads") {
  at_each_level([] {
    const Tensor shared = arange(1000, f32) + 1;
    std::atomic<int> right{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 50; ++i) {
          const Tensor own = shared * static_cast<double>(t + 1);
          const Tensor dropped = own + 1;
          if (sum(own).item<float>() == 500500.0f * static_cast<float>(t + 1)) ++right;
        }
      });
    for (std::thread& thread : threads) thread.join();
    CHECK(right == 400);
  });
}

TEST_CASE("pending work of a thread that has ended is computed by whoever reads it") {
  at_each_level([] {
    Tensor result;
    std::thread([&] { result = arange(10, f32) * 2; }).join();
    CHECK(sum(result).item<float>() == 90);
  });
}

}  // namespace sinter::tests
