// The dtype of a result for every pair of dtypes, against PyTorch's (golden/promotion.json).

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <locale>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/each_level.h"

namespace sinter::tests {
namespace {

using Binary = Tensor (*)(Operand, Operand, Where);

const std::map<std::string, Binary> ops{
    {"add", add},
    {"sub", sub},
    {"mul", mul},
    {"div", div},
    {"floor_divide", floor_divide},
    {"remainder", remainder},
    {"pow", pow},
    {"maximum", maximum},
    {"atan2", atan2},
    {"less", less},
    {"equal", sinter::equal},
    {"bitwise_and", bitwise_and},
    {"logical_and", logical_and},
};

nlohmann::json golden() {
  return nlohmann::json::parse(std::ifstream("tests/golden/promotion.json"));
}

DType dtype_named(const std::string& name) {
  for (const DType dtype : {boolean, u8, i32, i64, f16, bf16, f32, f64})
    if (to_string(dtype) == name) return dtype;
  FAIL("no dtype is called " << name);
  return f32;
}

/// An operand of a kind: a tensor of one axis, of none, or a host number.
Operand operand(const std::string& kind, const std::string& dtype) {
  if (kind == "tensor") return ones({2}, dtype_named(dtype));
  if (kind == "zero_dim") return ones({}, dtype_named(dtype));
  if (dtype == "bool") return true;
  if (dtype == "i64") return 1;
  return 1.0;
}

/// A number in punctuation that no parser of numbers expects.
struct Punctuation : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

}  // namespace

TEST_CASE("every pair of dtypes and kinds of operand promotes as in PyTorch") {
  const nlohmann::json table = golden();
  int compared = 0;
  for (const auto& [name, op] : ops) {
    const auto& by_kind = table.at("binary").at(name);
    for (const auto& [left_kind, by_right] : by_kind.items()) {
      for (const auto& [right_kind, rows] : by_right.items()) {
        const auto& columns = table.at(right_kind == "scalar" ? "scalars" : "dtypes");
        for (const auto& [left, row] : rows.items()) {
          for (std::size_t i = 0; i < row.size(); ++i) {
            if (row[i].is_null()) continue;
            const std::string right = columns[i];
            const std::string what =
                fmt::format("{} of {} {} and {} {}", name, left_kind, left, right_kind, right);
            CAPTURE(what);
            const Tensor result =
                op(operand(left_kind, left), operand(right_kind, right), Where::current());
            CHECK(to_string(result.dtype()) == row[i].get<std::string>());
            ++compared;
          }
        }
      }
    }
  }
  CHECK(compared > 1000);
}

TEST_CASE("values of mixed dtypes, alone and inside of longer expressions") {
  at_each_level([] {
    const Tensor singles = floats({1.5f, 2.5f}), whole = from_host(std::vector<int>{3, 4}, {2});
    const Tensor truth = from_host(std::vector<bool>{true, false}, {2});
    const Tensor bytes = full_integer({2}, 200, u8), halves = full({2}, 2, bf16);
    struct Mixed {
      Tensor result;
      DType dtype;
      std::vector<double> values;
    };
    for (int call = 0; call < 2; ++call)
      for (const auto& [result, dtype, values] : std::initializer_list<Mixed>{
               {singles * 2.0, f32, {3, 5}},
               {singles * full({}, 2, f64), f32, {3, 5}},
               {whole * 2.5, f32, {7.5, 10}},
               {truth + truth, boolean, {1, 0}},
               {whole / whole, f32, {1, 1}},
               {whole / 2, f32, {1.5, 2}},
               {bytes + full_integer({2}, 100, u8), u8, {44, 44}},
               {sum(truth), i64, {1}},
               {halves + full({}, 0.5), bf16, {2.5, 2.5}},
               {exp(whole * 0) + (singles * 2.0 - singles), f32, {2.5, 3.5}},
               {where(truth, whole, 0.5), f32, {3, 0.5}},
               {(bytes + full_integer({2}, 100, u8)) * 2 + 1, u8, {89, 89}},
               {(halves + full({}, 0.5)) * full({}, 2, f64) + whole, bf16, {8, 9}}}) {
        CHECK(to_string(result.dtype()) == to_string(dtype));
        CHECK(result.to_host<double>() == values);
      }
  });
}

TEST_CASE("unsigned host numbers are integers, and doubles where no integer holds them") {
  at_each_level([] {
    const Tensor whole = from_host(std::vector<std::int64_t>{3, -4}, {2});
    const Tensor scaled = whole * std::size_t{5}, shifted = 2u + whole;
    CHECK(scaled.dtype() == i64);
    CHECK(scaled.to_host<std::int64_t>() == Integers{15, -20});
    CHECK(shifted.to_host<std::int64_t>() == Integers{5, -2});
    const Tensor large = whole * UINT64_MAX;
    CHECK(large.dtype() == f32);
    CHECK(large.to_host<float>()[0] == 3 * 0x1p64f);
  });
}

TEST_CASE("a host number is the number itself, whatever the locale prints") {
  const std::locale previous = std::locale::global(std::locale(std::locale(), new Punctuation));
  at_each_level([] {
    const Tensor x = floats(Floats(1234, 3));
    for (const double s :
         {1.0 / 3, std::sqrt(1.0 / 128), 0.70710678, 0.1, -0.0,
          static_cast<double>(std::numeric_limits<float>::max()), 1e-45, std::nextafter(1.0, 2.0),
          std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
          std::numeric_limits<double>::quiet_NaN()}) {
      CAPTURE(s);
      for (const DType dtype : {f32, f64, bf16}) {
        const Tensor wide = cast(x, dtype);
        const auto by_number = (wide * s).to_host<double>();
        const auto by_tensor = (wide * full({}, s, dtype)).to_host<double>();
        CHECK(std::equal(
            by_number.begin(), by_number.end(), by_tensor.begin(), [](double a, double b) {
              return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
                     (std::isnan(a) && std::isnan(b));
            }));
      }
    }
    const Tensor wide = ones({1}, f64) * std::nextafter(1.0, 2.0);
    CHECK(wide.item<double>() == std::nextafter(1.0, 2.0));
    CHECK(std::signbit((ones({1}) * -0.0).item<float>()));
    CHECK((ones({1}, i64) * INT64_MIN).item<std::int64_t>() == INT64_MIN);
    for (const std::int64_t n : {1000, 12345, 1234567})  // sizes that a locale would group
      CHECK(sum(zeros({n}) + 0.5).item<double>() == 0.5 * static_cast<double>(n));
    CHECK(contains(usage_message([] { zeros({1234}) + zeros({5}); }), "[1234]"));
  });
  std::locale::global(previous);
}

}  // namespace sinter::tests
