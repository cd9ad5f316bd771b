#include "runtime/indexing.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "runtime/cpu/pool.h"
#include "runtime/grad.h"
#include "runtime/ops.h"
#include "tests/each_level.h"

namespace sinter::tests {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();
Tensor integers(const Integers& elements) {
  return from_host(elements, {static_cast<std::int64_t>(elements.size())});
}

}  // namespace

TEST_CASE("index_add into an expanded tensor adds each row once") {
  at_each_level([] {
    const Tensor base = expand(zeros({1, 8}), {4, 8});
    const Tensor sum = index_add(base, 0, integers({0, 1, 0}), ones({3, 8}));
    CHECK(select(sum, 1, 3).to_host<float>() == Floats{2, 1, 0, 0});
    CHECK(base.to_host<float>() == Floats(32, 0.0f));
  });
}

TEST_CASE("additions at one place are in the order of the source at any thread count") {
  // Sums that depend on the order: large, small, minus large.
  const std::int64_t rows = 600, width = 300;
  Floats source;
  Integers places;
  for (std::int64_t i = 0; i < rows; ++i) {
    places.push_back(i % 7);
    for (std::int64_t c = 0; c < width; ++c)
      source.push_back(
          std::ldexp(1.0f + static_cast<float>(c) / 512, static_cast<int>(i * 5 % 23)));
  }
  Floats expected(7 * static_cast<std::size_t>(width), 0.0f);
  for (std::size_t i = 0; i < source.size(); ++i)
    expected[static_cast<std::size_t>(places[i / 300]) * 300 + i % 300] += source[i];
  const int before = cpu::threads();
  for (const int count : {1, 2, 3}) {
    cpu::set_threads(count);
    const Tensor from = from_host(source, {rows, width});
    const Tensor zero = zeros({7, width});
    CHECK(index_add(zero, 0, integers(places), from).to_host<float>() == expected);
    const Tensor spread = expand(unsqueeze(integers(places), 1), {rows, width});
    CHECK(scatter_add(zero, 0, spread, from).to_host<float>() == expected);
  }
  cpu::set_threads(before);
}

TEST_CASE("bf16 additions at one place are rounded once") {
  at_each_level([] {
    // 256 + 1 rounds back to 256 in bf16, so rounding at every addition would stay there.
    const Tensor base = full({1}, 256, bf16);
    const Tensor sum = index_add(base, 0, zeros({16}, i64), ones({16}, bf16));
    CHECK(sum.item<float>() == 272);
  });
}

TEST_CASE("sort puts NaN last and keeps the order of equals") {
  at_each_level([] {
    const Tensor a = floats({2, nan, -infinity, 2, 0.0f, -0.0f, infinity});
    const auto [values, places] = sort(a);
    CHECK(places.to_host<int>() == std::vector<int>{2, 4, 5, 0, 3, 6, 1});
    CHECK(std::isnan(values.to_host<float>().back()));
    CHECK(std::signbit(values.to_host<float>()[2]));
    CHECK(argsort(a, 0, true).to_host<int>() == std::vector<int>{1, 6, 0, 3, 4, 5, 2});
    const auto [largest, first] = topk(a, 3);
    CHECK(first.to_host<int>() == std::vector<int>{1, 6, 0});
    CHECK(topk(a, 2, 0, false).second.to_host<int>() == std::vector<int>{2, 4});
  });
}

TEST_CASE("tril and triu keep the dtype and take any diagonal") {
  at_each_level([] {
    const Tensor a = reshape(arange(1, 10, 1, i32), {3, 3});
    CHECK(tril(a).dtype() == i32);
    CHECK(tril(a).to_host<int>() == std::vector<int>{1, 0, 0, 4, 5, 0, 7, 8, 9});
    CHECK(triu(a, 1).to_host<int>() == std::vector<int>{0, 2, 3, 0, 0, 6, 0, 0, 0});
    CHECK(tril(a, -1).to_host<int>() == std::vector<int>{0, 0, 0, 4, 0, 0, 7, 8, 0});
    CHECK(triu(a, -100).to_host<int>() == a.to_host<int>());
    CHECK(tril(a, INT64_MIN).to_host<int>() == std::vector<int>(9, 0));
    CHECK(triu(ones({2, 3}, boolean)).dtype() == boolean);
    CHECK(tril(full({2, 2}, nan)).to_host<float>()[1] == 0);
  });
}

