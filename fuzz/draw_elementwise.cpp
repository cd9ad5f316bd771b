#include <algorithm>

#include "fuzz/draw_builder.h"

namespace sinter::fuzz {
namespace {

constexpr Op unary_ops[] = {
#define SINTER_UNARY(name, ...) Op::name,
#include "runtime/ops.def"
};
constexpr Op binary_ops[] = {
#define SINTER_BINARY(name, ...) Op::name,
#include "runtime/ops.def"
};

/// Where an op has finite values, so that NaN does not spread over the whole program.
struct Domain {
  double low, high;
};

std::optional<Domain> domain_of(Op op) {
  switch (op) {
    case Op::exp:
    case Op::exp2:
    case Op::expm1:
    case Op::sinh:
    case Op::cosh:
    case Op::tan:
    case Op::square: return Domain{-3, 3};
    case Op::log:
    case Op::log2:
    case Op::log10:
    case Op::sqrt:
    case Op::rsqrt:
    case Op::reciprocal: return Domain{0.125, 8};
    case Op::log1p: return Domain{-0.75, 8};
    case Op::acosh: return Domain{1, 8};
    case Op::asin:
    case Op::acos:
    case Op::atanh: return Domain{-0.875, 0.875};
    default: return std::nullopt;
  }
}

/// The value limited to [low, high].
std::size_t limited(DrawBuilder& builder, std::size_t value, double low, double high) {
  if (!is_floating(builder.step(value).dtype)) return value;
  const auto upper = builder.add_op(Op::minimum, {value, builder.add_number(value, high)});
  return builder.add_op(Op::maximum, {upper.value(), builder.add_number(value, low)}).value();
}

/// A divisor without zeros.
std::size_t nonzero(DrawBuilder& builder, std::size_t value) {
  if (builder.step(value).dtype == boolean) value = builder.add_cast(value, i64);
  const auto magnitude = builder.add_op(Op::abs, {value});
  return builder.add_op(Op::maximum, {magnitude.value(), builder.add_number(value, 1)}).value();
}

bool broadcasts(const Shape& a, const Shape& b) { return broadcast(a, b).has_value(); }

/// Another operand beside `a`: a value, a leaf, or a host number.
std::size_t second_operand(DrawBuilder& builder, std::size_t a) {
  if (builder.one_in(4)) {
    constexpr double numbers[] = {0.5, -1, 2, 0, 3, 0.1};
    const double number = numbers[builder.below(std::size(numbers))];
    const bool whole = !is_floating(builder.step(a).dtype);
    return builder.add_number(a, whole ? std::max(1.0, std::abs(number) * 2) : number);
  }
  const Shape shape = builder.shape(a);
  const bool same = !builder.one_in(4);
  const auto found = builder.find([&](const Step& step) {
    return broadcasts(shape, step.shape) && (!same || step.dtype == builder.step(a).dtype);
  });
  if (found && !builder.one_in(5)) return *found;
  Shape part = shape;  // a leaf that is broadcast along some axes
  for (int axis = 0; axis < part.rank(); ++axis)
    if (builder.one_in(4)) part[axis] = 1;
  return builder.add_leaf(builder.step(a).dtype, part);
}

}  // namespace

void draw_unary(DrawBuilder& builder) {
  const Op op = unary_ops[builder.below(std::size(unary_ops))];
  const Rule rule = info(op).rule;
  auto value = builder.find([&](const Step& step) {
    return rule == Rule::bitwise ? !is_floating(step.dtype)
                                 : is_floating(step.dtype) || builder.one_in(4);
  });
  if (!value) return;
  const auto domain = domain_of(op);
  if (domain && !builder.one_in(8)) value = limited(builder, *value, domain->low, domain->high);
  builder.add_op(op, {*value});
}

void draw_binary(DrawBuilder& builder) {
  const Op op = binary_ops[builder.below(std::size(binary_ops))];
  // Plain arithmetic is what programs are made of.
  constexpr Op plain[] = {Op::add, Op::sub, Op::mul, Op::maximum};
  const Op chosen = builder.one_in(2) ? plain[builder.below(std::size(plain))] : op;
  const bool whole = info(chosen).rule == Rule::bitwise;
  const auto a = builder.find([&](const Step& step) {
    return whole ? !is_floating(step.dtype) : is_floating(step.dtype) || builder.one_in(3);
  });
  if (!a) return;
  std::size_t first = *a, second = second_operand(builder, first);
  if (whole && is_floating(builder.step(second).dtype)) return;
  const bool divides = chosen == Op::div || chosen == Op::floor_divide || chosen == Op::fmod ||
                       chosen == Op::remainder;
  if (divides && !(builder.options().faults && builder.one_in(3)) &&
      !is_number(builder.step(second)))
    second = nonzero(builder, second);
  if (chosen == Op::pow) {
    first = limited(builder, first, 0.25, 3);
    second = builder.add_number(first, builder.one_in(2) ? 2 : 3);
  }
  const bool number = is_number(builder.step(second));
  if (builder.one_in(3) && !divides && chosen != Op::pow && !number) std::swap(first, second);
  builder.add_op(chosen, {first, second});
}

void draw_select(DrawBuilder& builder) {
  const std::size_t a = builder.any();
  const std::size_t b = second_operand(builder, a);
  const Shape shape = builder.shape(a);
  auto condition = builder.find(
      [&](const Step& step) { return step.dtype == boolean && broadcasts(step.shape, shape); });
  if (!condition) condition = builder.add_op(Op::greater, {a, builder.add_number(a, 0)});
  if (builder.one_in(2)) builder.add_op(Op::where, {condition.value(), a, b});
  else builder.add_op(Op::where, {condition.value(), b, a});
}

void draw_cast(DrawBuilder& builder) { builder.add_cast(builder.any(), builder.any_dtype()); }

void draw_generator(DrawBuilder& builder) {
  const Shape shape = builder.any_shape();
  const auto draw = [&](Op op, DType dtype, std::vector<Slot> slots) {
    Step step = make_op(op, {}, {}, std::move(slots));
    step.dtype = dtype;
    step.shape = op == Op::arange ? Shape{builder.any_size()} : shape;
    builder.add(std::move(step));
  };
  const auto seed = integer_slot(static_cast<std::int64_t>(builder.seed()));
  const auto ordinal = integer_slot(static_cast<std::int64_t>(builder.below(std::size_t{9})));
  switch (builder.below(std::size_t{5})) {
    case 0: draw(Op::random_uniform, f32, {seed, ordinal}); break;
    case 1: draw(Op::random_normal, f32, {seed, ordinal}); break;
    case 2: draw(Op::random_bits, i64, {seed, ordinal}); break;
    case 3: {
      const DType dtype = builder.one_in(2) ? i64 : builder.any_floating();
      draw(Op::arange, dtype, {number_slot(dtype, -1), number_slot(dtype, 2)});
      break;
    }
    default: {
      const DType dtype = builder.any_dtype();
      draw(Op::constant, dtype, {number_slot(dtype, 1)});
    }
  }
}

}  // namespace sinter::fuzz
