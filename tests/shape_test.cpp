#include "runtime/shape.h"

#include <doctest/doctest.h>

#include <limits>

#include "runtime/error.h"

namespace sinter {
namespace {

TEST_CASE("shape: broadcasting follows NumPy's rule") {
  CHECK(broadcast({8, 1, 3}, {4, 1}) == Shape{8, 4, 3});
  CHECK(broadcast({}, {2, 0}) == Shape{2, 0});
  CHECK(broadcast({1}, {0}) == Shape{0});
  CHECK_FALSE(broadcast({2}, {3}).has_value());
  CHECK_FALSE(broadcast({0}, {3}).has_value());
}

TEST_CASE("shape: strides of axes of size 1 do not matter for contiguity") {
  CHECK(contiguous_strides({2, 3, 4}) == Strides{12, 4, 1});
  CHECK(is_contiguous({2, 1, 4}, {4, 99, 1}));
  CHECK(is_contiguous({0, 5}, {-3, 7}));
  CHECK_FALSE(is_contiguous({2, 3}, {1, 2}));
  CHECK_FALSE(is_contiguous({4}, {-1}));
}

TEST_CASE("shape: a size that memory cannot hold is refused") {
  const Where where = Where::current();
  CHECK_NOTHROW(check_shape("full", {0, 1LL << 40}, where));
  CHECK_THROWS_AS(check_shape("full", {0, 1LL << 62}, where), UsageError);
  CHECK_THROWS_AS(check_shape("full", {-1}, where), UsageError);
  CHECK_THROWS_AS(check_shape("full", {1LL << 31, 1LL << 31}, where), UsageError);
}

TEST_CASE("shape: axes count from the end when negative") {
  const Where where = Where::current();
  CHECK(normalize_axis("sum", -1, 3, where) == 2);
  CHECK(normalize_axis("sum", 0, 3, where) == 0);
  CHECK_THROWS_AS(normalize_axis("sum", 3, 3, where), UsageError);
  CHECK_THROWS_AS(normalize_axis("sum", std::numeric_limits<std::int64_t>::min(), 3, where),
                  UsageError);
}

TEST_CASE("shape: more axes than max_rank are refused") {
  CHECK_THROWS_AS((Shape{1, 1, 1, 1, 1, 1, 1, 1, 1}), UsageError);
}

}  // namespace
}  // namespace sinter
