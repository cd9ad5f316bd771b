#include "kernels/foreach.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "kernels/elementwise.h"
#include "runtime/cpu/pool.h"
#include "tests/kernel_array.h"

namespace sinter::kernels {
namespace {

using tests::KernelArray;
using tests::Layout;

/// A body under construction: op() returns the number of the result.
struct Body {
  std::vector<DType> lists, shared;
  std::vector<ForeachNumber> numbers;
  std::vector<ForeachOp> steps;
  std::vector<int> results;

  int first_number() const { return static_cast<int>(lists.size() + shared.size()); }
  int number(double value, DType dtype = f32) {
    numbers.push_back({dtype, value, static_cast<std::int64_t>(value)});
    return first_number() + static_cast<int>(numbers.size()) - 1;
  }
  /// After the last number().
  int op(Op op, DType dtype, DType compute, int a, int b = -1, int c = -1) {
    steps.push_back({op, dtype, {a, b, c}, compute});
    return first_number() + static_cast<int>(numbers.size() + steps.size()) - 1;
  }
  int f(Op name, int a, int b = -1, int c = -1) { return op(name, f32, f32, a, b, c); }

  operator ForeachBody() const { return {lists, shared, numbers, steps, results}; }
};

/// The body one op after the other, each over whole tensors.
std::vector<KernelArray> one_by_one(const Body& body, const std::vector<KernelArray>& operands,
                                    const Shape& shape) {
  std::vector<KernelArray> values = operands;
  for (const ForeachNumber& number : body.numbers) {
    KernelArray& value = values.emplace_back(number.dtype, Shape{});
    if (is_floating(number.dtype)) value.set(0, number.real);
    else value.set(0, number.integer);
  }
  for (const ForeachOp& step : body.steps) {
    KernelArray result(step.dtype, shape);
    std::vector<ConstView> views;
    for (const int operand : step.operands)
      if (operand >= 0) views.push_back(values[static_cast<std::size_t>(operand)].expanded(shape));
    Fault fault;
    if (step.op == Op::cast) copy(views[0], result.view());
    else elementwise(step.op, step.compute, views, result.view(), fault);
    values.push_back(result);
  }
  std::vector<KernelArray> results;
  for (const int result : body.results) {
    const KernelArray& value = values[static_cast<std::size_t>(result)];
    copy(value.expanded(shape), results.emplace_back(value.dtype(), shape).view());
  }
  return results;
}

bool same(const KernelArray& a, const KernelArray& b) {
  for (std::int64_t i = 0; i < a.size(); ++i)
    if (a.bits(i) != b.bits(i)) return false;
  return a.size() == b.size();
}

/// Adam: parameter, gradient, both moments and a step count for each position.
Body adam(DType parameter, DType gradient) {
  Body body;
  body.lists = {parameter, gradient, f32, f32, i64};
  body.shared = {f32};  // the learning rate
  const int p = 0, g = 1, m = 2, v = 3, t = 4, rate = 5;
  const int beta1 = body.number(0.9), beta2 = body.number(0.999), one = body.number(1);
  const int rest1 = body.number(0.1), rest2 = body.number(0.001), epsilon = body.number(1e-8);
  const int whole = body.number(1, i64);
  const int next = body.op(Op::add, i64, i64, t, whole);
  const int count = body.op(Op::cast, f32, i64, next);
  const int grad = body.op(Op::cast, f32, compute_dtype(gradient), g);
  const int m_next = body.f(Op::add, body.f(Op::mul, m, beta1), body.f(Op::mul, grad, rest1));
  const int square = body.f(Op::mul, body.f(Op::mul, grad, grad), rest2);
  const int v_next = body.f(Op::add, body.f(Op::mul, v, beta2), square);
  const int scale1 = body.f(Op::sub, one, body.f(Op::pow, beta1, count));
  const int scale2 = body.f(Op::sub, one, body.f(Op::pow, beta2, count));
  const int root = body.f(Op::sqrt, body.f(Op::div, v_next, scale2));
  const int change =
      body.f(Op::div, body.f(Op::div, m_next, scale1), body.f(Op::add, root, epsilon));
  const int step = body.f(Op::mul, change, rate);
  const int wide = body.op(Op::cast, f32, compute_dtype(parameter), p);
  const int updated = body.f(Op::sub, wide, step);
  body.results = {body.op(Op::cast, parameter, f32, updated), m_next, v_next};
  return body;
}

/// The tensors of each list at each position, and the shared ones.
struct Tensors {
  std::vector<std::vector<KernelArray>> lists;
  std::vector<KernelArray> shared;
};

Tensors tensors_of(const Body& body, const std::vector<Shape>& shapes, Layout layout) {
  Tensors tensors;
  for (std::size_t l = 0; l < body.lists.size(); ++l) {
    auto& list = tensors.lists.emplace_back();
    for (const Shape& shape : shapes) {
      const bool count = body.lists[l] == i64;
      list.emplace_back(body.lists[l], count ? Shape{} : shape, count ? Layout::contiguous : layout)
          .fill([&](std::int64_t i) {
            return count ? 3.0
                         : static_cast<double>((i * 7 + static_cast<std::int64_t>(l)) % 13) / 8;
          });
    }
  }
  for (const DType dtype : body.shared) tensors.shared.emplace_back(dtype, Shape{}).set(0, 0.01);
  return tensors;
}

/// Runs the body; results that have the dtype of list `in_place[r]` take its memory.
std::vector<std::vector<KernelArray>> run(const Body& body, Tensors& tensors,
                                          const std::vector<Shape>& shapes,
                                          const std::vector<int>& in_place, Fault& fault) {
  const std::vector<DType> dtypes = [&] {
    std::vector<DType> all = body.lists;
    all.insert(all.end(), body.shared.begin(), body.shared.end());
    for (const auto& number : body.numbers) all.push_back(number.dtype);
    for (const auto& step : body.steps) all.push_back(step.dtype);
    return all;
  }();
  std::vector<ConstView> inputs;
  for (const auto& list : tensors.lists)
    for (const KernelArray& tensor : list) inputs.push_back(tensor.const_view());
  for (const KernelArray& tensor : tensors.shared) inputs.push_back(tensor.const_view());
  std::vector<std::vector<KernelArray>> results;
  for (const int result : body.results) {
    auto& list = results.emplace_back();
    for (const Shape& shape : shapes)
      list.emplace_back(dtypes[static_cast<std::size_t>(result)], shape);
  }
  std::vector<View> outputs;
  for (std::size_t r = 0; r < results.size(); ++r)
    for (std::size_t p = 0; p < shapes.size(); ++p) {
      const int list = r < in_place.size() ? in_place[r] : -1;
      outputs.push_back(list < 0 ? results[r][p].view()
                                 : tensors.lists[static_cast<std::size_t>(list)][p].view());
    }
  foreach_map(body, static_cast<std::int64_t>(shapes.size()), inputs, outputs, fault);
  for (std::size_t r = 0; r < in_place.size(); ++r)
    if (in_place[r] >= 0) results[r] = tensors.lists[static_cast<std::size_t>(in_place[r])];
  return results;
}

void check(const Body& body, const std::vector<Shape>& shapes, Layout layout,
           const std::vector<int>& in_place) {
  Tensors tensors = tensors_of(body, shapes, layout);
  std::vector<std::vector<KernelArray>> want;
  for (std::size_t p = 0; p < shapes.size(); ++p) {
    std::vector<KernelArray> operands;
    for (const auto& list : tensors.lists) operands.push_back(list[p]);
    operands.insert(operands.end(), tensors.shared.begin(), tensors.shared.end());
    want.push_back(one_by_one(body, operands, shapes[p]));
  }
  Fault fault;
  const auto got = run(body, tensors, shapes, in_place, fault);
  CHECK(!fault.set());
  for (std::size_t r = 0; r < got.size(); ++r)
    for (std::size_t p = 0; p < shapes.size(); ++p) {
      CAPTURE(r);
      CAPTURE(to_string(shapes[p]));
      CHECK(same(got[r][p], want[p][r]));
      CHECK(got[r][p].surroundings_intact());
    }
}

const std::vector<Shape> some_shapes = {{3},   {},    {1},   {0},     {17, 64}, {5, 7, 3},
                                        {511}, {512}, {513}, {40000}, {0, 4}};

TEST_CASE("foreach: Adam is what its ops one by one are, in place or not") {
  const int before = cpu::threads();
  for (const int threads : {1, 2}) {
    cpu::set_threads(threads);
    for (const auto& in_place : {std::vector<int>{}, std::vector<int>{0, 2, 3}})
      for (const DType gradient : {f32, bf16}) {
        check(adam(f32, gradient), some_shapes, Layout::contiguous, in_place);
        check(adam(bf16, gradient), some_shapes, Layout::contiguous, in_place);
      }
    for (const Layout layout :
         {Layout::unaligned, Layout::padded, Layout::strided, Layout::flipped, Layout::transposed})
      check(adam(f32, f32), some_shapes, layout, {});
  }
  cpu::set_threads(before);
}

TEST_CASE("foreach: a thousand tensors of up to 17 elements") {
  std::vector<Shape> shapes;
  for (std::int64_t i = 0; i < 1000; ++i) shapes.push_back({i % 18});
  check(adam(f32, f32), shapes, Layout::contiguous, {0, 2, 3});
}

TEST_CASE("foreach: results that swap, repeat or pass through their operands") {
  Body body;
  body.lists = {f32, f32};
  const int two = body.number(2);
  const int sum = body.f(Op::add, 0, 1), twice = body.f(Op::mul, 0, two);
  for (const std::vector<int>& results :
       {std::vector<int>{sum, twice}, {twice, sum}, {1, 0}, {sum, sum}, {1, sum}, {two, 0}}) {
    body.results = results;
    for (const auto& in_place :
         {std::vector<int>{}, std::vector<int>{0, 1}, std::vector<int>{1, 0}})
      check(body, {{700}, {3}, {}}, Layout::contiguous, in_place);
  }
}

TEST_CASE("foreach: dtypes mix as they do one by one") {
  Body body;
  body.lists = {bf16, i32, f64, u8};
  body.shared = {boolean};
  const int three = body.number(3, i32), big = body.number(1000, f16);
  const int positive = body.op(Op::greater, boolean, f32, 0, big);
  const int chosen = body.op(Op::where, bf16, f32, positive, 0, big);
  const int wrapped = body.op(Op::mul, u8, i64, 3, three);
  const int whole = body.op(Op::floor_divide, i32, i64, 1, three);
  const int wide = body.op(Op::add, f64, f64, body.op(Op::cast, f64, i64, whole), 2);
  const int masked = body.op(Op::where, f64, f64, 4, wide, 2);
  const int small = body.op(Op::cast, i32, f64, masked);
  body.results = {chosen, wrapped, whole, masked, small, positive};
  check(body, some_shapes, Layout::contiguous, {0, 3, 1, 2});
  check(body, some_shapes, Layout::strided, {});
}

TEST_CASE("foreach: tensors of one element each") {
  for (const auto& in_place : {std::vector<int>{}, std::vector<int>{0, 2, 3}}) {
    check(adam(f32, bf16), std::vector<Shape>(300, Shape{}), Layout::contiguous, in_place);
    check(adam(bf16, f32), {{1}, {1, 1}, {}}, Layout::strided, {});
  }
}

TEST_CASE("foreach: an integer division by zero is a fault") {
  Body body;
  body.lists = {i64, i64};
  body.results = {body.op(Op::remainder, i64, i64, 0, 1)};
  Tensors tensors = tensors_of(body, {}, Layout::contiguous);
  for (auto& list : tensors.lists)
    list.emplace_back(i64, Shape{3000}).fill([](std::int64_t i) { return i == 2000 ? 0 : 5; });
  Fault fault;
  const auto results = run(body, tensors, {{3000}}, {}, fault);
  CHECK((fault.set() && fault.position() == 2000));
  CHECK(results[0][0].get<int>(2000) == 0);
}

}  // namespace
}  // namespace sinter::kernels
