#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/ops.h"
#include "tests/op_cases.h"

namespace sinter::tests {
namespace {

using Tensors = std::vector<Tensor>;
using Arrays = std::vector<Array>;
using Line = std::vector<long double>;
using Fold = std::function<long double(const Line&)>;
using Run = std::function<Tensor(const Tensor&, const Dims&, bool)>;

bool contains(const Dims& axes, int axis) {
  for (const std::int64_t one : axes)
    if (one == axis) return true;
  return axes.empty();
}

/// The fold of each set of elements that meet when `axes` (none: all) are reduced.
Array fold_axes(const Array& a, const Dims& axes, bool keepdim, const Fold& fold) {
  Shape kept, dropped;
  for (int axis = 0; axis < a.shape.rank(); ++axis) {
    kept.push_back(contains(axes, axis) ? 1 : a.shape[axis]);
    if (keepdim || !contains(axes, axis)) dropped.push_back(kept[axis]);
  }
  std::vector<Line> lines(static_cast<std::size_t>(element_count(kept)));
  for_each(a.shape, [&](const Dims& index) {
    std::int64_t position = 0;
    for (int axis = 0; axis < kept.rank(); ++axis)
      position = position * kept[axis] + (kept[axis] == 1 ? 0 : index[axis]);
    lines[static_cast<std::size_t>(position)].push_back(a.at(index));
  });
  Array result(dropped);
  for (std::size_t i = 0; i < lines.size(); ++i) result.elements[i] = fold(lines[i]);
  return result;
}

struct Reduced {
  const char* name;
  Shape shape;
  Dims axes;
  bool keepdim;
};

/// Rows, columns, several axes together and apart, all, sizes around a vector and a block.
const std::vector<Reduced> reduced = {
    {"rows", {5, 7}, {1}, false},
    {"columns", {7, 5}, {0}, false},
    {"columns kept", {67, 3}, {0}, true},
    {"all", {3, 5}, {}, false},
    {"the outer two", {3, 4, 5}, {0, 1}, false},
    {"first and last", {3, 4, 5}, {0, 2}, true},
    {"the middle", {3, 17, 5}, {1}, false},
    {"a row of 67", {67}, {0}, false},
    {"a row of 130", {130}, {0}, true},
    {"through an axis of 1", {3, 1, 5}, {0, 2}, false},
    {"one element", {1}, {}, false},
    {"a scalar", {}, {}, false},
};

/// A long row and a long column: more than one block of each rule.
const std::vector<Reduced> reduced_long = {
    {"a row of 9000", {9000}, {0}, false},
    {"columns of 300", {300, 3}, {0}, false},
};

Cases reductions(const std::string& op, const Run& run, const Fold& fold, Range range, double units,
                 double scale, const std::vector<DType>& dtypes, bool with_long = true) {
  Cases cases;
  const auto add = [&](const Reduced& one, bool differentiable) {
    cases.push_back(
        {.name = op + " of " + one.name,
         .inputs = {{one.shape, range}},
         .run = [=](const Tensors& x) { return run(x[0], one.axes, one.keepdim); },
         .oracle = [=](const Arrays& x) { return fold_axes(x[0], one.axes, one.keepdim, fold); },
         .units = units,
         .scale = scale,
         .dtypes = dtypes,
         .differentiable = differentiable});
  };
  for (const Reduced& one : reduced) add(one, true);
  // Differences of so many elements would take long, and show nothing more.
  if (with_long)
    for (const Reduced& one : reduced_long) add(one, false);
  return cases;
}

#define RUN(op) [](const Tensor& a, const Dims& axes, bool keepdim) { return op(a, axes, keepdim); }

long double sum_of(const Line& line) { return std::accumulate(line.begin(), line.end(), 0.0L); }
long double mean_of(const Line& line) {
  return sum_of(line) / static_cast<long double>(line.size());
}
long double squares_of(const Line& line, long double centre) {
  long double sum = 0;
  for (const long double x : line) sum += (x - centre) * (x - centre);
  return sum;
}

const std::vector<DType> floating = {f16, bf16, f32, f64};
const std::vector<DType> numbers = {u8, i32, i64, f16, bf16, f32, f64};

OpCase empty_case(const char* name, const Run& run, long double identity,
                  const std::vector<DType>& dtypes) {
  return {.name = name,
          .inputs = {{{0, 3}}},
          .run = [=](const Tensors& x) { return run(x[0], {0}, false); },
          .oracle =
              [=](const Arrays&) { return make_array({3}, [&](const Dims&) { return identity; }); },
          .units = 0,
          .dtypes = dtypes,
          .differentiable = false};
}

Cases with_empty(Cases cases, OpCase empty) {
  cases.push_back(std::move(empty));
  return cases;
}

/// argmax and argmin along an axis, and of all elements.
Cases positions(const std::string& op, bool largest) {
  const auto best = [largest](const Line& line) {
    std::size_t place = 0;
    for (std::size_t i = 1; i < line.size(); ++i)
      if (largest ? line[i] > line[place] : line[i] < line[place]) place = i;
    return static_cast<long double>(place);
  };
  Cases cases;
  for (const std::int64_t axis : {0, 1, 2}) {
    cases.push_back({.name = op + " along an axis",
                     .inputs = {{{5, 17, 3}, {-3, 3}}},
                     .run =
                         [=](const Tensors& x) {
                           return largest ? argmax(x[0], axis, true) : argmin(x[0], axis, true);
                         },
                     .oracle = [=](const Arrays& x) { return fold_axes(x[0], {axis}, true, best); },
                     .units = 0,
                     .dtypes = all_dtypes,
                     .differentiable = false});
  }
  cases.push_back({.name = op + " of all",
                   .inputs = {{{7, 11}, {-3, 3}}},
                   .run = [=](const Tensors& x) { return largest ? argmax(x[0]) : argmin(x[0]); },
                   .oracle = [=](const Arrays& x) { return fold_axes(x[0], {}, false, best); },
                   .units = 0,
                   .dtypes = all_dtypes,
                   .differentiable = false});
  return cases;
}

}  // namespace

Cases sum_cases() {
  return with_empty(reductions("sum", RUN(sum), sum_of, {-2, 2}, 16, 20, all_dtypes),
                    empty_case("sum of nothing", RUN(sum), 0, all_dtypes));
}

Cases prod_cases() {
  const auto product = [](const Line& line) {
    long double result = 1;
    for (const long double x : line) result *= x;
    return result;
  };
  // Near 1, so that a long row neither vanishes nor overflows; whole numbers are 1.
  return with_empty(reductions("prod", RUN(prod), product, {0.95, 1.05}, 256, 2, numbers, false),
                    empty_case("prod of nothing", RUN(prod), 1, all_dtypes));
}

Cases amax_cases() {
  return reductions(
      "amax", RUN(amax), [](const Line& l) { return *std::max_element(l.begin(), l.end()); },
      {-2, 2}, 0, 1, all_dtypes);
}

Cases amin_cases() {
  return reductions(
      "amin", RUN(amin), [](const Line& l) { return *std::min_element(l.begin(), l.end()); },
      {-2, 2}, 0, 1, all_dtypes);
}

Cases any_cases() {
  const auto any_of = [](const Line& line) {
    return std::any_of(line.begin(), line.end(), [](long double x) { return x != 0; }) ? 1.0L : 0;
  };
  Cases cases = reductions("any", RUN(any), any_of, {0, 1}, 0, 1, all_dtypes);
  const Cases zeros = reductions("any of zeros", RUN(any), any_of, {0, 0}, 0, 1, all_dtypes);
  cases.insert(cases.end(), zeros.begin(), zeros.end());
  for (OpCase& one : cases) one.differentiable = false;
  return with_empty(cases, empty_case("any of nothing", RUN(any), 0, all_dtypes));
}

Cases all_cases() {
  const auto all_of = [](const Line& line) {
    return std::all_of(line.begin(), line.end(), [](long double x) { return x != 0; }) ? 1.0L : 0;
  };
  Cases cases = reductions("all", RUN(all), all_of, {0, 1}, 0, 1, all_dtypes);
  const Cases ones = reductions("all of ones", RUN(all), all_of, {1, 1}, 0, 1, all_dtypes);
  cases.insert(cases.end(), ones.begin(), ones.end());
  for (OpCase& one : cases) one.differentiable = false;
  return with_empty(cases, empty_case("all of nothing", RUN(all), 1, all_dtypes));
}

Cases argmax_cases() { return positions("argmax", true); }
Cases argmin_cases() { return positions("argmin", false); }

Cases mean_cases() { return reductions("mean", RUN(mean), mean_of, {-2, 2}, 16, 1, floating); }

Cases var_cases() {
  const auto variance = [](const Line& line) {
    return squares_of(line, mean_of(line)) / static_cast<long double>(line.size());
  };
  Cases cases = reductions(
      "var",
      [](const Tensor& a, const Dims& axes, bool keepdim) { return var(a, axes, 0, keepdim); },
      variance, {-2, 2}, 16, 4, floating);
  cases.push_back({.name = "var with correction 1",
                   .inputs = {{{3, 7}}},
                   .run = [](const Tensors& x) { return var(x[0], {1}); },
                   .oracle =
                       [](const Arrays& x) {
                         return fold_axes(x[0], {1}, false, [](const Line& l) {
                           return squares_of(l, mean_of(l)) / 6;
                         });
                       },
                   .units = 16,
                   .scale = 4});
  return cases;
}

Cases logsumexp_cases() {
  const auto fold = [](const Line& line) {
    long double sum = 0;
    for (const long double x : line) sum += std::exp(x);
    return std::log(sum);
  };
  return reductions("logsumexp", RUN(logsumexp), fold, {-2, 2}, 16, 4, floating);
}

Cases norm_cases() {
  const auto fold = [](const Line& line) { return std::sqrt(squares_of(line, 0)); };
  return reductions("norm", RUN(norm), fold, {0.25, 2}, 16, 8, floating);
}

}  // namespace sinter::tests
