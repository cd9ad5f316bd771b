#include <array>
#include <cmath>

#include "runtime/grad.h"
#include "runtime/ops.h"
#include "runtime/variable.h"
#include "tests/op_cases.h"
#include "tests/oracle_functions.h"

namespace sinter::tests {
namespace {

using Tensors = std::vector<Tensor>;
using Arrays = std::vector<Array>;

Array same(const Arrays& x) { return x[0]; }

OpCase generator_case(const char* name, const Shape& shape, const std::function<Tensor(DType)>& run,
                      const std::function<long double(const Dims&)>& element,
                      const std::vector<DType>& dtypes) {
  return {.name = name,
          .inputs = {{{}}},  // gives the dtype
          .run = [run](const Tensors& x) { return run(x[0].dtype()); },
          .oracle = [=](const Arrays&) { return make_array(shape, element); },
          .units = 0,
          .dtypes = dtypes,
          .differentiable = false};
}

/// Word `number` of block `block`: Philox4x32-10 from its paper, in plain 64-bit arithmetic.
std::uint32_t philox_word(std::uint64_t seed, std::uint64_t ordinal, std::uint64_t block,
                          std::uint64_t number) {
  constexpr std::uint64_t low = 0xffffffff;
  std::array<std::uint64_t, 4> x{block & low, block >> 32, ordinal & low, ordinal >> 32};
  std::uint64_t key0 = seed & low, key1 = seed >> 32;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p = 0xD2511F53 * x[0], q = 0xCD9E8D57 * x[2];
    x = {(q >> 32) ^ x[1] ^ key0, q & low, (p >> 32) ^ x[3] ^ key1, p & low};
    key0 = (key0 + 0x9E3779B9) & low;
    key1 = (key1 + 0xBB67AE85) & low;
  }
  return static_cast<std::uint32_t>(x[number]);
}

constexpr std::uint64_t test_seed = 0x123456789abcdef, test_ordinal = 5000000000;

/// The generator of all draws here, before its next one.
Generator& test_generator() {
  static Generator generator;
  generator.set_state(test_seed, test_ordinal);
  return generator;
}

/// Element `element` of the draw `later` after the test's own, as integers.
std::uint64_t bits_draw(std::uint64_t element, std::uint64_t later = 0) {
  const std::uint64_t block = element / 2, first = element % 2 * 2, ordinal = test_ordinal + later;
  const std::uint64_t high = philox_word(test_seed, ordinal, block, first + 1);
  return high << 32 | philox_word(test_seed, ordinal, block, first);
}

/// In [0, 1), by 53 of those bits.
long double unit_draw(std::uint64_t element, std::uint64_t later = 0) {
  return static_cast<long double>(bits_draw(element, later) >> 11) * 0x1p-53L;
}

long double uniform_draw(std::uint64_t element) {
  const std::uint32_t word = philox_word(test_seed, test_ordinal, element / 4, element % 4);
  return static_cast<long double>(word >> 8) * 0x1p-24L;
}

/// By Box and Muller.
long double normal_draw(std::uint64_t element) {
  const std::uint64_t first = element / 2 * 2;
  const long double u = uniform_draw(first) + 0x1p-24L, v = uniform_draw(first + 1);
  const long double r = std::sqrt(-2 * std::log(u)), t = 2 * o::pi * v;
  return r * (element % 2 == 0 ? std::cos(t) : std::sin(t));
}

std::uint64_t position(const Dims& index, const Shape& shape) {
  std::int64_t result = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) result = result * shape[axis] + index[axis];
  return static_cast<std::uint64_t>(result);
}

const std::vector<DType> floating = {f16, bf16, f32, f64};
const std::vector<DType> numbers = {u8, i32, i64, f16, bf16, f32, f64};

}  // namespace

Cases leaf_cases() {
  const auto leaf_case = [](const char* name, const Shape& shape) {
    return OpCase{.name = name,
                  .inputs = {{shape}},
                  .run = [](const Tensors& x) { return x[0]; },
                  .oracle = same,
                  .units = 0,
                  .dtypes = all_dtypes};
  };
  return {leaf_case("data 3x5", {3, 5}), leaf_case("data scalar", {}),
          leaf_case("data empty", {0})};
}

Cases variable_cases() {
  return {{.name = "variable",
           .inputs = {{{3, 5}}},
           .run = [](const Tensors& x) { return Variable(x[0]).value(); },
           .oracle = same,
           .units = 0,
           .dtypes = all_dtypes,
           .differentiable = false}};
}

Cases constant_cases() {
  return {generator_case(
              "full of 1", {3, 5},
              [](DType dtype) {
                return full({3, 5}, 1, dtype);
              },
              [](const Dims&) { return 1.0L; }, all_dtypes),
          generator_case(
              "full of a third", {7}, [](DType dtype) { return full({7}, 1.0 / 3, dtype); },
              [](const Dims&) { return 1.0L / 3; }, floating),
          generator_case(
              "full of 200", {}, [](DType dtype) { return full_integer({}, 200, dtype); },
              [](const Dims&) { return 200.0L; }, numbers)};
}

Cases arange_cases() {
  return {generator_case(
              "arange by 3", {4}, [](DType dtype) { return arange(2, 12, 3, dtype); },
              [](const Dims& i) { return 2.0L + 3 * static_cast<long double>(i[0]); }, numbers),
          generator_case(
              "arange downwards by halves", {5},
              [](DType dtype) { return arange(1, -1.25, -0.5, dtype); },
              [](const Dims& i) { return 1 - static_cast<long double>(i[0]) / 2; }, floating),
          generator_case(
              "arange of nothing", {0}, [](DType dtype) { return arange(3, 3, 1, dtype); },
              [](const Dims&) { return 0.0L; }, numbers)};
}

