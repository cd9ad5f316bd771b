// SINTER_CHECK=nan: which node is named, which is not, and what its failure leaves.
#include "jit/finite_check.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>

#include "tests/each_level.h"
#include "tests/inspecting.h"

namespace sinter::tests {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// `line 3` of this file, as an error names it.
std::string at(int line) { return fmt::format("(finite_check_test.cpp:{})", line); }

/// The error of evaluating what `record` gives.
template <class Record>
std::string blamed(Record record) {
  return usage_message([&] { record().evaluate(); });
}

Tensor matrix(const std::vector<float>& elements) {
  return from_host(elements, {2, static_cast<std::int64_t>(elements.size()) / 2});
}

}  // namespace

TEST_CASE("finite check: the first node that makes a NaN or infinity is named") {
  const Inspecting inspecting({.nan = true});
  const Tensor x = matrix({1, 2, 3, 4, 0, -6});
  at_each_level([&] {
    int line = 0;
    const std::string made = blamed([&] {
      const Tensor moved = x * 2 + 1 - 1;
      line = __LINE__ + 1;
      const Tensor logs = log(moved);
      return sum(exp(logs) * 2 + moved);
    });
    CHECK(made == "log: gives nan at [1, 2] of f32 [2, 3], and no operand has one " + at(line));

    const std::string divided = blamed([&] {
      line = __LINE__ + 1;
      const Tensor inverse = 1 / slice(x, 1, 0, 2);
      return inverse * 3;
    });
    CHECK(divided ==
          "div: gives inf at [1, 1] of f32 [2, 2], and no operand has a NaN or infinity " +
              at(line));
  });
}

TEST_CASE("finite check: every dtype, results of several, and what is rounded") {
  const Inspecting inspecting({.nan = true});
  at_each_level([&] {
    for (const DType dtype : {f16, bf16, f32, f64}) {
      const Tensor x = cast(floats({4, 0, 1}), dtype);
      CHECK(contains(blamed([&] { return log(x) + x; }),
                     fmt::format("log: gives -inf at [1] of {} [3]", to_string(dtype))));
    }
    CHECK(contains(blamed([&] {
                     return cast(floats({1, 70000}) * 2, f16) * 0.5;
                   }),
                   "cast: gives inf at [1] of f16 [2]"));
    CHECK(contains(blamed([&] { return full({2}, 1e39, f32) + floats({1, 2}); }), ": gives inf"));
    const std::vector<Tensor> lists = {floats({1, 2}), floats({3, 0})};
    CHECK(contains(blamed([&] {
                     return foreach_map(
                         [](const std::vector<Tensor>& a) { return std::vector{1 / a[0]}; },
                         {lists})[0][1];
                   }),
                   "foreach_map: gives inf at [1] of result 1, f32 [2]"));
  });
}

TEST_CASE("finite check: what was there before, and what the user wrote, blames nobody") {
  const Inspecting inspecting({.nan = true});
  const Tensor bad = matrix({1, static_cast<float>(nan), 3, static_cast<float>(infinity), 5, 6});
  const Tensor x = matrix({1, 2, 3, 4, 5, 6});
  const Tensor seen = from_host(std::vector<float>{1, 0, 1, 0, 0, 1}, {2, 3}) > 0.5;
  at_each_level([&] {
    CHECK(blamed([&] { return log(transpose(bad) - 1) * 2; }) == "");
    CHECK(blamed([&] { return softmax(where(seen, x, -infinity)) * x; }) == "");
    CHECK(blamed([&] { return full({3}, infinity) + slice(x, 0, 0, 1); }) == "");
    CHECK(blamed([&] { return pad(x, {1, 0}, {0, 0}, -infinity) * 2; }) == "");
    CHECK(blamed([&] {
            return foreach_map(
                [](const std::vector<Tensor>& a) {
                  return std::vector{where(a[0] > 2, a[0], -infinity)};
                },
                {{x}})[0][0];
          }) == "");
  });
}

TEST_CASE("finite check: a NaN made of infinities is made") {
  const Inspecting inspecting({.nan = true});
  const Tensor x = matrix({1, 2, 3, 4, 5, 6});
  const Tensor seen = from_host(std::vector<float>{1, 0, 1, 0, 0, 0}, {2, 3}) > 0.5;
  at_each_level([&] {
    CHECK(contains(blamed([&] { return softmax(where(seen, x, -infinity)) * x; }),
                   "softmax: gives nan at [1, 0] of f32 [2, 3], and no operand has one"));
  });
}

TEST_CASE("finite check: gradients name the line of their loss") {
  const Inspecting inspecting({.nan = true});
  at_each_level([&] {
    const Variable w(floats({4, 0}));
    int line = 0;
    const std::string made = blamed([&] {
      line = __LINE__ + 1;
      const Tensor root = sqrt(w);
      return grad(sum(root * 2), std::vector{w})[0] * 3;
    });
    CHECK(contains(made, "div: gives inf at [1] of f32 [2]"));
    CHECK(contains(made, fmt::format("called from finite_check_test.cpp:{})", line)));
  });
}

TEST_CASE("finite check: a step that fails is not done, and the next one is") {
  const Inspecting inspecting({.nan = true});
  at_each_level([&] {
    const Variable w(floats({1, 2})), v(floats({3, 4}));
    const auto step = [&](const Tensor& x) {
      const Region region(new_region());
      w.set(w * 2 + 1);
      v.set(v.value() + log(x) * 0.5);
    };
    CHECK(contains(usage_message([&] { step(floats({1, 0})); }), "log: gives -inf at [1]"));
    CHECK(w.value().to_host<float>() == Floats{1, 2});
    CHECK(v.value().to_host<float>() == Floats{3, 4});
    step(floats({1, 1}));
    CHECK(w.value().to_host<float>() == Floats{3, 5});
    CHECK(v.value().to_host<float>() == Floats{3, 4});
  });
}

TEST_CASE("finite check: off, nothing is looked at") {
  REQUIRE_FALSE(inspection().nan);
  at_each_level([&] { CHECK(blamed([] { return log(floats({0, -1})) * 2; }) == ""); });
}

TEST_CASE("finite check: the first of each kind, by position, through any strides") {
  const std::vector<float> data = {1, static_cast<float>(infinity), 2, static_cast<float>(nan)};
  const jit::NotFinite rows = jit::find_not_finite({data.data(), f32, {2, 2}, {2, 1}});
  CHECK(rows.infinity == 1);
  CHECK(rows.nan == 3);
  const jit::NotFinite columns = jit::find_not_finite({data.data(), f32, {2, 2}, {1, 2}});
  CHECK(columns.infinity == 2);
  CHECK(columns.nan == 3);
  CHECK_FALSE(jit::find_not_finite({data.data(), f32, {0, 2}, {2, 1}}).any());
  CHECK_FALSE(jit::find_not_finite({data.data(), i32, {4}, {1}}).any());
}

}  // namespace sinter::tests
