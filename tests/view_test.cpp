#include "runtime/views.h"

#include <doctest/doctest.h>

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
  constexpr std::int64_t n = 4'000'000;
  Tensor c = full({}, 1, i64);
  const Tensor a = arange(n), b = arange(n);
  c += 1;
  const std::vector<std::int64_t> sums = (a + b * c).to_host<std::int64_t>();
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < n; ++i) wrong += sums[static_cast<std::size_t>(i)] != 3 * i;
  CHECK(wrong == 0);
  CHECK(c.item<int>() == 2);
}

TEST_CASE("more elements than 32 bits count") {
  // One byte of memory, seen 2^31 + 8 times.
  const Tensor one = full_integer({1}, 1, u8);
  CHECK(sum(expand(one, {1000})).item<std::int64_t>() == 1000);
  CHECK(sum(expand(one, {(std::int64_t{1} << 31) + 8})).item<std::int64_t>() == 2147483656);
  const Tensor wide = expand(full_integer({1, 1}, 3, u8), {70000, 70000});
  CHECK(wide.element_count() == 4900000000);
  CHECK(select(select(wide, 0, 69999), 0, 69999).item<int>() == 3);
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
