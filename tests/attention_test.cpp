#include <limits>

#include "runtime/cpu/pool.h"
#include "runtime/indexing.h"
#include "tests/nn_checks.h"

namespace sinter::tests {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Sizes of a call.
struct Sizes {
  std::int64_t batch, heads, kv_heads, queries, keys, d, e;

  Shape q() const { return {batch, heads, queries, d}; }
  Shape k() const { return {batch, kv_heads, keys, d}; }
  Shape v() const { return {batch, kv_heads, keys, e}; }
  Shape scores() const { return {batch, heads, queries, keys}; }
};

/// Attention by its definition, in double; `mask` is what is added to the scores.
std::vector<double> reference(const Sizes& s, const std::vector<double>& mask, bool causal) {
  const std::vector<double> q = sample_values(s.q(), 1), k = sample_values(s.k(), 2),
                            v = sample_values(s.v(), 3);
  std::vector<double> out;
  for (std::int64_t head = 0; head < s.batch * s.heads; ++head) {
    const std::int64_t kv = head / s.heads * s.kv_heads + head % s.heads / (s.heads / s.kv_heads);
    for (std::int64_t i = 0; i < s.queries; ++i) {
      std::vector<double> p;
      double most = -infinity, total = 0;
      for (std::int64_t j = 0; j < s.keys; ++j) {
        double score = 0;
        for (std::int64_t c = 0; c < s.d; ++c)
          score += q[static_cast<std::size_t>((head * s.queries + i) * s.d + c)] *
                   k[static_cast<std::size_t>((kv * s.keys + j) * s.d + c)];
        score /= std::sqrt(static_cast<double>(s.d));
        if (!mask.empty())
          score += mask[static_cast<std::size_t>((head * s.queries + i) * s.keys + j)];
        p.push_back(causal && j > i ? -infinity : score);
        most = std::max(most, p.back());
      }
      for (double& each : p) each = most == -infinity ? 0 : std::exp(each - most);
      for (const double each : p) total += each;
      for (std::int64_t c = 0; c < s.e; ++c) {
        double sum = 0;
        for (std::int64_t j = 0; j < s.keys; ++j)
          sum += p[static_cast<std::size_t>(j)] *
                 v[static_cast<std::size_t>((kv * s.keys + j) * s.e + c)];
        out.push_back(total == 0 ? 0 : sum / total);
      }
    }
  }
  return out;
}

Tensor attend(const Sizes& s, const AttentionOptions& options, DType dtype = f32) {
  return scaled_dot_product_attention(sample(s.q(), 1, dtype), sample(s.k(), 2, dtype),
                                      sample(s.v(), 3, dtype), options);
}

/// The result and the gradients of q, k and v.
std::vector<Tensor> with_gradients(const Sizes& s, const AttentionOptions& options,
                                   DType dtype = f32) {
  const std::vector<Tensor> inputs{sample(s.q(), 1, dtype), sample(s.k(), 2, dtype),
                                   sample(s.v(), 3, dtype)};
  std::vector<Tensor> all{scaled_dot_product_attention(inputs[0], inputs[1], inputs[2], options)};
  for (const Tensor& gradient : vjp({all[0]}, {sample(all[0].shape(), 4, dtype)}, inputs))
    all.push_back(gradient);
  return all;
}

void check_levels_close(const Recorded& record, double tolerance) {
  const auto meaning = evaluated(record, Level::interpret);
  const AtLevel here(Level::eager);
  const std::vector<Tensor> fast = record();
  for (std::size_t i = 0; i < meaning.size(); ++i) check_close(fast[i], meaning[i], tolerance);
}

const Sizes odd_sizes[] = {{1, 1, 1, 1, 1, 1, 1},     {2, 4, 4, 17, 17, 16, 16},
                           {1, 2, 1, 5, 33, 3, 7},    {2, 3, 3, 32, 8, 8, 8},
                           {1, 6, 2, 65, 65, 21, 33}, {1, 1, 1, 200, 130, 64, 64},
                           {1, 2, 2, 1, 100, 40, 24}};

}  // namespace

TEST_CASE("attention is right for every head size, group and dtype") {
  at_each_level([&] {
    for (const Sizes& s : odd_sizes) {
      CAPTURE(to_string(s.q()));
      for (const bool causal : {false, true}) {
        const std::vector<double> expected = reference(s, {}, causal);
        for (const DType dtype : {f32, f64, bf16, f16})
          check_close(attend(s, {.causal = causal}, dtype), expected,
                      dtype == f32   ? 3e-6
                      : dtype == f64 ? 1e-13
                                     : 1e-2);
      }
    }
  });
}

