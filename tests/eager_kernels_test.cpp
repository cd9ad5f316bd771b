// Every kernel of the level eager that is not of the library class gives the interpreter's bits.

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "jit/eager.h"
#include "jit/interpret.h"
#include "runtime/attributes.h"
#include "runtime/elementwise.h"
#include "runtime/foreach.h"
#include "runtime/results.h"
#include "tests/kernel_array.h"

namespace sinter::jit {
namespace {

using tests::all_dtypes;
using tests::KernelArray;
using tests::Layout;

/// A node on stand-ins for `inputs`.
NodeRef node_on(const std::vector<KernelArray>& inputs, NodeSpec spec) {
  std::vector<NodeRef> leaves;
  for (const KernelArray& input : inputs)
    leaves.push_back(
        record_leaf(Op::data, input.dtype(), input.shape(), {}, {}, false, Where::current()));
  spec.inputs = leaves;
  spec.differentiable = false;
  return record(spec);
}

std::vector<KernelArray> run(StepFunction function, const Node& node,
                             const std::vector<KernelArray>& inputs, kernels::Fault& fault) {
  std::vector<kernels::ConstView> from;
  for (const KernelArray& input : inputs) from.push_back(input.const_view());
  std::vector<KernelArray> outputs;
  for (std::size_t i = 0; i < result_count(node); ++i) {
    const Result result = result_of(node, i);
    outputs.emplace_back(result.dtype, result.shape);
  }
  std::vector<kernels::View> to;
  for (KernelArray& output : outputs) to.push_back(output.view());
  function({node, from, to, fault});
  return outputs;
}

void check(StepFunction kernel, const Node& node, const std::vector<KernelArray>& inputs) {
  CAPTURE(to_string(node.op));
  CAPTURE(to_string(node.dtype));
  CAPTURE(to_string(node.shape));
  kernels::Fault fault, expected_fault;
  const auto got = run(kernel, node, inputs, fault);
  const auto want = run(interpret, node, inputs, expected_fault);
  REQUIRE(fault.set() == expected_fault.set());
  if (fault.set()) {
    CHECK(fault.position() == expected_fault.position());
    CHECK(fault.value() == expected_fault.value());
  }
  for (std::size_t r = 0; r < want.size(); ++r)
    for (std::int64_t i = 0; i < want[r].size(); ++i) {
      if (got[r].bits(i) == want[r].bits(i)) continue;
      CAPTURE(i);
      CAPTURE(got[r].get<double>(i));
      CAPTURE(want[r].get<double>(i));
      CHECK((std::isnan(got[r].get<double>(i)) && std::isnan(want[r].get<double>(i))));
    }
}

/// Ordinary numbers with special ones among them.
KernelArray mixed(DType dtype, const Shape& shape, unsigned seed, Layout layout) {
  static const std::vector<double> special = {0.0,
                                              -0.0,
                                              1.0,
                                              -1.0,
                                              0.5,
                                              2.0,
                                              1e-40,
                                              -1e-40,
                                              6e-8,
                                              1e-30,
                                              1e30,
                                              65504.0,
                                              1e5,
                                              88.9,
                                              -104.0,
                                              std::numeric_limits<double>::infinity(),
                                              -std::numeric_limits<double>::infinity(),
                                              std::numeric_limits<double>::quiet_NaN()};
  static const std::vector<std::int64_t> limits = {
      0, 1, -1, 2, 63, 64, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 255, 256, -7, 3};
  std::mt19937 random(seed);
  KernelArray array(dtype, shape, layout);
  for (std::int64_t i = 0; i < array.size(); ++i) {
    const bool ordinary = random() % 4 != 0;
    if (is_floating(dtype))
      array.set(i, ordinary ? static_cast<double>(random() % 20001) / 2e3 - 5
                            : special[random() % special.size()]);
    else
      array.set(i, ordinary ? static_cast<std::int64_t>(random() % 21) - 10
                            : limits[random() % limits.size()]);
  }
  return array;
}

bool takes(Op op, DType dtype) {
  switch (info(op).rule) {
    case Rule::floating: return is_floating(dtype);
    case Rule::bitwise: return !is_floating(dtype);
    default: return true;
  }
}

TEST_CASE("eager kernels: every elementwise op") {
  const std::vector<std::vector<Shape>> shapes = {
      {{}, {}, {}},          {{67}, {67}, {67}},    {{5, 1, 33}, {7, 1}, {33}},
      {{3, 40}, {}, {3, 1}}, {{0, 3}, {3}, {0, 3}}, {{2, 600}, {600}, {2, 1}}};
  unsigned seed = 0;
  for (int i = 0; i < op_count; ++i) {
    const Op op = static_cast<Op>(i);
    if (info(op).kind != OpKind::elementwise) continue;
    for (const DType dtype : all_dtypes) {
      if (!takes(op, dtype)) continue;
      for (const auto& operands : shapes)
        for (const Layout layout : {Layout::contiguous, Layout::flipped}) {
          std::vector<KernelArray> inputs;
          Shape shape;
          for (int k = 0; k < info(op).arity; ++k) {
            const DType own = op == Op::where && k == 0 ? boolean : dtype;
            const Shape& operand = operands[static_cast<std::size_t>(k)];
            inputs.push_back(mixed(own, operand, ++seed, layout));
            shape = *broadcast(shape, operand);
          }
          const DType result = info(op).rule == Rule::predicate ? boolean : dtype;
          check(run_elementwise,
                *node_on(inputs, {.op = op, .dtype = result, .shape = shape, .inputs = {}}),
                inputs);
        }
    }
  }
}

TEST_CASE("eager kernels: every cast") {
  unsigned seed = 0;
  for (const DType from : all_dtypes)
    for (const DType to : all_dtypes)
      for (const Layout layout : {Layout::contiguous, Layout::transposed}) {
        const std::vector<KernelArray> inputs = {mixed(from, {7, 150}, ++seed, layout)};
        check(run_cast,
              *node_on(inputs, {.op = Op::cast, .dtype = to, .shape = {7, 150}, .inputs = {}}),
              inputs);
      }
}

TEST_CASE("eager kernels: every reduction over every set of axes") {
  unsigned seed = 0;
  const std::vector<Shape> shapes = {{1},         {70},       {4100},      {70, 5},
                                     {3, 1, 130}, {5, 66, 4}, {2, 3, 4, 5}};
  for (const Op op : {Op::sum, Op::prod, Op::amax, Op::amin, Op::any, Op::all, Op::mean, Op::var,
                      Op::logsumexp, Op::norm})
    for (const DType dtype : all_dtypes)
      for (const Shape& shape : shapes)
        for (std::int64_t mask = 0; mask < std::int64_t{1} << shape.rank(); ++mask) {
          const bool floating =
              op == Op::mean || op == Op::var || op == Op::logsumexp || op == Op::norm;
          if (floating && !is_floating(dtype)) continue;
          const bool accumulates = (op == Op::sum || op == Op::prod) && !is_floating(dtype);
          const bool truth = op == Op::any || op == Op::all;
          Shape reduced = shape;
          for (int axis = 0; axis < shape.rank(); ++axis)
            if (has_axis(mask, axis)) reduced[axis] = 1;
          const std::int64_t fixed[] = {mask, 1};
          // Sums of special numbers are all NaN: ordinary ones tell the order.
          ++seed;
          KernelArray input =
              mixed(dtype, shape, seed, seed % 2 == 0 ? Layout::contiguous : Layout::padded);
          if (seed % 3 != 0)
            input.fill([&](std::int64_t i) {
              return static_cast<double>((i * 7919 + seed) % 1009) / 100 - 5;
            });
          const std::vector<KernelArray> inputs = {input};
          check(run_reduce,
                *node_on(inputs, {.op = op,
                                  .dtype = truth         ? boolean
                                           : accumulates ? i64
                                                         : dtype,
                                  .shape = reduced,
                                  .inputs = {},
                                  .fixed = fixed}),
                inputs);
        }
}

TEST_CASE("eager kernels: argmax and argmin along every axis") {
  unsigned seed = 0;
  for (const Op op : {Op::argmax, Op::argmin})
    for (const DType dtype : all_dtypes)
      for (const Shape& shape : {Shape{33}, Shape{5000}, Shape{4, 70, 3}})
        for (std::int64_t axis = 0; axis < shape.rank(); ++axis) {
          Shape reduced = shape;
          reduced[static_cast<int>(axis)] = 1;
          const std::vector<KernelArray> inputs = {mixed(dtype, shape, ++seed, Layout::padded)};
          check(run_arg_reduce,
                *node_on(
                    inputs,
                    {.op = op, .dtype = i64, .shape = reduced, .inputs = {}, .fixed = {&axis, 1}}),
                inputs);
        }
}

TEST_CASE("eager kernels: generators") {
  for (const DType dtype : all_dtypes) {
    const Slot values[] = {number_slot(dtype, 3), number_slot(dtype, 2)};
    check(
        run_constant,
        *node_on(
            {},
            {.op = Op::constant, .dtype = dtype, .shape = {3, 50}, .inputs = {}, .slots = values}),
        {});
    check(run_arange,
          *node_on(
              {}, {.op = Op::arange, .dtype = dtype, .shape = {90}, .inputs = {}, .slots = values}),
          {});
  }
  for (const auto& [op, dtype] :
       {std::pair{Op::random_uniform, f32}, {Op::random_normal, f32}, {Op::random_bits, i64}}) {
    const Slot slots[] = {integer_slot(-7), integer_slot(std::int64_t{1} << 40)};
    check(run_random,
          *node_on({}, {.op = op, .dtype = dtype, .shape = {5, 333}, .inputs = {}, .slots = slots}),
          {});
  }
}

TEST_CASE("eager kernels: foreach_map") {
  std::vector<KernelArray> inputs;
  const std::vector<Shape> shapes = {{}, {3}, {4, 300}, {0}, {1500}};
  const std::vector<DType> dtypes = {bf16, f32, f32, i64};
  std::vector<std::vector<Tensor>> lists;
  for (std::size_t list = 0; list < dtypes.size(); ++list) {
    std::vector<Tensor>& tensors = lists.emplace_back();
    for (const Shape& shape : shapes) {
      const Shape own = dtypes[list] == i64 ? Shape{} : shape;
      inputs.push_back(
          mixed(dtypes[list], own, static_cast<unsigned>(inputs.size()), Layout::contiguous));
      tensors.emplace_back(
          record_leaf(Op::data, dtypes[list], own, {}, {}, false, Where::current()));
    }
  }
  const Tensor shared(record_leaf(Op::data, f32, {}, {}, {}, false, Where::current()));
  inputs.push_back(mixed(f32, {}, 99, Layout::contiguous));
  const auto mapped = foreach_map(
      [&](const std::vector<Tensor>& x) -> std::vector<Tensor> {
        const Tensor moment = x[1] * 0.9 + cast(x[0], f32) * 0.1;
        const Tensor count = cast(x[3] + 1, f32);
        return {cast(cast(x[0], f32) - shared * moment / (sqrt(abs(x[2])) + count), bf16), moment,
                where(x[2] > 0.0, x[2], moment), remainder(x[3], 3)};
      },
      lists);
  check(run_foreach_map, *mapped[0][0].node()->inputs()[0], inputs);
}

}  // namespace
}  // namespace sinter::jit
