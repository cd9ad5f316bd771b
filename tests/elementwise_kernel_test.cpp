#include "kernels/elementwise.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "runtime/cpu/pool.h"
#include "runtime/cpu/probe.h"
#include "tests/kernel_array.h"

namespace sinter::kernels {
namespace {

using tests::all_dtypes;
using tests::all_layouts;
using tests::KernelArray;
using tests::Layout;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

template <typename... Inputs>
void run(Op op, KernelArray& out, const Inputs&... inputs) {
  const std::array<ConstView, sizeof...(Inputs)> views = {inputs.expanded(out.shape())...};
  Fault fault;
  elementwise(op, compute_dtype(views.back().dtype), views, out.view(), fault);
  CHECK(!fault.set());
}

KernelArray f32_array(const std::vector<float>& values) {
  KernelArray array(f32, {static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i)
    array.set(static_cast<std::int64_t>(i), values[i]);
  return array;
}

/// a + b where a has `shape` and b broadcasts to it, against one addition an element.
void check_add(DType dtype, const Shape& shape, const Shape& b_shape, Layout layout) {
  KernelArray a(dtype, shape, layout), b(dtype, b_shape, layout), out(dtype, shape, layout);
  a.fill([](std::int64_t i) { return i * 37 % 101; });
  b.fill([](std::int64_t i) { return i * 5 % 23 + 1; });
  run(Op::add, out, a, b);
  KernelArray wide_b(dtype, shape), want(dtype, shape);
  copy(b.expanded(shape), wide_b.view());
  for (std::int64_t i = 0; i < want.size(); ++i)
    want.set(i, a.get<std::int64_t>(i) + wide_b.get<std::int64_t>(i));
  CHECK(out.values<double>() == want.values<double>());
  CHECK(out.surroundings_intact());
}

TEST_CASE("elementwise: every dtype, layout and way to broadcast") {
  const std::vector<std::array<Shape, 2>> shapes = {
      {Shape{}, Shape{}},
      {Shape{1}, Shape{}},
      {Shape{0, 4}, Shape{4}},
      {Shape{33}, Shape{33}},
      {Shape{33}, Shape{}},
      {Shape{3, 5, 7}, Shape{7}},
      {Shape{3, 5, 7}, Shape{5, 1}},
      {Shape{3, 5, 7}, Shape{3, 1, 7}},
      {Shape{4, 300}, Shape{300}},
      {Shape{4, 300}, Shape{4, 1}},
      {Shape{2, 1500}, Shape{1500}},
      {Shape{3, 2, 2}, Shape{2, 1}},
  };
  for (const DType dtype : all_dtypes)
    for (const Layout layout : all_layouts)
      for (const auto& [shape, b_shape] : shapes) {
        CAPTURE(to_string(dtype));
        CAPTURE(static_cast<int>(layout));
        CAPTURE(to_string(shape));
        CAPTURE(to_string(b_shape));
        check_add(dtype, shape, b_shape, layout);
      }
}

TEST_CASE("elementwise: every length up to 67 leaves what lies behind alone") {
  for (std::int64_t n = 1; n <= 67; ++n)
    for (const DType dtype : {f32, bf16, f64, i32, i64}) {
      CAPTURE(n);
      KernelArray a(dtype, {n}), product(dtype, {n}), less(boolean, {n}), chosen(dtype, {n});
      a.fill([](std::int64_t i) { return i % 11 - 5; });
      KernelArray limit(dtype, {});
      limit.set(0, 6);
      run(Op::mul, product, a, a);
      run(Op::less, less, product, limit);
      run(Op::where, chosen, less, a, product);
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t x = i % 11 - 5;
        CHECK(chosen.get<std::int64_t>(i) == (x * x < 6 ? x : x * x));
      }
      CHECK((product.surroundings_intact() && less.surroundings_intact()));
      CHECK(chosen.surroundings_intact());
    }
}

TEST_CASE("elementwise: NaN passes through at every position") {
  for (const std::int64_t n : {1, 3, 7, 8, 9, 15, 16, 17, 33})
    for (std::int64_t p = 0; p < n; ++p) {
      KernelArray a(f32, {n}), one(f32, {}), out(f32, {n});
      a.fill([&](std::int64_t i) { return i == p ? nan : static_cast<float>(i); });
      one.set(0, 1.0f);
      const auto check = [&](auto... inputs) {
        for (const Op op : {Op::maximum, Op::minimum}) {
          run(op, out, inputs...);
          for (std::int64_t i = 0; i < n; ++i) CHECK(std::isnan(out.get<float>(i)) == (i == p));
        }
      };
      check(a, one);
      check(one, a);
      run(Op::relu, out, a);
      for (std::int64_t i = 0; i < n; ++i) CHECK(std::isnan(out.get<float>(i)) == (i == p));
    }
}

TEST_CASE("elementwise: predicates give bool from every compute type") {
  KernelArray a = f32_array({nan, 1, -INFINITY, 0}), out(boolean, {4});
  run(Op::isnan, out, a);
  CHECK(out.values<int>() == std::vector<int>{1, 0, 0, 0});
  run(Op::isinf, out, a);
  CHECK(out.values<int>() == std::vector<int>{0, 0, 1, 0});
  run(Op::logical_not, out, a);
  CHECK(out.values<int>() == std::vector<int>{0, 0, 0, 1});
  run(Op::not_equal, out, a, a);
  CHECK(out.values<int>() == std::vector<int>{1, 0, 0, 0});
  KernelArray whole(i64, {4});
  whole.fill([](std::int64_t i) { return i - 1; });
  run(Op::logical_and, out, whole, whole);
  CHECK(out.values<int>() == std::vector<int>{1, 0, 1, 1});
}

TEST_CASE("elementwise: the output may be the memory of an input") {
  for (const DType dtype : {f32, bf16, i32, f64})
    for (const Layout layout : all_layouts) {
      KernelArray a(dtype, {5, 307}, layout), b(dtype, {307});
      a.fill([](std::int64_t i) { return i % 50; });
      b.fill([](std::int64_t i) { return i % 40; });
      run(Op::add, a, a, b);
      for (std::int64_t i = 0; i < a.size(); ++i)
        CHECK(a.get<std::int64_t>(i) == i % 50 + i % 307 % 40);
      CHECK(a.surroundings_intact());
    }
}

TEST_CASE("elementwise: no contraction to fma") {
  KernelArray a = f32_array({-0.25f}), b = f32_array({0.75f}), c = f32_array({0.25f});
  KernelArray quotient(f32, {1}), product(f32, {1}), sum(f32, {1}), root(f32, {1});
  run(Op::div, quotient, a, b);
  run(Op::mul, product, quotient, b);
  run(Op::add, sum, product, c);
  run(Op::sqrt, root, sum);
  CHECK(root.get<float>(0) == 0.0f);
}

TEST_CASE("elementwise: bf16 rounds at every node") {
  KernelArray a(bf16, {1}), b(bf16, {1}), sum(bf16, {1}), same(boolean, {1});
  a.set(0, 256);
  b.set(0, 1);
  run(Op::add, sum, a, b);
  run(Op::equal, same, sum, a);
  CHECK(same.get<int>(0) == 1);
}

TEST_CASE("elementwise: integers wrap") {
  KernelArray x(i32, {2}), two(i32, {}), one(i32, {}), y(i32, {2}), above(boolean, {2});
  x.fill([](std::int64_t i) { return i == 0 ? INT32_MAX : INT32_MIN; });
  two.set(0, 2);
  one.set(0, 1);
  run(Op::mul, y, x, two);
  run(Op::floor_divide, y, y, two);
  CHECK(y.get<int>(0) == -1);
  run(Op::add, y, x, one);
  run(Op::greater, above, y, x);
  CHECK(above.values<int>() == std::vector<int>{0, 1});
  KernelArray minus(i32, {});
  minus.set(0, -1);
  run(Op::floor_divide, y, x, minus);
  CHECK(y.get<int>(1) == INT32_MIN);
  KernelArray wide(i64, {1}), minus_wide(i64, {});
  wide.set(0, INT64_MIN);
  minus_wide.set(0, -1);
  for (const Op op : {Op::floor_divide, Op::remainder, Op::fmod}) {
    KernelArray out(i64, {1});
    run(op, out, wide, minus_wide);
    CHECK(out.get<std::int64_t>(0) == (op == Op::floor_divide ? INT64_MIN : 0));
  }
  KernelArray bytes(u8, {1}), hundred(u8, {});
  bytes.set(0, 200);
  hundred.set(0, 100);
  run(Op::add, bytes, bytes, hundred);
  CHECK(bytes.get<int>(0) == 44);
}

/// Runs op over `n` integers with bad divisors at the positions from `first_bad` on, every 1000.
void check_fault(Op op, DType dtype, std::int64_t n, std::int64_t first_bad, bool in_place) {
  KernelArray a(dtype, {n}), b(dtype, {n}), fresh(dtype, {n});
  const auto is_bad = [&](std::int64_t i) { return i >= first_bad && (i - first_bad) % 1000 == 0; };
  a.fill([](std::int64_t i) { return i % 90 + 2; });
  b.fill([&](std::int64_t i) { return is_bad(i) ? (op == Op::pow ? -2 : 0) : 1; });
  KernelArray& out = in_place ? b : fresh;
  const std::array<ConstView, 2> views = {a.const_view(), b.const_view()};
  Fault fault;
  elementwise(op, i64, views, out.view(), fault);
  REQUIRE(fault.set());
  CHECK(fault.kind() == FaultKind::division_by_zero);
  CHECK(fault.position() == first_bad);
  CHECK(fault.value() == (op == Op::pow ? -2 : 0));
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t good = op == Op::floor_divide || op == Op::pow ? i % 90 + 2 : 0;
    CHECK(out.get<std::int64_t>(i) == (is_bad(i) ? 0 : good));
  }
}

TEST_CASE("elementwise: integer division by zero is a fault at the lowest position") {
  for (const Op op : {Op::floor_divide, Op::remainder, Op::fmod, Op::pow})
    for (const DType dtype : {i32, i64})
      for (const bool in_place : {false, true}) {
        check_fault(op, dtype, 1, 0, in_place);
        check_fault(op, dtype, 67, 66, in_place);
        check_fault(op, dtype, 100000, 1234, in_place);
      }
  KernelArray a(i64, {}), zero(i64, {});
  a.set(0, 5);
  zero.set(0, 0);
  const std::array<ConstView, 2> views = {a.const_view(), zero.const_view()};
  KernelArray out(i64, {});
  Fault fault;
  elementwise(Op::floor_divide, i64, views, out.view(), fault);
  CHECK((fault.set() && out.get<int>(0) == 0));
}

/// Bits of the result of every op in `compute` over `n` values, all NaNs made one.
std::vector<std::uint64_t> all_ops(DType compute, std::int64_t n) {
  std::mt19937_64 random(static_cast<std::uint64_t>(n));
  std::array<KernelArray, 3> in = {KernelArray(compute, {n}), KernelArray(compute, {n}),
                                   KernelArray(compute, {n})};
  for (KernelArray& array : in)
    array.fill([&](std::int64_t) {
      const double x = static_cast<double>(random() % 2000) / 100.0 - 10.0;
      return compute == i64 ? x : x * x * x / 20.0;
    });
  std::vector<std::uint64_t> bits;
  for (int i = 0; i < op_count; ++i) {
    const Op op = static_cast<Op>(i);
    const OpInfo& about = info(op);
    if (about.kind != OpKind::elementwise) continue;
    if (compute == i64 ? about.rule == Rule::floating : about.rule == Rule::bitwise) continue;
    std::vector<ConstView> views;
    for (int k = 0; k < about.arity; ++k)
      views.push_back(in[static_cast<std::size_t>(k)].const_view());
    KernelArray out(about.rule == Rule::predicate ? boolean : compute, {n});
    Fault fault;
    elementwise(op, compute, views, out.view(), fault);
    CHECK(out.surroundings_intact());
    for (std::int64_t p = 0; p < n; ++p)
      bits.push_back(std::isnan(out.get<double>(p)) ? 1 : out.bits(p));
  }
  return bits;
}

TEST_CASE("elementwise: the same bits from every instruction set") {
  const cpu::InstructionSet before = cpu::instruction_set();
  for (const DType compute : {f32, f64, i64})
    for (const std::int64_t n : {1, 2, 15, 16, 17, 31, 33, 67, 2000}) {
      CAPTURE(n);
      cpu::set_instruction_set(cpu::InstructionSet::portable);
      const auto want = all_ops(compute, n);
      for (const auto set : {cpu::InstructionSet::avx2, cpu::InstructionSet::avx512}) {
        if (set > cpu::processor().best) continue;
        cpu::set_instruction_set(set);
        CHECK(all_ops(compute, n) == want);
      }
      cpu::set_instruction_set(before);
    }
}

TEST_CASE("elementwise: the same bits at every thread count") {
  const int before = cpu::threads();
  for (const DType compute : {f32, i64}) {
    cpu::set_threads(1);
    const auto want = all_ops(compute, 100003);
    cpu::set_threads(2);
    CHECK(all_ops(compute, 100003) == want);
  }
  cpu::set_threads(before);
}

}  // namespace
}  // namespace sinter::kernels
