#include <algorithm>

#include "runtime/ops.h"
#include "tests/op_cases.h"

namespace sinter::tests {
namespace {

using Tensors = std::vector<Tensor>;
using Arrays = std::vector<Array>;

std::int64_t whole(long double x) { return static_cast<std::int64_t>(x); }

Dims with(Dims index, int axis, std::int64_t place) {
  index[axis] = place;
  return index;
}

OpCase concatenate_case(const char* name, std::vector<Input> parts, int axis) {
  return {.name = name,
          .inputs = std::move(parts),
          .run = [axis](const Tensors& x) { return concatenate(x, axis); },
          .oracle =
              [axis](const Arrays& x) {
                Shape shape = x[0].shape;
                for (std::size_t i = 1; i < x.size(); ++i) shape[axis] += x[i].shape[axis];
                Array result(shape);
                std::int64_t start = 0;
                for (const Array& part : x) {
                  for_each(part.shape, [&](const Dims& index) {
                    result.at(with(index, axis, index[axis] + start)) = part.at(index);
                  });
                  start += part.shape[axis];
                }
                return result;
              },
          .units = 0,
          .dtypes = all_dtypes};
}

OpCase take_case(const char* name, const Shape& a, const Shape& indices, int axis) {
  const double last = static_cast<double>(a[axis] - 1);
  return {.name = name,
          .inputs = {{a}, {indices, {0, last}, Kind::index}},
          .run = [axis](const Tensors& x) { return take(x[0], x[1], axis); },
          .oracle =
              [axis](const Arrays& x) {
                Shape shape;
                for (int i = 0; i < axis; ++i) shape.push_back(x[0].shape[i]);
                for (const std::int64_t size : x[1].shape) shape.push_back(size);
                for (int i = axis + 1; i < x[0].shape.rank(); ++i) shape.push_back(x[0].shape[i]);
                return make_array(shape, [&](const Dims& index) {
                  Dims source, by;
                  const int added = x[1].shape.rank();
                  for (int i = 0; i < added; ++i) by.push_back(index[axis + i]);
                  for (int i = 0; i < axis; ++i) source.push_back(index[i]);
                  source.push_back(whole(x[1].at(by)));
                  for (int i = axis + added; i < index.rank(); ++i) source.push_back(index[i]);
                  return x[0].at(source);
                });
              },
          .units = 0,
          .dtypes = all_dtypes};
}

/// index_add and scatter_add: additions to input 0, input 1 says where, input 2 what.
OpCase add_case(const char* name, std::vector<Input> inputs, int axis, bool scatter) {
  return {.name = name,
          .inputs = std::move(inputs),
          .run =
              [axis, scatter](const Tensors& x) {
                return scatter ? scatter_add(x[0], axis, x[1], x[2])
                               : index_add(x[0], axis, x[1], x[2]);
              },
          .oracle =
              [axis, scatter](const Arrays& x) {
                Array result = x[0];
                for_each(x[2].shape, [&](const Dims& index) {
                  const Dims by = scatter ? index : Dims{index[axis]};
                  result.at(with(index, axis, whole(x[1].at(by)))) += x[2].at(index);
                });
                return result;
              },
          .units = 8,
          .scale = 20,
          .dtypes = {i32, i64, f16, bf16, f32, f64}};
}

OpCase sort_case(const char* name, const Shape& shape, int axis, bool descending, bool positions,
                 std::int64_t count) {
  const bool all = count == shape[axis];
  return {.name = name,
          .inputs = {{shape, {-4, 4}}},
          .run =
              [=](const Tensors& x) {
                const auto both =
                    all ? sort(x[0], axis, descending) : topk(x[0], count, axis, descending);
                return positions ? both.second : both.first;
              },
          .oracle =
              [=](const Arrays& x) {
                Array result(with(shape, axis, count));
                for_each(with(shape, axis, 1), [&](const Dims& line) {
                  std::vector<std::pair<long double, std::int64_t>> elements;
                  for (std::int64_t i = 0; i < shape[axis]; ++i) {
                    const long double element = x[0].at(with(line, axis, i));
                    elements.emplace_back(descending ? -element : element, i);
                  }
                  std::sort(elements.begin(), elements.end());
                  for (std::int64_t i = 0; i < count; ++i) {
                    const auto [key, place] = elements[static_cast<std::size_t>(i)];
                    result.at(with(line, axis, i)) =
                        positions ? static_cast<long double>(place) : (descending ? -key : key);
                  }
                });
                return result;
              },
          .units = 0,
          .dtypes = all_dtypes,
          .differentiable = !positions};
}

OpCase slice_update_case(const char* name, const Shape& a, const Shape& update, const Dims& starts,
                         const Dims& steps) {
  return {.name = name,
          .inputs = {{a}, {update}},
          .run = [=](const Tensors& x) { return slice_update(x[0], x[1], starts, steps); },
          .oracle =
              [=](const Arrays& x) {
                Array result = x[0];
                for_each(x[1].shape, [&](const Dims& index) {
                  Dims place = index;
                  for (int i = 0; i < index.rank(); ++i)
                    place[i] = starts[i] + index[i] * (steps.empty() ? 1 : steps[i]);
                  result.at(place) = x[1].at(index);
                });
                return result;
              },
          .units = 0,
          .dtypes = all_dtypes};
}

}  // namespace

Cases concatenate_cases() {
  return {concatenate_case("concatenate rows", {{{2, 3}}, {{1, 3}}, {{0, 3}}, {{4, 3}}}, 0),
          concatenate_case("concatenate columns", {{{5, 3}}, {{5, 8}}}, 1),
          concatenate_case("concatenate the middle", {{{2, 3, 4}}, {{2, 1, 4}}}, 1),
          concatenate_case("concatenate one", {{{3}}}, 0)};
}

Cases pad_cases() {
  return {{.name = "pad 3x4 with 2",
           .inputs = {{{3, 4}}},
           .run =
               [](const Tensors& x) {
                 return pad(x[0], {1, 0}, {2, 3}, 1);
               },
           .oracle =
               [](const Arrays& x) {
                 return make_array({6, 7}, [&](const Dims& index) {
                   const bool inside = index[0] >= 1 && index[0] < 4 && index[1] < 4;
                   return inside ? x[0].at({index[0] - 1, index[1]}) : 1.0L;
                 });
               },
           .units = 0,
           .dtypes = all_dtypes},
          {.name = "pad empty",
           .inputs = {{{0}}},
           .run = [](const Tensors& x) { return pad(x[0], {1}, {1}); },
           .oracle = [](const Arrays&) { return Array({2}); },
           .units = 0,
           .dtypes = all_dtypes}};
}

Cases slice_update_cases() {
  return {slice_update_case("slice_update a box", {4, 6}, {2, 3}, {1, 2}, {}),
          slice_update_case("slice_update by steps", {5, 7}, {3, 2}, {4, 1}, {-2, 3}),
          slice_update_case("slice_update nothing", {5}, {0}, {5}, {}),
          slice_update_case("slice_update all", {67}, {67}, {0}, {1})};
}

Cases take_cases() {
  return {take_case("take rows", {7, 5}, {4}, 0),
          take_case("take columns", {5, 7}, {9}, 1),
          take_case("take the middle by a matrix", {3, 5, 4}, {2, 3}, 1),
          take_case("take by a scalar", {3, 5}, {}, 0),
          take_case("take nothing", {3, 5}, {0}, 0),
          take_case("take long rows", {9, 67}, {33}, 0)};
}

Cases index_add_cases() {
  return {
      add_case("index_add rows", {{{5, 4}}, {{7}, {0, 4}, Kind::index}, {{7, 4}}}, 0, false),
      add_case("index_add columns", {{{3, 6}}, {{5}, {0, 5}, Kind::index}, {{3, 5}}}, 1, false),
      add_case("index_add long rows", {{{4, 67}}, {{9}, {0, 3}, Kind::index}, {{9, 67}}}, 0, false),
      add_case("index_add nothing", {{{5, 4}}, {{0}, {0, 4}, Kind::index}, {{0, 4}}}, 0, false)};
}

Cases gather_cases() {
  const auto gather_case = [](const char* name, const Shape& a, const Shape& indices, int axis) {
    const double last = static_cast<double>(a[axis] - 1);
    return OpCase{.name = name,
                  .inputs = {{a}, {indices, {0, last}, Kind::index}},
                  .run = [axis](const Tensors& x) { return gather(x[0], axis, x[1]); },
                  .oracle =
                      [axis](const Arrays& x) {
                        return make_array(x[1].shape, [&](const Dims& index) {
                          return x[0].at(with(index, axis, whole(x[1].at(index))));
                        });
                      },
                  .units = 0,
                  .dtypes = all_dtypes};
  };
  return {gather_case("gather rows", {5, 4}, {3, 4}, 0),
          gather_case("gather columns of fewer rows", {5, 4}, {3, 7}, 1),
          gather_case("gather the middle", {3, 5, 4}, {2, 6, 3}, 1),
          gather_case("gather nothing", {3, 5}, {3, 0}, 1)};
}

Cases scatter_add_cases() {
  return {
      add_case("scatter_add rows", {{{5, 4}}, {{6, 4}, {0, 4}, Kind::index}, {{6, 4}}}, 0, true),
      add_case("scatter_add columns of fewer rows",
               {{{5, 4}}, {{3, 7}, {0, 3}, Kind::index}, {{3, 7}}}, 1, true),
      add_case("scatter_add the middle",
               {{{3, 5, 4}}, {{2, 6, 3}, {0, 4}, Kind::index}, {{2, 6, 3}}}, 1, true)};
}

Cases cumsum_cases() {
  const auto cumsum_case = [](const char* name, const Shape& shape, int axis) {
    return OpCase{.name = name,
                  .inputs = {{shape}},
                  .run = [axis](const Tensors& x) { return cumsum(x[0], axis); },
                  .oracle =
                      [axis](const Arrays& x) {
                        Array result = x[0];
                        for_each(result.shape, [&](const Dims& index) {
                          if (index[axis] > 0)
                            result.at(index) += result.at(with(index, axis, index[axis] - 1));
                        });
                        return result;
                      },
                  .units = 67,
                  .scale = 20,
                  .dtypes = all_dtypes};
  };
  return {cumsum_case("cumsum rows", {5, 4}, 0), cumsum_case("cumsum columns", {3, 67}, 1),
          cumsum_case("cumsum the middle", {2, 5, 3}, 1), cumsum_case("cumsum nothing", {0, 3}, 0)};
}

Cases sort_cases() {
  return {sort_case("sort ascending", {3, 17}, 1, false, false, 17),
          sort_case("sort descending", {17, 3}, 0, true, false, 17),
          sort_case("sort positions", {3, 17}, 1, false, true, 17),
          sort_case("sort positions, descending", {2, 9, 3}, 1, true, true, 9)};
}

Cases topk_cases() {
  return {sort_case("topk largest", {3, 17}, 1, true, false, 4),
          sort_case("topk smallest", {17, 3}, 0, false, false, 5),
          sort_case("topk positions", {3, 17}, 1, true, true, 4),
          sort_case("topk of none", {3, 5}, 1, true, true, 0)};
}

}  // namespace sinter::tests
