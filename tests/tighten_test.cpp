// What is taken out of the columns of generated loops, and that it changes no result.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include <sinter/sinter.h>

#include "jit/loop_builder.h"
#include "tests/each_level.h"

namespace sinter::tests {

TEST_CASE("tighten: work that is the same for all columns moves to the row, and none is repeated") {
  jit::LoopBuilder b("tightened");
  const auto x = b.memory(f32), flag = b.memory(boolean), y = b.memory(f32), z = b.memory(f32);
  b.begin_row();
  const auto is_set = b.load(flag);
  b.begin_columns();
  const auto element = b.load(x);
  const auto doubled = b.apply(Op::add, element, element);
  const auto first = b.apply(Op::where, b.cast(is_set, f32), element, doubled);
  b.apply(Op::exp, doubled);  // nothing reads it
  b.store(b.apply(Op::mul, first, first), y);
  b.store(b.apply(Op::mul, b.apply(Op::where, b.cast(is_set, f32), element, doubled), first), z);
  CHECK(to_string(b.finish()) ==
        "tightened\n"
        "  row\n"
        "    v0 = load a1:bool\n"
        "    v1 = cast f32 v0\n"
        "  columns\n"
        "    v2 = load a0:f32\n"
        "    v3 = add v2 v2\n"
        "    v4 = where v1 v2 v3\n"
        "    v5 = mul v4 v4\n"
        "    store v5 a2:f32\n"
        "    store v5 a3:f32\n");
}

TEST_CASE("tighten: a range along the columns that is compared with a value of the row") {
  jit::LoopBuilder b("matched");
  const auto index = b.memory(i64), place = b.position(), y = b.memory(f32);
  b.begin_row();
  const auto wanted = b.load(index), start = b.number(b.argument(i64)),
             step = b.number(b.argument(i64));
  b.begin_columns();
  const auto range = b.apply(Op::add, b.apply(Op::mul, b.coordinate(place), step), start);
  b.store(b.cast(b.apply(Op::equal, wanted, b.cast(range, i64)), f32), y);
  CHECK(to_string(b.finish()) ==
        "matched\n"
        "  row\n"
        "    v0 = load a0:i64\n"
        "    v1 = number n0\n"
        "    v2 = number n1\n"
        "    v3 = match v0 v1 v2 a1:i64\n"
        "  columns\n"
        "    v4 = is_match f32 v3\n"
        "    store v4 a2:f32\n");
}

TEST_CASE("tighten: the column that equals an index is found whatever the range is") {
  constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  const Integers wanted{-1, 0, 5, 6, 15, 16, 17, 29, lowest, lowest + 2048, lowest + 1, 30};
  const auto rows = static_cast<std::int64_t>(wanted.size());
  struct Range {
    std::int64_t start, step, count;
  };
  constexpr Range ranges[] = {{0, 1, 30},
                              {-2, 3, 11},
                              {29, -1, 33},
                              {30, -6, 7},
                              {5, 7, 2},
                              {lowest, 2048, 17},
                              {lowest + 6144, -2048, 4}};
  for (const Range& one : ranges) {
    const std::int64_t start = one.start, step = one.step, count = one.count;
    CAPTURE(start);
    CAPTURE(step);
    Floats expected;
    for (const std::int64_t value : wanted)
      for (std::int64_t c = 0; c < count; ++c)
        expected.push_back(value == start + step * c ? 0.5f : 3.0f);
    at_each_level([&] {
      const Tensor column = unsqueeze(from_host(wanted, {rows}), -1);
      const auto from = static_cast<double>(start), by = static_cast<double>(step);
      const Tensor range = arange(from, from + static_cast<double>(count) * by, by, i64);
      const Tensor ones_of_all = full({rows, count}, 1.0);
      CHECK((where(column == range, ones_of_all * 0.5, ones_of_all + 2)).to_host<float>() ==
            expected);
    });
  }
}

TEST_CASE("tighten: the largest and smallest of a row keep NaN and the sign of zero") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::int64_t columns : {5, 16, 70, 4100})
    for (const std::int64_t special : {std::int64_t{0}, columns / 2, columns - 1}) {
      // The other elements, the special one, the largest and the smallest.
      struct Row {
        float others, one, largest, smallest;
      };
      const std::vector<Row> rows{
          {-0.0f, 0.0f, 0.0f, -0.0f}, {0.0f, -0.0f, 0.0f, -0.0f}, {-2.0f, -0.0f, -0.0f, -2.0f},
          {-2.0f, 0.0f, 0.0f, -2.0f}, {3.0f, -0.0f, 3.0f, -0.0f}, {3.0f, 0.0f, 3.0f, 0.0f},
          {1.0f, nan, nan, nan},      {nan, 1.0f, nan, nan},      {-0.0f, -0.0f, -0.0f, -0.0f}};
      Floats elements;
      for (const Row& row : rows)
        for (std::int64_t c = 0; c < columns; ++c)
          elements.push_back(c == special ? row.one : row.others);
      at_each_level([&] {
        const Tensor x = from_host(elements, {static_cast<std::int64_t>(rows.size()), columns});
        const Floats largest = neg(amax(neg(neg(x)), {1})).to_host<float>();
        const Floats smallest = neg(amin(neg(neg(x)), {1})).to_host<float>();
        for (std::size_t r = 0; r < rows.size(); ++r) {
          CAPTURE(r);
          const auto same = [](float a, float b) {
            return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
          };
          CHECK(same(-rows[r].largest, largest[r]));
          CHECK(same(-rows[r].smallest, smallest[r]));
        }
      });
    }
}

}  // namespace sinter::tests
