// Every elementwise op of ops.def against its row of oracle.def: values over dtypes, layouts, sizes
// and levels, and gradients against differences of the oracle.
#include <doctest/doctest.h>

#include <array>
#include <cfloat>
#include <limits>

#include "runtime/ops.h"
#include "tests/op_case.h"
#include "tests/oracle_functions.h"

namespace sinter::tests {
namespace {

using Tensors = std::vector<Tensor>;
using Real3 = std::array<o::Real, 3>;
using Integer3 = std::array<o::Integer, 3>;

/// The row of an op: there is none, and no program, unless oracle.def gives one.
template <Op op>
struct RowOf;

/// Which rules have a meaning in the integers.
constexpr bool takes_integers(Rule rule) { return rule != Rule::floating; }
constexpr bool takes_reals(Rule rule) { return rule != Rule::bitwise; }

#define ROW(name, value, f32_ulp, f64_ulp, ...)                                                \
  template <>                                                                                  \
  struct RowOf<Op::name> {                                                                     \
    template <typename T>                                                                      \
    static T apply([[maybe_unused]] const std::array<T, 3>& x) {                               \
      [[maybe_unused]] const T a = x[0], b = x[1], c = x[2];                                   \
      return static_cast<T>(value);                                                            \
    }                                                                                          \
    static constexpr double ulps(DType compute) { return compute == f64 ? f64_ulp : f32_ulp; } \
    static std::vector<Range> ranges() { return {__VA_ARGS__}; }                               \
  };
#define ORACLE_UNARY(name, value, f32_ulp, f64_ulp, ...) \
  ROW(name, value, f32_ulp, f64_ulp, __VA_ARGS__)
#define ORACLE_BINARY(name, value, f32_ulp, f64_ulp, ...) \
  ROW(name, value, f32_ulp, f64_ulp, __VA_ARGS__)
#define ORACLE_TERNARY(name, value, f32_ulp, f64_ulp, ...) \
  ROW(name, value, f32_ulp, f64_ulp, __VA_ARGS__)
#include "tests/oracle.def"

/// Operand shapes: alike, broadcast, scalar, empty, odd sizes, a vector and a bit.
const std::vector<std::array<Shape, 3>> shapes = {{{{3, 5}, {3, 5}, {3, 5}}},
                                                  {{{3, 5}, {5}, {3, 1}}},
                                                  {{{3, 1}, {1, 5}, {}}},
                                                  {{{}, {7}, {7}}},
                                                  {{{67}, {67}, {1}}},
                                                  {{{0, 4}, {4}, {0, 4}}},
                                                  {{{}, {}, {}}},
                                                  {{{2, 1, 17}, {3, 1}, {2, 3, 1}}}};

Shape joined(const std::vector<Array>& operands) {
  Shape shape;
  for (const Array& operand : operands) shape = *broadcast(shape, operand.shape);
  return shape;
}

/// The oracle over all elements of operands that broadcast.
template <typename T>
Array over_elements(T (*apply)(const std::array<T, 3>&), const std::vector<Array>& operands) {
  return make_array(joined(operands), [&](const Dims& index) {
    std::array<T, 3> x{};
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Array& operand = operands[i];
      Dims own = operand.shape;
      for (int axis = 0; axis < own.rank(); ++axis)
        own[axis] = own[axis] == 1 ? 0 : index[axis + index.rank() - own.rank()];
      x[i] = static_cast<T>(operand.at(own));
    }
    return static_cast<long double>(apply(x));
  });
}

struct Rows {
  Op op;
  std::function<Tensor(const Tensors&)> run;
  std::function<Array(const std::vector<Array>&)> real, integer;  ///< empty: has no meaning there
  std::vector<Range> ranges;
  double f32_ulps, f64_ulps;
};

OpCase case_of(const Rows& row, const std::array<Shape, 3>& shape, DType dtype) {
  std::vector<Input> inputs;
  for (std::size_t i = 0; i < row.ranges.size(); ++i)
    inputs.push_back(
        {shape[i], row.ranges[i], row.op == Op::where && i == 0 ? Kind::truth : Kind::data});
  const bool in_reals = is_floating(dtype) || info(row.op).rule == Rule::floating;
  const Rule rule = info(row.op).rule;
  return {.name = std::string(to_string(row.op)),
          .inputs = inputs,
          .run = row.run,
          .oracle = in_reals ? row.real : row.integer,
          .units = 0,
          .dtypes = {dtype},
          .differentiable = is_floating(dtype) && rule != Rule::predicate && rule != Rule::bitwise,
          .ulps = dtype == f64 ? row.f64_ulps : row.f32_ulps};
}

/// PyTorch and NumPy refuse these too.
bool refused(Op op, DType dtype) {
  if (info(op).rule == Rule::bitwise) return is_floating(dtype);
  return dtype == boolean && (op == Op::neg || op == Op::sub);
}

void check_values(const Rows& row) {
  std::uint64_t seed = 1;
  for (const DType dtype : all_dtypes) {
    // ~true is false: bitwise_not of bool is held against logical_not below.
    if (refused(row.op, dtype) || (row.op == Op::bitwise_not && dtype == boolean)) continue;
    for (const auto& shape : shapes)
      for (const Layout layout : layouts)
        run_case(case_of(row, shape, dtype), row.op, dtype, layout, seed += 100);
  }
}

/// Zeros, denormals, the largest numbers, infinities, NaN, and where functions saturate.
Array special_values(const Shape& shape) {
  constexpr long double infinity = std::numeric_limits<long double>::infinity();
  Array values(shape);
  values.elements = {0.0L,     -0.0L,    1,         -1,           0.5L,   -0.5L, 2,
                     -2,       3,        1e-40L,    -1e-40L,      1e-30L, 1e30L, -1e30L,
                     0x1p24L,  1e4L,     -1e4L,     88.8L,        -104,   104,   FLT_MAX,
                     -FLT_MAX, infinity, -infinity, std::nanl("")};
  return values;
}
constexpr std::int64_t special_count = 25;

void check_special_values(const Rows& row) {
  if (!row.real) return;
  const std::array<Shape, 3> along{{{special_count, 1, 1}, {special_count, 1}, {special_count}}};
  for (const DType dtype : {f32, f64, f16, bf16}) {
    const OpCase one = case_of(row, along, dtype);
    Operands operands;
    for (std::size_t i = 0; i < one.inputs.size(); ++i) {
      operands.arrays.push_back(special_values(one.inputs[i].shape));
      const DType own = one.inputs[i].kind == Kind::truth ? boolean : dtype;
      operands.tensors.push_back(place(operands.arrays.back(), own, Layout::contiguous));
    }
    run_on(one, row.op, operands,
           one.name + " of special values in " + std::string(to_string(dtype)));
  }
}

void check_gradients(const Rows& row) {
  for (const DType dtype : {f64, f32})
    for (std::size_t i = 0; i < 3; ++i)
      for (OpCase& one : gradients_of({case_of(row, shapes[i], dtype)})) {
        one.units = 64;
        run_case(one, std::nullopt, dtype, Layout::contiguous, 7);
      }
}

template <Op op, Rule rule>
Rows row_of(std::function<Tensor(const Tensors&)> run) {
  using Row = RowOf<op>;
  Rows row{op, std::move(run), {}, {}, Row::ranges(), Row::ulps(f32), Row::ulps(f64)};
  if constexpr (takes_reals(rule))
    row.real = [](const std::vector<Array>& x) { return over_elements<o::Real>(Row::apply, x); };
  if constexpr (takes_integers(rule))
    row.integer = [](const std::vector<Array>& x) {
      return over_elements<o::Integer>(Row::apply, x);
    };
  return row;
}

}  // namespace

