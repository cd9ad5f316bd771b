#include "runtime/views.h"

#include <doctest/doctest.h>

#include <functional>

#include "runtime/ops.h"
#include "tests/each_level.h"

namespace sinter::tests {
namespace {

Tensor counted(std::int64_t first, std::int64_t count) {
  return arange(static_cast<double>(first), static_cast<double>(first + count), 1, f32);
}

Floats twice_plus_one(const Tensor& v) { return (v * 2.0 + 1.0).to_host<float>(); }

}  // namespace

TEST_CASE("views of one memory are read where they are") {
  at_each_level([] {
    const Tensor v = counted(1, 4).evaluate();
    CHECK(twice_plus_one(v) == Floats{3, 5, 7, 9});
    CHECK(twice_plus_one(flip(v, {0})) == Floats{9, 7, 5, 3});
    CHECK(twice_plus_one(slice(v, 0, std::nullopt, std::nullopt, 2)) == Floats{3, 7});
    CHECK(twice_plus_one(slice(v, 0, 1)) == Floats{5, 7, 9});
    CHECK(twice_plus_one(slice(v, 0, std::nullopt, std::nullopt, -3)) == Floats{9, 3});
    CHECK(twice_plus_one(expand(slice(v, 0, 2, 3), {5})) == Floats(5, 7.0f));
    const Tensor matrix = reshape(counted(0, 15), {3, 5}).evaluate();
    CHECK(twice_plus_one(transpose(matrix)) ==
          Floats{1, 11, 21, 3, 13, 23, 5, 15, 25, 7, 17, 27, 9, 19, 29});
    CHECK(twice_plus_one(select(matrix, 1, -1)) == Floats{9, 19, 29});
    CHECK(twice_plus_one(flatten(flip(transpose(matrix), {0, 1}))) ==
          Floats{29, 19, 9, 27, 17, 7, 25, 15, 5, 23, 13, 3, 21, 11, 1});
  });
}

TEST_CASE("a view that starts off any alignment has every element") {
  at_each_level([] {
    const Tensor whole = counted(0, 40).evaluate();
    for (std::int64_t start = 0; start < 5; ++start) {
      const Floats seen = twice_plus_one(narrow(whole, 0, start, 33));
      for (std::size_t i = 0; i < seen.size(); ++i)
        CHECK(seen[i] == 2 * static_cast<float>(start + static_cast<std::int64_t>(i)) + 1);
    }
  });
}

TEST_CASE("a program found for one order in memory is right for every other") {
  using Use = std::function<Tensor(const Tensor&)>;
  const std::vector<Use> uses{[](const Tensor& v) { return v * 2 + 1; },
                              [](const Tensor& v) { return sum(v, {0}); },
                              [](const Tensor& v) { return amax(v, {1}); },
                              [](const Tensor& v) { return argmax(v, 1); },
                              [](const Tensor& v) { return softmax(v); },
                              [](const Tensor& v) { return layer_norm(v); },
                              [](const Tensor& v) { return matmul(v, transpose(v)); },
                              [](const Tensor& v) { return cumsum(v, 0); },
                              [](const Tensor& v) { return cast(v, bf16); },
                              [](const Tensor& v) {
                                return concatenate({v, v}, 1);
                              },
                              [](const Tensor& v) { return take(v, arange(2), 0); },
                              [](const Tensor& v) { return sort(v).first; },
                              [](const Tensor& v) { return flip(v, {0}) + v; },
                              [](const Tensor& v) { return reshape(v, {v.element_count()}); }};
  at_each_level([&] {
    const Tensor line = counted(-50, 400).evaluate();
    const Floats host = line.to_host<float>();
    const auto matrix = [&](std::int64_t start) {
      return reshape(narrow(line, 0, start, 165), {5, 33});
    };
    const std::vector<Tensor> leaves{
        matrix(0),
        matrix(1),
        matrix(2),
        matrix(3),
        flip(matrix(4), {0, 1}),
        flip(matrix(4), {1}),
        transpose(reshape(narrow(line, 0, 0, 165), {33, 5})),
        slice(reshape(narrow(line, 0, 0, 330), {5, 66}), 1, 0, 66, 2),
        expand(narrow(matrix(0), 1, 4, 1), {5, 33}),
        expand(narrow(matrix(0), 0, 4, 1), {5, 33}),
        borrow_strided(host.data() + 164, f32, {5, 33}, {-33, -1}, nullptr),
        borrow_strided(host.data(), f32, {5, 33}, {1, 5}, nullptr)};
    for (const Tensor& leaf : leaves) leaf.evaluate();
    for (std::size_t use = 0; use < uses.size(); ++use) {
      reset_programs();
      uses[use](matrix(0).evaluate()).evaluate();
      for (std::size_t i = 0; i < leaves.size(); ++i) {
        CAPTURE(use);
        CAPTURE(i);
        const Tensor whole = from_host(leaves[i].to_host<float>(), {5, 33});
        const Floats expected = uses[use](whole).to_host<float>();
        CHECK(uses[use](leaves[i]).to_host<float>() == expected);
      }
    }
  });
}

TEST_CASE("a name bound again leaves the value that others read") {
  at_each_level([] {
    Tensor t = floats({-1, 2});
    const Tensor other = full({3, 2}, 10);
    const Tensor sum = t + other;
    t = relu(t);
    CHECK(sum.to_host<float>() == Floats{9, 12, 9, 12, 9, 12});
    CHECK(t.to_host<float>() == Floats{0, 2});
    Tensor y = counted(0, 3) * 2.0;
    const Tensor kept = y;
    y -= -4.0;
    CHECK(y.to_host<float>() == Floats{4, 6, 8});
    CHECK(kept.to_host<float>() == Floats{0, 2, 4});
  });
}

TEST_CASE("a scalar bound again beside a large operand") {
  at_each_level([] {
    constexpr std::int64_t n = 4'000'000;
    Tensor c = full({}, 1, i64);
    const Tensor a = arange(n), b = arange(n);
    c += 1;
    const std::vector<std::int64_t> sums = (a + b * c).to_host<std::int64_t>();
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < n; ++i) wrong += sums[static_cast<std::size_t>(i)] != 3 * i;
    CHECK(wrong == 0);
    CHECK(c.item<int>() == 2);
  });
}

