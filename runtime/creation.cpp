#include "runtime/creation.h"

#include <fmt/format.h>

#include <cmath>

#include "runtime/attributes.h"
#include "runtime/elementwise.h"
#include "runtime/record.h"
#include "runtime/views.h"

namespace sinter {
namespace {

Tensor record_generator(Op op, DType dtype, const Shape& shape, std::span<const Slot> slots,
                        Where at) {
  check_shape(to_string(op), shape, at);
  return record_op({.op = op,
                    .dtype = dtype,
                    .shape = shape,
                    .inputs = {},
                    .slots = slots,
                    .differentiable = false,
                    .where = at});
}

Tensor record_draw(Op op, DType dtype, const Shape& shape, Generator& generator, Where at) {
  check_shape(to_string(op), shape, at);
  const std::array slots{integer_slot(static_cast<std::int64_t>(generator.seed())),
                         integer_slot(static_cast<std::int64_t>(generator.take()))};
  return record_generator(op, dtype, shape, slots, at);
}

void require_floating(std::string_view op, DType dtype, Where at) {
  if (!is_floating(dtype))
    usage_error(op, fmt::format("gives a floating dtype, not {}", to_string(dtype)), at);
}

}  // namespace

Tensor full(const Shape& shape, double value, DType dtype, Where at) {
  check_shape("full", shape, at);
  if (!holds(dtype, value))
    usage_error("full", fmt::format("{} is no {}", value, to_string(dtype)), at);
  const Slot slot = number_slot(dtype, value);
  return record_generator(Op::constant, dtype, shape, {&slot, 1}, at);
}

Tensor full_integer(const Shape& shape, std::int64_t value, DType dtype, Where at) {
  check_shape("full_integer", shape, at);
  if (dtype != DType::i64 && !holds(dtype, static_cast<double>(value)))
    usage_error("full_integer", fmt::format("{} is no {}", value, to_string(dtype)), at);
  const Slot slot =
      is_floating(dtype) ? real_slot(static_cast<double>(value)) : integer_slot(value);
  return record_generator(Op::constant, dtype, shape, {&slot, 1}, at);
}

Tensor zeros(const Shape& shape, DType dtype, Where at) {
  check_shape("zeros", shape, at);
  return full(shape, 0, dtype, at);
}

Tensor ones(const Shape& shape, DType dtype, Where at) {
  check_shape("ones", shape, at);
  return full(shape, 1, dtype, at);
}

Tensor zeros_like(const Tensor& a, Where at) {
  require_defined("zeros_like", a, at);
  return zeros(a.shape(), a.dtype(), at);
}

Tensor ones_like(const Tensor& a, Where at) {
  require_defined("ones_like", a, at);
  return ones(a.shape(), a.dtype(), at);
}

Tensor arange(double start, double stop, double step, DType dtype, Where at) {
  const double count = std::ceil((stop - start) / step);
  if (step == 0 || !(count < 0x1p62) || !std::isfinite(start) || !std::isfinite(step))
    usage_error("arange", fmt::format("no range from {} to {} by {}", start, stop, step), at);
  if (!holds(dtype, start) || (count > 0 && !holds(dtype, start + (count - 1) * step)) ||
      (is_integral(dtype) && step != std::trunc(step)))
    usage_error("arange",
                fmt::format("{} does not hold the range from {} to {} by {}", to_string(dtype),
                            start, stop, step),
                at);
  const std::array slots{number_slot(dtype, start), number_slot(dtype, step)};
  const std::int64_t length = count > 0 ? static_cast<std::int64_t>(count) : 0;
  return record_generator(Op::arange, dtype, {length}, slots, at);
}

Tensor arange(std::int64_t count, DType dtype, Where at) {
  if (count > 0 && !holds(dtype, static_cast<double>(count - 1)))
    usage_error("arange", fmt::format("{} does not hold {}", to_string(dtype), count - 1), at);
  const std::array slots{number_slot(dtype, 0), number_slot(dtype, 1)};
  return record_generator(Op::arange, dtype, {count}, slots, at);
}

Tensor eye(std::int64_t rows, std::int64_t columns, std::int64_t offset, DType dtype, Where at) {
  const Tensor row = unsqueeze(arange(rows, i64, at), -1, at);
  return cast(sinter::equal(add(row, offset, at), arange(columns, i64, at), at), dtype, at);
}

Tensor one_hot(const Tensor& indices, std::int64_t classes, DType dtype, Where at) {
  require_defined("one_hot", indices, at);
  if (!is_integral(indices.dtype()))
    usage_error("one_hot", "takes integers, not " + describe(indices), at);
  return cast(sinter::equal(unsqueeze(indices, -1, at), arange(classes, i64, at), at), dtype, at);
}

Tensor uniform(const Shape& shape, Generator& generator, double low, double high, DType dtype,
               Where at) {
  require_floating("uniform", dtype, at);
  if (!(low <= high) || !std::isfinite(high - low))
    usage_error("uniform", fmt::format("no numbers from {} to {}", low, high), at);
  const Tensor unit = record_draw(Op::random_uniform, f32, shape, generator, at);
  return cast(add(mul(unit, high - low, at), low, at), dtype, at);
}

Tensor normal(const Shape& shape, Generator& generator, double mean, double deviation, DType dtype,
              Where at) {
  require_floating("normal", dtype, at);
  if (!(deviation >= 0)) usage_error("normal", fmt::format("the deviation is {}", deviation), at);
  const Tensor unit = record_draw(Op::random_normal, f32, shape, generator, at);
  return cast(add(mul(unit, deviation, at), mean, at), dtype, at);
}

Tensor bernoulli(const Shape& shape, double p, Generator& generator, Where at) {
  if (!(p >= 0 && p <= 1)) usage_error("bernoulli", fmt::format("p is {}", p), at);
  return less(record_draw(Op::random_uniform, f32, shape, generator, at), p, at);
}

Tensor random_integers(const Shape& shape, std::int64_t low, std::int64_t high,
                       Generator& generator, DType dtype, Where at) {
  if (low >= high || high - low < 0)
    usage_error("random_integers", fmt::format("no integers from {} to {}", low, high), at);
  if (!is_integral(dtype))
    usage_error("random_integers", fmt::format("gives an integer dtype, not {}", to_string(dtype)),
                at);
  if (!holds(dtype, static_cast<double>(low)) ||
      (dtype != DType::i64 && !holds(dtype, static_cast<double>(high - 1))))
    usage_error("random_integers",
                fmt::format("{} does not hold {} to {}", to_string(dtype), low, high), at);
  const Tensor bits = record_draw(Op::random_bits, i64, shape, generator, at);
  // The bias of a remainder of 64 bits is below (high - low) / 2^64.
  return cast(add(remainder(bits, high - low, at), low, at), dtype, at);
}

}  // namespace sinter