TEST_CASE("the kernel of attention and of its gradient means what the interpreter says") {
  for (const Sizes& s : odd_sizes) {
    CAPTURE(to_string(s.q()));
    for (const DType dtype : {f32, f64, bf16}) {
      const double tolerance = dtype == f32 ? 2e-5 : dtype == f64 ? 1e-12 : 4e-2;
      Generator generator(5);
      const auto record = [&](bool causal, double dropout) {
        return [&s, &generator, dtype, causal, dropout] {
          generator.reseed(5);
          return with_gradients(s, {.causal = causal, .dropout = dropout, .generator = &generator},
                                dtype);
        };
      };
      check_levels_close(record(false, 0), tolerance);
      check_levels_close(record(true, 0), tolerance);
      check_levels_close(record(true, 0.25), tolerance);
      check_parts(record(true, 0.25)(), tolerance);
    }
  }
}

TEST_CASE("what is not seen has no effect, whatever it holds, and other rows go on") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  at_each_level([&] {
    for (const DType dtype : {f32, f64, bf16})
      for (const std::int64_t keys : {2, 40})
        for (const double bad : {nan, infinity, -infinity}) {
          CAPTURE(to_string(dtype));
          CAPTURE(keys);
          CAPTURE(bad);
          // Key 0 is hidden from all, query 0 sees none; both hold `bad` everywhere.
          const auto run = [&](double first) {
            const auto rows = [&](std::uint64_t seed) {
              const Tensor others = sample({1, 1, keys - 1, 3}, seed, dtype);
              return concatenate({full({1, 1, 1, 3}, first, dtype), others}, 2);
            };
            const Tensor q = rows(1), k = rows(2), v = rows(3), g = rows(4);
            const Tensor index = arange(keys);
            const Tensor seen = (unsqueeze(index, 1) > 0) & (index > 0);
            const Tensor y = scaled_dot_product_attention(q, k, v, {.mask = seen});
            std::vector<Tensor> all = vjp({y}, {g}, {q, k, v});
            all.push_back(y);
            return all;
          };
          const std::vector<Tensor> got = run(bad), expected = run(0.5);
          for (std::size_t i = 0; i < got.size(); ++i) {
            check_close(select(got[i], 2, 0), {0, 0, 0}, 0);
            check_close(got[i], expected[i].to_host<double>(), dtype == bf16 ? 2e-2 : 1e-5);
          }
        }
  });
}

TEST_CASE("an infinite value is seen where its weight is not 0, and only there") {
  at_each_level([] {
    const Tensor q = ones({1, 1, 1, 1}), k = from_host(Floats{0, -2000}, {1, 1, 2, 1});
    const auto out = [&](const Tensor& v) {
      return scaled_dot_product_attention(q, k, v).item<float>();
    };
    CHECK(out(from_host(Floats{1, INFINITY}, {1, 1, 2, 1})) == 1);
    CHECK(out(from_host(Floats{INFINITY, 1}, {1, 1, 2, 1})) == INFINITY);
    // Past the causal limit of some queries of a block, and within that of others.
    const Tensor many = ones({1, 1, 3, 1}), values = from_host(Floats{1, 2, NAN}, {1, 1, 3, 1});
    const auto rows =
        scaled_dot_product_attention(many, many, values, {.causal = true}).to_host<float>();
    CHECK(rows[0] == 1);
    CHECK(rows[1] == 1.5f);
    CHECK(std::isnan(rows[2]));
  });
}

TEST_CASE("masks broadcast") {
  const Sizes s{2, 3, 3, 5, 20, 8, 8};
  const Shape shapes[] = {{20},   {1, 20},       {2, 1, 1, 20}, {3, 5, 20},
                          {5, 1}, {2, 3, 5, 20}, {1, 1, 5, 20}, {}};
  at_each_level([&] {
    for (const Shape& shape : shapes) {
      CAPTURE(to_string(shape));
      const Tensor numbers = sample(shape, 6, f64);
      const std::vector<double> added = expand(numbers, s.scores()).to_host<double>();
      check_close(attend(s, {.mask = numbers}), reference(s, added, false), 3e-6);
      check_close(attend(s, {.mask = cast(numbers, bf16), .causal = true}),
                  reference(s, added, true), 3e-6);
      const Tensor seen = numbers > -1.0;
      std::vector<double> barred;
      for (const double value : added) barred.push_back(value > -1 ? 0 : -infinity);
      check_close(attend(s, {.mask = seen}), reference(s, barred, false), 3e-6);
    }
  });
}