TEST_CASE("stack and concatenate promote and keep their parts") {
  at_each_level([] {
    const Tensor whole = integers({1, 2}), real = floats({0.5f, 1.5f});
    CHECK(stack({whole, real}, 1).to_host<float>() == Floats{1, 0.5f, 2, 1.5f});
    CHECK(stack({whole, real}, -1).shape() == Shape{2, 2});
    CHECK(concatenate({ones({2}, boolean), whole}).dtype() == i64);
    CHECK(concatenate({full({1}, 2, bf16), full({1}, 3, f16)}).dtype() == f32);
  });
}

TEST_CASE("embedding gathers rows and adds their gradients") {
  at_each_level([] {
    const Tensor table = reshape(arange(0, 12, 1, f32), {4, 3});
    const Tensor tokens = from_host(Integers{3, 1, 3, 3}, {2, 2});
    const Tensor rows = embedding(table, tokens);
    CHECK(rows.shape() == Shape{2, 2, 3});
    CHECK(rows.to_host<float>() == Floats{9, 10, 11, 3, 4, 5, 9, 10, 11, 9, 10, 11});
    const Tensor gradient = grad(sum(embedding(table, tokens)), {table})[0];
    CHECK(gradient.to_host<float>() == Floats{0, 0, 0, 1, 1, 1, 0, 0, 0, 3, 3, 3});
  });
}

TEST_CASE("index_select, gather and take read indices of any strides") {
  at_each_level([] {
    const Tensor a = reshape(arange(0, 20, 1, f32), {4, 5});
    const Tensor every_other = slice(integers({3, 9, 1, 9, 0}), 0, std::nullopt, std::nullopt, 2);
    CHECK(select(index_select(a, 0, every_other), 1, 0).to_host<float>() == Floats{15, 5, 0});
    const Tensor same = expand(full_integer({1, 1}, 2), {4, 2});
    CHECK(gather(transpose(a), 0, slice(same, 0, 0, 3)).to_host<float>() ==
          Floats{2, 7, 2, 7, 2, 7});
    CHECK(take(flip(a, {1}), full_integer({}, 0, i32), 1).to_host<float>() == Floats{4, 9, 14, 19});
  });
}

TEST_CASE("results of an op at the same time do not share memory with its operand") {
  at_each_level([] {
    const Tensor a = floats({0, 1, 2, 3});
    const Tensor changed = slice_update(a, floats({9}), {0});
    CHECK(changed.to_host<float>() == Floats{9, 1, 2, 3});
    CHECK(a.to_host<float>() == Floats{0, 1, 2, 3});
    CHECK(pad(a, {0}, {0}).to_host<float>() == a.to_host<float>());
  });
}

TEST_CASE("an index out of range names op, index, extent and line") {
  at_each_level([] {
    const Tensor a = zeros({5, 3});
    const std::string at_take = usage_message([&] {
      take(a, integers({1, 7, 9}), 0).evaluate();  // the line of the message
    });
    CHECK(at_take.find("take: index 7 is out of range for 5") == 0);
    CHECK(at_take.find("indexing_test.cpp:") != std::string::npos);
    const auto index_add_minus = [&] { index_add(a, 0, integers({-1}), ones({1, 3})).evaluate(); };
    CHECK(usage_message(index_add_minus).find("index_add: index -1") == 0);
    const auto gather_far = [&] { gather(a, 1, full_integer({5, 1}, 3)).evaluate(); };
    CHECK(usage_message(gather_far).find("gather: index 3 is out of range for 3") == 0);
    const auto scatter_far = [&] {
      scatter_add(a, 0, full_integer({1, 3}, 5), ones({1, 3})).evaluate();
    };
    CHECK(usage_message(scatter_far).find("scatter_add: index 5") == 0);
    CHECK(take(a, integers({4}), 0).to_host<float>() == Floats{0, 0, 0});
  });
}

