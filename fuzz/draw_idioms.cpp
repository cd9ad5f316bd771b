// What programs of models are full of, written by hand from elementwise ops and reductions.

#include "fuzz/draw_builder.h"

namespace sinter::fuzz {
namespace {

std::size_t unary(DrawBuilder& builder, Op op, std::size_t a) {
  return builder.add_op(op, {a}).value();
}
std::size_t binary(DrawBuilder& builder, Op op, std::size_t a, std::size_t b) {
  return builder.add_op(op, {a, b}).value();
}
std::size_t with_number(DrawBuilder& builder, Op op, std::size_t a, double number) {
  return binary(builder, op, a, builder.add_number(a, number));
}
std::size_t reduced(DrawBuilder& builder, Op op, std::size_t a, std::int64_t mask) {
  return builder.add_op(op, {a}, {mask}).value();
}

std::int64_t last_axis(DrawBuilder& builder, std::size_t a) {
  return std::int64_t{1} << (builder.shape(a).rank() - 1);
}

/// A row of the last axis, to scale by.
std::size_t row(DrawBuilder& builder, std::size_t a) {
  return builder.like(builder.step(a).dtype, {builder.shape(a).back()});
}

std::size_t normalized(DrawBuilder& builder, std::size_t a) {
  const std::int64_t last = last_axis(builder, a);
  const std::size_t centered = binary(builder, Op::sub, a, reduced(builder, Op::mean, a, last));
  const std::size_t variance =
      reduced(builder, Op::mean, unary(builder, Op::square, centered), last);
  const std::size_t scale =
      unary(builder, Op::rsqrt, with_number(builder, Op::add, variance, 1e-5));
  const std::size_t scaled = binary(builder, Op::mul, centered, scale);
  return binary(builder, Op::mul, scaled, row(builder, a));
}

std::size_t softmaxed(DrawBuilder& builder, std::size_t a) {
  const std::int64_t last = last_axis(builder, a);
  const std::size_t lowered = binary(builder, Op::sub, a, reduced(builder, Op::amax, a, last));
  const std::size_t e = unary(builder, Op::exp, lowered);
  return binary(builder, Op::div, e, reduced(builder, Op::sum, e, last));
}

std::size_t gated(DrawBuilder& builder, std::size_t a) {
  const Op gate = builder.one_in(2) ? Op::gelu : Op::silu;
  const std::size_t shifted = binary(builder, Op::add, a, row(builder, a));
  const std::size_t value = unary(builder, gate, shifted);
  return binary(builder, Op::add, binary(builder, Op::mul, value, a), a);
}

/// The gradient of a bias and the length of all of them.
std::size_t summed(DrawBuilder& builder, std::size_t a) {
  const std::int64_t all = last_axis(builder, a) * 2 - 1, rows = all - last_axis(builder, a);
  const std::size_t square = unary(builder, Op::square, a);
  if (rows != 0) reduced(builder, Op::sum, a, rows);
  const std::size_t length = unary(builder, Op::sqrt, reduced(builder, Op::sum, square, all));
  const std::size_t factor =
      with_number(builder, Op::minimum,
                  unary(builder, Op::reciprocal, with_number(builder, Op::add, length, 1e-6)), 1);
  return binary(builder, Op::mul, a, factor);
}

}  // namespace

void draw_idiom(DrawBuilder& builder) {
  const auto found = builder.find_floating(1);
  if (!found) return;
  std::size_t value = *found;
  for (std::size_t more = 1 + builder.below(std::size_t{3}); more > 0; --more) {
    switch (builder.below(std::size_t{4})) {
      case 0: value = normalized(builder, value); break;
      case 1: value = softmaxed(builder, value); break;
      case 2: value = gated(builder, value); break;
      default: value = summed(builder, value);
    }
  }
}

}  // namespace sinter::fuzz