TEST_CASE("a query that sees no key gives 0 and gradient 0, and is nothing to the others") {
  const Sizes s{1, 1, 1, 4, 4, 3, 3};
  std::vector<bool> seen(16, true);
  std::vector<double> added(16, 0.0);
  for (std::size_t j = 4; j < 8; ++j) {
    seen[j] = false;
    added[j] = -infinity;
  }
  at_each_level([&] {
    for (const DType dtype : {f16, bf16, f32, f64})
      for (const Tensor& mask : {from_host(seen, {4, 4}), cast(from_host(added, {4, 4}), dtype)}) {
        CAPTURE(to_string(dtype));
        const double tolerance = dtype == f64 ? 1e-12 : dtype == f32 ? 1e-6 : 2e-2;
        const Tensor q = sample(s.q(), 1, dtype), k = sample(s.k(), 2, dtype),
                     v = sample(s.v(), 3, dtype);
        const Tensor y = scaled_dot_product_attention(q, k, v, {.mask = mask});
        const auto gradients = grad(sum(y), std::vector<Tensor>{q, k, v});
        const auto without = [](const Tensor& x) {
          return concatenate({narrow(x, 2, 0, 1), narrow(x, 2, 2, 2)}, 2);
        };
        const Tensor rows = without(q);
        const Tensor others = scaled_dot_product_attention(rows, k, v);
        const auto expected = grad(sum(others), std::vector<Tensor>{rows, k, v});
        check_close(select(y, 2, 1), {0, 0, 0}, 0);
        check_close(select(gradients[0], 2, 1), {0, 0, 0}, 0);
        check_close(without(y), others.to_host<double>(), tolerance);
        check_close(without(gradients[0]), expected[0].to_host<double>(), tolerance);
        for (const std::size_t i : {1u, 2u})
          check_close(gradients[i], expected[i].to_host<double>(), tolerance);
      }
  });
}

TEST_CASE("a query whose keys are all barred by the lowest number sees them evenly") {
  const Sizes s{1, 1, 1, 4, 4, 3, 3};
  std::vector<float> lowest(16, 0.0f);
  for (std::size_t j = 4; j < 8; ++j) lowest[j] = -std::numeric_limits<float>::max();
  at_each_level([&] {
    const Tensor even = attend(s, {.mask = from_host(lowest, {4, 4})});
    check_close(select(even, 2, 1), mean(sample(s.v(), 3), {2}).to_host<double>(), 1e-6);
  });
}

TEST_CASE("rows without a key among many, with causal masks, groups and other lengths") {
  const Sizes s{2, 4, 2, 33, 20, 7, 5};
  at_each_level([&] {
    for (const bool causal : {false, true})
      for (const double dropout : {0.0, 0.25}) {
        const Tensor mask = (arange(33) % 3 != 0);  // every third query sees nothing
        Generator generator(4);
        for (const Tensor& each : with_gradients(s, {.mask = unsqueeze(mask, 1),
                                                    .causal = causal,
                                                    .dropout = dropout,
                                                    .generator = &generator}))
          CHECK(all(isfinite(each)).item<bool>());
        const Tensor y = attend(s, {.mask = unsqueeze(mask, 1), .causal = causal});
        const Tensor barred = take(y, arange(0, 33, 3), 2);
        CHECK(sum(barred != 0).item<int>() == 0);
        for (const Tensor& each : with_gradients(s, {.mask = zeros({}, boolean), .causal = causal}))
          CHECK(sum(each != 0).item<int>() == 0);
      }
  });
}

TEST_CASE("grouped heads, and a head size of three") {
  at_each_level([&] {
    const Variable v(reshape(from_host<float>({1, 1, 10, 10}, {4}), {1, 2, 2, 1}));
    const Tensor y = scaled_dot_product_attention(zeros({1, 4, 1, 2}), zeros({1, 2, 2, 2}), v);
    check_close(y, {1, 1, 10, 10}, 0);
    check_close(grad(sum(y), std::vector<Variable>{v})[0], {1, 1, 1, 1}, 1e-6);
    const Tensor one = scaled_dot_product_attention(
        ones({1, 1, 1, 3}), reshape(from_host<float>({1, 1, 1, 0, 0, 0}, {6}), {1, 1, 2, 3}),
        reshape(from_host<float>({1, 0}, {2}), {1, 1, 2, 1}));
    check_close(one, {0.8496746}, 1e-6);
  });
}

TEST_CASE("strided operands and a given scale") {
  for (const DType dtype : {f32, bf16}) {
    const auto record = [dtype] {
      // [batch, length, heads, size] seen as [batch, heads, length, size], as a model has it.
      const Tensor joined = sample({2, 9, 3, 4, 5}, 1, dtype);
      std::vector<Tensor> parts;
      for (std::int64_t i = 0; i < 3; ++i)
        parts.push_back(permute(select(joined, 2, i), {0, 2, 1, 3}));
      const Tensor y = scaled_dot_product_attention(parts[0], parts[1], flip(parts[2], {3}),
                                                    {.causal = true, .scale = 0.3});
      const Tensor g = expand(sample({1, 1, 9, 5}, 2, dtype), y.shape());
      return std::vector<Tensor>{y, vjp({y}, {g}, {joined})[0]};
    };
    check_levels_close(record, dtype == f32 ? 1e-5 : 3e-2);
  }
}