TEST_CASE("what cannot be recorded is refused with shapes and line") {
  const Tensor a = zeros({5, 3}), none;
  const auto refused = [](const auto& call) { return usage_message(call); };
  CHECK(refused([&] { concatenate({}); }).find("concatenate: no parts") == 0);
  CHECK(refused([&] { concatenate({a, none}); }).find("concatenate: ") == 0);
  CHECK(refused([&] { concatenate({a, zeros({5, 4})}, 0); }).find("[5, 4]") != std::string::npos);
  CHECK(refused([&] { concatenate({a, zeros({5})}, 0); }).find("[5]") != std::string::npos);
  CHECK(refused([&] { concatenate({a}, 2); }).find("axis 2") != std::string::npos);
  CHECK(refused([&] { stack({a, zeros({3, 5})}); }).find("stack: shapes differ") == 0);
  CHECK(refused([&] { stack({zeros({1, 1, 1, 1, 1, 1, 1, 1})}); }).find("stack: ") == 0);
  CHECK(refused([&] { pad(a, {1}, {1, 1}); }).find("pad: ") == 0);
  CHECK(refused([&] { pad(a, {-1, 0}, {0, 0}); }).find("pad: ") == 0);
  CHECK(refused([&] { pad(cast(a, i32), {0, 0}, {0, 0}, 0.5); }).find("pad: ") == 0);
  CHECK(refused([&] { pad(a, {INT64_MAX, 0}, {1, 0}); }).find("pad: ") == 0);
  CHECK(refused([&] { take(a, zeros({2}), 0); }).find("take: indices must be i32 or i64") == 0);
  CHECK(refused([&] { take(a, none, 0); }).find("take: ") == 0);
  CHECK(refused([&] { embedding(zeros({5}), zeros({2}, i64)); }).find("embedding: ") == 0);
  CHECK(refused([&] { index_select(a, 0, zeros({2, 2}, i64)); }).find("index_select: ") == 0);
  CHECK(refused([&] { index_add(a, 0, zeros({2}, i64), zeros({3, 3})); }).find("index_add: ") == 0);
  CHECK(refused([&] {
          index_add(a, 0, zeros({2}, i64), zeros({2, 3}, f64));
        }).find("index_add: dtypes differ") == 0);
  CHECK(refused([&] { gather(a, 0, zeros({2, 4}, i64)); }).find("gather: indices") == 0);
  CHECK(refused([&] { gather(zeros({}), 0, zeros({}, i64)); }).find("gather: axis") == 0);
  CHECK(refused([&] {
          scatter_add(a, 0, zeros({2, 3}, i64), zeros({3, 3}));
        }).find("scatter_add: ") == 0);
  CHECK(refused([&] { slice_update(a, zeros({2, 3}), {4, 0}); }).find("slice_update: ") == 0);
  CHECK(refused([&] {
          slice_update(a, zeros({2, 3}), {0, 0}, {0, 1});
        }).find("slice_update: ") == 0);
  CHECK(refused([&] { slice_update(a, zeros({2, 3}, f64), {0, 0}); }).find("slice_update: ") == 0);
  CHECK(refused([&] { tril(zeros({3})); }).find("tril: ") == 0);
  CHECK(refused([&] { cumsum(zeros({}), 0); }).find("cumsum: axis") == 0);
  CHECK(refused([&] { topk(a, 4); }).find("topk: 4 of f32 [5, 3]") == 0);
  CHECK(refused([&] { topk(a, -1); }).find("topk: ") == 0);
  CHECK(refused([&] { zeros({-1}); }).find("zeros: negative size") == 0);
  CHECK(refused([&] { clamp(none, 0, 1); }).find("clamp: ") == 0);
  CHECK(refused([&] { lerp(a, none, 1); }).find("lerp: ") == 0);
  CHECK(refused([&] { sort(none); }).find("sort: ") == 0);
  CHECK(refused([&] { sort(a, 2); }).find("indexing_test.cpp:") != std::string::npos);
}

TEST_CASE("rows of a view with more elements than 32 bits count") {
  const Tensor wide = expand(full_integer({1, 1}, 3, u8), {70000, 70000});
  const Tensor last = from_host(Integers{69999}, {1});
  CHECK(take(select(wide, 0, 69999), last, 0).item<int>() == 3);
}

}  // namespace sinter::tests