Cases random_uniform_cases() {
  const Shape shape{3, 67};
  return {generator_case(
      "uniform", shape, [=](DType dtype) { return uniform(shape, test_generator(), 0, 1, dtype); },
      [=](const Dims& i) { return uniform_draw(position(i, shape)); }, {f32})};
}

Cases random_normal_cases() {
  const Shape shape{3, 67};
  OpCase one = generator_case(
      "normal", shape, [=](DType dtype) { return normal(shape, test_generator(), 0, 1, dtype); },
      [=](const Dims& i) { return normal_draw(position(i, shape)); }, {f32});
  // The angle is rounded to f32 before its sine is taken.
  one.units = 16;
  return {one};
}

Cases random_bits_cases() {
  const Shape shape{5, 33};
  OpCase normals = generator_case(
      "normal in f64", shape,
      [=](DType dtype) { return normal(shape, test_generator(), 0, 1, dtype); },
      [=](const Dims& i) {
        const std::uint64_t element = position(i, shape);
        const long double u = unit_draw(element) + 0x1p-53L, v = unit_draw(element, 1);
        return std::sqrt(-2 * std::log(u)) * std::cos(2 * o::pi * v);
      },
      {f64});
  normals.units = 16;
  return {generator_case(
              "uniform in f64", shape,
              [=](DType dtype) { return uniform(shape, test_generator(), 0, 1, dtype); },
              [=](const Dims& i) { return unit_draw(position(i, shape)); }, {f64}),
          normals,
          generator_case(
              "integers below 2^40", shape,
              [=](DType dtype) {
                return random_integers(shape, 0, std::int64_t{1} << 40, test_generator(), dtype);
              },
              [=](const Dims& i) {
                return static_cast<long double>(bits_draw(position(i, shape)) &
                                                ((std::uint64_t{1} << 40) - 1));
              },
              {i64})};
}

Cases dropout_cases() {
  return {{.name = "dropout",
           .inputs = {{{3, 67}}},
           .run = [](const Tensors& x) { return dropout(x[0], 0.25, test_generator()); },
           .oracle =
               [](const Arrays& x) {
                 return make_array(x[0].shape, [&](const Dims& index) {
                   const bool kept = uniform_draw(position(index, x[0].shape)) >= 0.25L;
                   return kept ? x[0].at(index) / 0.75L : 0.0L;
                 });
               },
           .units = 2}};
}

Cases cast_cases() {
  Cases cases;
  for (const DType to : all_dtypes) {
    // To its own dtype nothing is recorded.
    std::vector<DType> others;
    for (const DType from : all_dtypes)
      if (from != to) others.push_back(from);
    cases.push_back({.name = std::string("cast to ").append(to_string(to)),
                     // What every dtype can hold after truncation.
                     .inputs = {{{3, 67}, {0, 3}}},
                     .run = [to](const Tensors& x) { return cast(x[0], to); },
                     .oracle =
                         [to](const Arrays& x) {
                           return make_array(x[0].shape, [&](const Dims& index) {
                             const long double element = x[0].at(index);
                             if (to == boolean) return element != 0 ? 1.0L : 0.0L;
                             return is_floating(to) ? element : std::trunc(element);
                           });
                         },
                     .units = 0,
                     .dtypes = others,
                     .differentiable = to == f64});
  }
  return cases;
}

Cases custom_gradient_cases() {
  return {{.name = "custom_gradient",
           .inputs = {{{3, 5}}},
           .run =
               [](const Tensors& x) {
                 return custom_gradient([](const Tensors& in) { return in[0] * in[0]; },
                                        [](const Tensors& in, const Tensor&, const Tensor& g) {
                                          return Tensors{g * in[0] * 2.0};
                                        },
                                        {x[0]});
               },
           .oracle =
               [](const Arrays& x) {
                 return make_array(x[0].shape,
                                   [&](const Dims& i) { return x[0].at(i) * x[0].at(i); });
               },
           .units = 0}};
}

Cases foreach_map_cases() {
  const auto joined = [](const Tensors& parts) {
    Tensors flat;
    for (const Tensor& part : parts) flat.push_back(flatten(part));
    return concatenate(flat);
  };
  return {{.name = "foreach_map",
           .inputs = {{{3, 5}}, {{4}}, {{3, 5}}, {{4}}, {{}}},
           .run =
               [joined](const Tensors& x) {
                 const Tensor& shared = x[4];
                 const auto body = [&](const Tensors& of) {
                   const Tensor product = of[0] * of[1];
                   return Tensors{product + shared, where(of[0] < of[1], product, 0.5)};
                 };
                 const auto all = foreach_map(body, {{x[0], x[1]}, {x[2], x[3]}});
                 return joined({all[0][0], all[0][1], all[1][0], all[1][1]});
               },
           .oracle =
               [](const Arrays& x) {
                 Array result({38});
                 std::size_t next = 0;
                 for (const bool first : {true, false})
                   for (const std::size_t list : {0, 1})
                     for (std::size_t i = 0; i < x[list].elements.size(); ++i) {
                       const long double a = x[list].elements[i], b = x[list + 2].elements[i];
                       result.elements[next++] =
                           first ? a * b + x[4].elements[0] : (a < b ? a * b : 0.5L);
                     }
                 return result;
               },
           .units = 2,
           .scale = 8,
           .differentiable = false,
           .roundings = 1}};
}

Cases pick_cases() { return sort_cases(); }

}  // namespace sinter::tests