#define CHECK_ROW(check, name, rule, ...) \
  check(row_of<Op::name, Rule::rule>(     \
      []([[maybe_unused]] const Tensors& x) { return sinter::name(__VA_ARGS__); }))

#define SINTER_UNARY(name, rule, ...) \
  TEST_CASE("values of " #name) { CHECK_ROW(check_values, name, rule, x[0]); }
#define SINTER_BINARY(name, rule, ...) \
  TEST_CASE("values of " #name) { CHECK_ROW(check_values, name, rule, x[0], x[1]); }
#define SINTER_TERNARY(name, rule, ...) \
  TEST_CASE("values of " #name) { CHECK_ROW(check_values, name, rule, x[0], x[1], x[2]); }
#include "runtime/ops.def"

#define SINTER_UNARY(name, rule, ...) \
  TEST_CASE("special values of " #name) { CHECK_ROW(check_special_values, name, rule, x[0]); }
#define SINTER_BINARY(name, rule, ...) \
  TEST_CASE("special values of " #name) { CHECK_ROW(check_special_values, name, rule, x[0], x[1]); }
#define SINTER_TERNARY(name, rule, ...)                            \
  TEST_CASE("special values of " #name) {                          \
    CHECK_ROW(check_special_values, name, rule, x[0], x[1], x[2]); \
  }
#include "runtime/ops.def"

#define SINTER_UNARY(name, rule, ...) \
  TEST_CASE("gradients of " #name) { CHECK_ROW(check_gradients, name, rule, x[0]); }
#define SINTER_BINARY(name, rule, ...) \
  TEST_CASE("gradients of " #name) { CHECK_ROW(check_gradients, name, rule, x[0], x[1]); }
#define SINTER_TERNARY(name, rule, ...) \
  TEST_CASE("gradients of " #name) { CHECK_ROW(check_gradients, name, rule, x[0], x[1], x[2]); }
#include "runtime/ops.def"

TEST_CASE("bitwise_not of bool is logical_not") {
  const Tensor a = from_host(std::vector<bool>{true, false, true}, {3});
  CHECK(bitwise_not(a).to_host<int>() == std::vector<int>{0, 1, 0});
}

}  // namespace sinter::tests
