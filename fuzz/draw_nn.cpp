#include <cmath>

#include "fuzz/draw_builder.h"

namespace sinter::fuzz {
namespace {

Slot draw_number(DrawBuilder& builder) {
  return integer_slot(static_cast<std::int64_t>(builder.seed()));
}

/// The trailing axes of a shape.
Shape trailing(const Shape& shape, int axes) {
  return Shape(std::span(shape.end() - axes, static_cast<std::size_t>(axes)));
}

/// A floating dtype that is computed in the same type.
DType beside(DrawBuilder& builder, DType dtype) {
  if (dtype == f64 || !builder.one_in(4)) return dtype;
  return builder.one_in(2) ? f32 : bf16;
}

/// Half of the reductions are used beside what they reduce, as softmax and norms do by hand.
void use_reduced(DrawBuilder& builder, std::size_t a, std::optional<std::size_t> reduced) {
  if (!reduced) return;
  switch (builder.below(std::size_t{4})) {
    case 0: builder.add_op(Op::sub, {a, *reduced}); break;
    case 1: builder.add_op(Op::mul, {a, *reduced}); break;
    case 2: {
      Shape dropped;
      for (const std::int64_t size : builder.shape(*reduced))
        if (size != 1) dropped.push_back(size);
      builder.add_shaped(Op::reshape, {*reduced}, dropped);
      break;
    }
    default: break;
  }
}

std::size_t masked_or_bool(DrawBuilder& builder, const Shape& scores) {
  Shape shape = scores;
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (builder.one_in(2)) shape[axis] = 1;
  return builder.add_leaf(builder.one_in(2) ? boolean : f32, shape);
}

}  // namespace

void draw_reduction(DrawBuilder& builder) {
  constexpr Op ops[] = {Op::sum,  Op::sum,       Op::mean,   Op::amax, Op::amin,
                        Op::prod, Op::argmax,    Op::argmin, Op::any,  Op::all,
                        Op::var,  Op::logsumexp, Op::norm,   Op::sum,  Op::mean};
  const Op op = ops[builder.below(std::size(ops))];
  const bool floating = op == Op::mean || op == Op::var || op == Op::logsumexp || op == Op::norm;
  const auto a = builder.find([&](const Step& step) {
    return (is_floating(step.dtype) || (!floating && builder.one_in(3))) && !step.shape.empty();
  });
  if (!a) return;
  const int rank = builder.shape(*a).rank();
  if (op == Op::argmax || op == Op::argmin) {
    builder.add_op(op, {*a}, {builder.any_axis(*a)});
    return;
  }
  std::int64_t mask = std::int64_t{1} << builder.any_axis(*a);
  if (builder.one_in(3)) mask = (std::int64_t{1} << rank) - 1;
  else if (builder.one_in(4)) mask |= std::int64_t{1} << builder.any_axis(*a);
  std::vector<std::int64_t> fixed{mask};
  if (op == Op::var) fixed.push_back(builder.below(std::int64_t{2}));
  use_reduced(builder, *a, builder.add_op(op, {*a}, fixed));
}

void draw_norm(DrawBuilder& builder) {
  const auto a = builder.find_floating(1);
  if (!a) return;
  const DType dtype = builder.step(*a).dtype;
  const Shape shape = builder.shape(*a);
  const int axes = shape.rank() > 1 && builder.one_in(5) ? 2 : 1;
  const bool weight = builder.one_in(2), bias = builder.one_in(2);
  const auto row = [&] { return builder.like(beside(builder, dtype), trailing(shape, axes)); };
  std::vector<std::size_t> operands{*a};
  switch (builder.below(std::size_t{5})) {
    case 0: builder.add_op(Op::softmax, {*a}, {builder.any_axis(*a)}); break;
    case 1: builder.add_op(Op::log_softmax, {*a}, {builder.any_axis(*a)}); break;
    case 2:
      if (weight) operands.push_back(row());
      if (bias) operands.push_back(row());
      builder.add_op(Op::layer_norm, operands, {weight || bias ? axes : 1, weight, bias},
                     {real_slot(1e-5)});
      break;
    case 3:
      if (weight) operands.push_back(row());
      builder.add_op(Op::rms_norm, operands, {weight ? axes : 1, weight}, {real_slot(1e-6)});
      break;
    default:
      builder.add_op(
          Op::dropout, {*a}, {},
          {real_slot(builder.one_in(5) ? 0 : 0.25), draw_number(builder), integer_slot(1)});
  }
}

void draw_loss(DrawBuilder& builder) {
  const auto logits = builder.find_floating(1);
  if (!logits) return;
  const Shape shape = builder.shape(*logits);
  if (shape.back() == 0) return;
  const Shape rows = Shape(std::span(shape.begin(), static_cast<std::size_t>(shape.rank() - 1)));
  std::vector<std::size_t> operands{*logits, builder.add_indices(rows, shape.back())};
  const bool weighted = builder.one_in(3);
  const DType dtype = builder.step(*logits).dtype;
  if (weighted) operands.push_back(builder.like(beside(builder, dtype), {shape.back()}));
  const std::int64_t ignored = builder.one_in(2) ? -100 : 0;
  const std::int64_t reduction = builder.below(std::int64_t{3});
  builder.add_op(Op::cross_entropy, operands, {reduction, weighted},
                 {integer_slot(ignored), real_slot(builder.one_in(3) ? 0.1 : 0)});
}

void draw_product(DrawBuilder& builder) {
  const bool linear = builder.one_in(2);
  const auto a = builder.find([&](const Step& step) {
    return (is_floating(step.dtype) || (!linear && step.dtype != boolean && builder.one_in(4))) &&
           step.shape.rank() >= 2;
  });
  if (!a) return;
  const Shape shape = builder.shape(*a);
  const DType dtype = builder.step(*a).dtype;
  const std::int64_t columns = builder.any_size();
  if (!linear) {
    Shape other = shape;
    if (builder.one_in(2)) other = trailing(shape, 2);
    other[other.rank() - 2] = shape.back();
    other[other.rank() - 1] = columns;
    builder.add_op(Op::matmul, {*a, builder.like(dtype, other)});
    return;
  }
  std::vector<std::size_t> operands{*a, builder.like(dtype, {columns, shape.back()})};
  const bool bias = builder.one_in(2), residual = builder.one_in(3);
  Shape result = shape;
  result[shape.rank() - 1] = columns;
  if (bias) operands.push_back(builder.like(dtype, {columns}));
  if (residual) operands.push_back(builder.like(dtype, result));
  builder.add_op(Op::linear, operands,
                 {static_cast<std::int64_t>(builder.below(std::size_t{5})), bias, residual});
}

void draw_attention(DrawBuilder& builder) {
  const DType dtype = builder.any_floating();
  const std::int64_t batch = builder.one_in(2) ? 1 : 2, heads = 2, queries = builder.any_size();
  const std::int64_t keys = builder.one_in(2) ? queries : builder.any_size();
  const std::int64_t width = builder.one_in(2) ? 8 : builder.any_size();
  if (queries * keys > 70000) return;
  const std::int64_t kv_heads = builder.one_in(3) ? 1 : heads;
  const std::size_t q = builder.like(dtype, {batch, heads, queries, width});
  const std::size_t k = builder.like(dtype, {batch, kv_heads, keys, width});
  const std::size_t v = builder.like(dtype, {batch, kv_heads, keys, width});
  std::vector<std::size_t> operands{q, k, v};
  const bool masked = builder.one_in(3), dropped = builder.one_in(4), causal = builder.one_in(3);
  if (masked) operands.push_back(masked_or_bool(builder, {batch, heads, queries, keys}));
  const double scale = 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(width, 1)));
  builder.add_op(Op::attention, operands, {causal, masked, dropped},
                 {real_slot(scale), real_slot(dropped ? 0.2 : 0),
                  dropped ? draw_number(builder) : integer_slot(0), integer_slot(dropped)});
}

}  // namespace sinter::fuzz