TEST_CASE("more elements than 32 bits count") {
  // One byte of memory, seen 2^31 + 8 times; only eager does without the elements themselves.
  const AtLevel eager(Level::eager);
  const Tensor one = full_integer({1}, 1, u8);
  const auto total = [&](std::int64_t n) { return sum(expand(one, {n})).item<std::int64_t>(); };
  CHECK(total(1000) == 1000);
  CHECK(total((std::int64_t{1} << 31) + 8) == 2147483656);
  const Tensor wide = expand(full_integer({1, 1}, 3, u8), {70000, 70000});
  CHECK(wide.element_count() == 4900000000);
  CHECK(select(select(wide, 0, 69999), 0, 69999).item<int>() == 3);
  CHECK(sum(narrow(flatten(wide), 0, 4899999000, 1000)).item<int>() == 3000);
}

TEST_CASE("bounds of slices are Python's, those of narrow are exact") {
  const Tensor a = counted(0, 5);
  CHECK(slice(a, 0, -2).to_host<float>() == Floats{3, 4});
  CHECK(slice(a, 0, 3, 99).to_host<float>() == Floats{3, 4});
  CHECK(slice(a, 0, 4, 1).shape() == Shape{0});
  CHECK(slice(a, 0, INT64_MIN, INT64_MAX, INT64_MAX).to_host<float>() == Floats{0});
  CHECK(slice(a, 0, std::nullopt, std::nullopt, INT64_MIN).to_host<float>() == Floats{4});
  CHECK(contains(usage_message([&] { slice(a, 0, 0, 1, 0); }), "slice: "));
  CHECK(contains(usage_message([&] { narrow(a, 0, 3, 3); }), "narrow: "));
  CHECK(contains(usage_message([&] { narrow(a, 0, -1, 1); }), "narrow: "));
  CHECK(contains(usage_message([&] { select(a, 0, 5); }), "select: "));
  CHECK(contains(usage_message([&] { select(a, 1, 0); }), "view_test.cpp:"));
}

TEST_CASE("views that cannot be are refused with shapes") {
  const Tensor a = zeros({3, 4}), none;
  CHECK(contains(usage_message([&] { reshape(a, {5, -1}); }), "reshape: "));
  CHECK(contains(usage_message([&] { reshape(a, {-1, -1}); }), "reshape: "));
  CHECK(contains(usage_message([&] { reshape(a, {3, 5}); }), "[3, 4]"));
  CHECK(contains(usage_message([&] { reshape(zeros({0}), {0, -1}); }), "reshape: "));
  CHECK(contains(usage_message([&] { permute(a, {0, 0}); }), "permute: "));
  CHECK(contains(usage_message([&] { permute(a, {0}); }), "permute: "));
  CHECK(contains(usage_message([&] { expand(a, {3, 5}); }), "expand: "));
  CHECK(contains(usage_message([&] { expand(a, {4}); }), "expand: "));
  CHECK(contains(usage_message([&] { squeeze(a, 0); }), "squeeze: "));
  CHECK(contains(usage_message([&] { unsqueeze(a, 4); }), "unsqueeze: "));
  CHECK(contains(usage_message([&] { flip(a, {2}); }), "flip: "));
  CHECK(contains(usage_message([&] { split(a, 0, 0); }), "split: "));
  CHECK(contains(usage_message([&] { split(a, {1, 1}, 0); }), "split: "));
  CHECK(contains(usage_message([&] { detach(none); }), "detach: "));
}

TEST_CASE("split and move_axis") {
  at_each_level([] {
    const std::vector<Tensor> parts = split(counted(0, 7), 3);
    REQUIRE(parts.size() == 3);
    CHECK(parts[2].to_host<float>() == Floats{6});
    const Tensor a = reshape(counted(0, 24), {2, 3, 4});
    CHECK(move_axis(a, 0, -1).shape() == Shape{3, 4, 2});
    CHECK(select(select(move_axis(a, 0, 2), 2, 1), 0, 0).to_host<float>() ==
          Floats{12, 13, 14, 15});
  });
}

}  // namespace sinter::tests