TEST_CASE("dropout of attention keeps the share it says and repeats") {
  const Sizes s{2, 2, 2, 100, 100, 8, 1};
  const auto record = [&](std::uint64_t seed) {
    Generator generator(seed);
    // q = 0 and v = 1: each output is the share of keys kept, over 1 - p.
    return scaled_dot_product_attention(zeros(s.q()), zeros(s.k()), ones(s.v()),
                                        {.dropout = 0.2, .generator = &generator});
  };
  const AtLevel here(Level::eager);
  const std::vector<double> first = record(1).to_host<double>();
  check_same(first, record(1).to_host<double>());
  CHECK(first != record(2).to_host<double>());
  double total = 0;
  for (const double value : first) total += value;
  CHECK(std::abs(total / static_cast<double>(first.size()) - 1) < 0.01);
}

TEST_CASE("gradients of attention, of its mask and of its gradient") {
  const auto plain = [](const auto& in) {
    return scaled_dot_product_attention(in[0], in[1], in[2], {.causal = true});
  };
  const auto masked = [](const auto& in) {
    return scaled_dot_product_attention(in[0], in[1], in[2], {.mask = in[3]});
  };
  const auto dropped = [](const auto& in) {
    Generator generator(3);
    return scaled_dot_product_attention(in[0], in[1], in[2],
                                        {.dropout = 0.3, .generator = &generator});
  };
  const std::vector<Shape> shapes{{1, 2, 3, 2}, {1, 1, 4, 2}, {1, 1, 4, 3}};
  at_each_level([&] {
    check_gradient(plain, shapes);
    check_gradient(dropped, shapes);
    check_gradient(masked, {shapes[0], shapes[1], shapes[2], {2, 1, 4}});
  });
  check_second_gradient(plain, shapes);
  check_second_gradient(dropped, shapes);
}

TEST_CASE("neither threads nor a second run change a bit of attention") {
  const Sizes s{2, 6, 3, 230, 70, 16, 24};
  const auto record = [&] { return with_gradients(s, {.causal = true}); };
  const int before = cpu::threads();
  cpu::set_threads(1);
  const auto one = evaluated(record, Level::eager);
  cpu::set_threads(2);
  const auto two = evaluated(record, Level::eager), again = evaluated(record, Level::eager);
  cpu::set_threads(before);
  for (std::size_t i = 0; i < one.size(); ++i) {
    check_same(one[i], two[i]);
    check_same(two[i], again[i]);
  }
}

TEST_CASE("attention over nothing") {
  at_each_level([&] {
    const Sizes no_keys{1, 2, 2, 3, 0, 4, 5}, no_queries{1, 2, 2, 0, 3, 4, 5};
    check_close(attend(no_keys, {}), std::vector<double>(30, 0.0), 0);
    for (const Sizes& s :
         {no_keys, no_queries, Sizes{0, 2, 2, 3, 3, 4, 4}, Sizes{1, 1, 1, 2, 2, 0, 3}})
      for (const Tensor& each : with_gradients(s, {}))
        for (const double value : each.to_host<double>()) CHECK(std::isfinite(value));
  });
}

TEST_CASE("attention refuses what has no meaning") {
  const Sizes s{2, 4, 2, 3, 5, 8, 8};
  const auto message = [&](const Shape& q, const Shape& k, const Shape& v,
                           const AttentionOptions& options) {
    return usage_message(
        [&] { scaled_dot_product_attention(sample(q), sample(k), sample(v), options); });
  };
  CHECK(message({4, 3, 8}, s.k(), s.v(), {})
            .starts_with("scaled_dot_product_attention: operands must be [batch, heads"));
  CHECK(message({1, 4, 3, 8}, s.k(), s.v(), {}).find("batches differ") != std::string::npos);
  CHECK(message({2, 3, 3, 8}, s.k(), s.v(), {}).find("multiple") != std::string::npos);
  CHECK(message({2, 4, 3, 7}, s.k(), s.v(), {}).find("head sizes") != std::string::npos);
  CHECK(message(s.q(), s.k(), {2, 2, 4, 8}, {}).find("lengths") != std::string::npos);
  CHECK(message(s.q(), s.k(), {2, 1, 5, 8}, {}).find("different heads") != std::string::npos);
  CHECK(message(s.q(), s.k(), s.v(), {.mask = sample({4})}).find("f32 [4] to [2, 4, 3, 5]") !=
        std::string::npos);
  CHECK(message(s.q(), s.k(), s.v(), {.mask = cast(sample({5}), i32)}).find("bool or floating") !=
        std::string::npos);
  CHECK(message(s.q(), s.k(), s.v(), {.dropout = 2}).find("attention_test.cpp:") !=
        std::string::npos);
}

}  // namespace sinter::tests
