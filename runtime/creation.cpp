#include "runtime/creation.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "runtime/attributes.h"
#include "runtime/element.h"
#include "runtime/elementwise.h"
#include "runtime/record.h"
#include "runtime/views.h"

namespace sinter {
namespace {

Tensor record_generator(std::string_view call, Op op, DType dtype, const Shape& shape,
                        std::span<const Slot> slots, Where at) {
  return record_op({.op = op,
                    .dtype = dtype,
                    .shape = shape,
                    .inputs = {},
                    .slots = slots,
                    .differentiable = false,
                    .where = at,
                    .call = call});
}

Tensor record_constant(std::string_view call, const Shape& shape, const Slot& value, DType dtype,
                       Where at) {
  return record_generator(call, Op::constant, dtype, shape, {&value, 1}, at);
}

/// 0, 1, ..., count - 1.
Tensor record_range(std::string_view call, std::int64_t count, DType dtype, Where at) {
  if (count > 0 && !holds(dtype, static_cast<double>(count - 1)))
    usage_error(call, fmt::format("{} does not hold {}", to_string(dtype), count - 1), at);
  const std::array slots{number_slot(dtype, 0), number_slot(dtype, 1)};
  return record_generator(call, Op::arange, dtype, {count}, slots, at);
}

Tensor record_draw(std::string_view call, Op op, DType dtype, const Shape& shape,
                   Generator& generator, Where at) {
  check_shape(call, shape, at);  // before a draw is taken
  const std::array slots{integer_slot(static_cast<std::int64_t>(generator.seed())),
                         integer_slot(static_cast<std::int64_t>(generator.take()))};
  return record_generator(call, op, dtype, shape, slots, at);
}

/// Uniform multiples of 2^-53 in [0, 1), f64: the upper bits of a draw of integers.
Tensor record_unit_f64(std::string_view call, const Shape& shape, Generator& generator, Where at) {
  constexpr std::int64_t mask = (INT64_C(1) << 53) - 1;
  const Tensor bits = record_draw(call, Op::random_bits, i64, shape, generator, at);
  return mul(cast(bitwise_and(shift_right(bits, 11, at), mask, at), f64, at), 0x1p-53, at);
}

/// The largest number of type T below `x`.
template <typename T>
T next_below(T x) {
  if constexpr (is_half<T>) {
    // Sign and magnitude: towards -infinity is one less above zero and one more below it.
    const bool zero = (x.bits & 0x7fff) == 0, negative = x.bits >= 0x8000;
    x.bits = static_cast<std::uint16_t>(zero ? 0x8001 : negative ? x.bits + 1 : x.bits - 1);
    return x;
  } else {
    return std::nextafter(x, -std::numeric_limits<T>::infinity());
  }
}

/// The largest number of type T below the real number `limit`, or equal to it where `closed`.
template <typename T>
double last_before(double limit, bool closed) {
  T last = converted<T>(limit);
  const auto beyond = [&] {
    const double value = converted<double>(last);
    return closed ? value > limit : value >= limit;
  };
  while (beyond()) last = next_below(last);
  return converted<double>(last);
}

/// The least and the largest number of a floating dtype in [low, high); the least is the larger
/// where there is none, or where a number overflows on the way.
struct FloatRange {
  double first = 1, last = 0;
};

FloatRange range_in(DType dtype, double low, double high) {
  FloatRange range;
  const bool wide = compute_dtype(dtype) == f32 && std::isinf(static_cast<float>(high - low));
  if (wide) return range;
  with_storage_type(dtype, [&]<typename T>(T) {
    if constexpr (is_half<T> || std::is_floating_point_v<T>) {
      const double first = converted<double>(converted<T>(low));
      const double end = converted<double>(converted<T>(high));
      if (std::isinf(first) || std::isinf(end)) return;
      if (low == high) range = {first, first};
      else range = {-last_before<T>(-low, true), last_before<T>(high, false)};
    }
  });
  return range;
}

void require_floating(std::string_view op, DType dtype, Where at) {
  if (!is_floating(dtype))
    usage_error(op, fmt::format("gives a floating dtype, not {}", to_string(dtype)), at);
}

}  // namespace

Tensor full(const Shape& shape, double value, DType dtype, Where at) {
  if (!holds(dtype, value))
    usage_error("full", fmt::format("{} is no {}", value, to_string(dtype)), at);
  return record_constant("full", shape, number_slot(dtype, value), dtype, at);
}

Tensor full_integer(const Shape& shape, std::int64_t value, DType dtype, Where at) {
  if (dtype != DType::i64 && !holds(dtype, static_cast<double>(value)))
    usage_error("full_integer", fmt::format("{} is no {}", value, to_string(dtype)), at);
  const Slot slot =
      is_floating(dtype) ? real_slot(static_cast<double>(value)) : integer_slot(value);
  return record_constant("full_integer", shape, slot, dtype, at);
}

Tensor zeros(const Shape& shape, DType dtype, Where at) {
  return record_constant("zeros", shape, number_slot(dtype, 0), dtype, at);
}

Tensor ones(const Shape& shape, DType dtype, Where at) {
  return record_constant("ones", shape, number_slot(dtype, 1), dtype, at);
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
  if (step == 0 || !(count < 0x1p62) || !std::isfinite(start) || !std::isfinite(stop) ||
      !std::isfinite(step))
    usage_error("arange", fmt::format("no range from {} to {} by {}", start, stop, step), at);
  if (!holds(dtype, start) || (count > 0 && !holds(dtype, start + (count - 1) * step)) ||
      (is_integral(dtype) && step != std::trunc(step)))
    usage_error("arange",
                fmt::format("{} does not hold the range from {} to {} by {}", to_string(dtype),
                            start, stop, step),
                at);
  const std::array slots{number_slot(dtype, start), number_slot(dtype, step)};
  const std::int64_t length = count > 0 ? static_cast<std::int64_t>(count) : 0;
  return record_generator("arange", Op::arange, dtype, {length}, slots, at);
}

Tensor arange(std::int64_t count, DType dtype, Where at) {
  return record_range("arange", count, dtype, at);
}

Tensor eye(std::int64_t rows, std::int64_t columns, std::int64_t offset, DType dtype, Where at) {
  const Tensor row = unsqueeze(record_range("eye", rows, i64, at), -1, at);
  const Tensor column = record_range("eye", columns, i64, at);
  return cast(sinter::equal(add(row, offset, at), column, at), dtype, at);
}

Tensor one_hot(const Tensor& indices, std::int64_t classes, DType dtype, Where at) {
  require_defined("one_hot", indices, at);
  if (!is_integral(indices.dtype()))
    usage_error("one_hot", "takes integers, not " + describe(indices), at);
  if (indices.rank() == max_rank)
    usage_error("one_hot", "no axis can be added to " + describe(indices), at);
  const Tensor names = record_range("one_hot", classes, i64, at);
  return cast(sinter::equal(unsqueeze(indices, -1, at), names, at), dtype, at);
}

Tensor uniform(const Shape& shape, Generator& generator, double low, double high, DType dtype,
               Where at) {
  require_floating("uniform", dtype, at);
  if (!(low <= high) || !std::isfinite(high - low))
    usage_error("uniform", fmt::format("no numbers from {} to {}", low, high), at);
  const FloatRange range = range_in(dtype, low, high);
  if (range.first > range.last)
    usage_error(
        "uniform",
        fmt::format("{} does not hold the range from {} to {}", to_string(dtype), low, high), at);
  const Tensor unit = dtype == f64
                          ? record_unit_f64("uniform", shape, generator, at)
                          : record_draw("uniform", Op::random_uniform, f32, shape, generator, at);
  // The sum, or its rounding to the dtype, may be the upper end.
  const Tensor drawn = cast(add(mul(unit, high - low, at), low, at), dtype, at);
  return minimum(maximum(drawn, range.first, at), range.last, at);
}

Tensor normal(const Shape& shape, Generator& generator, double mean, double deviation, DType dtype,
              Where at) {
  require_floating("normal", dtype, at);
  if (!(deviation >= 0)) usage_error("normal", fmt::format("the deviation is {}", deviation), at);
  const auto unit = [&] {
    if (dtype != f64) return record_draw("normal", Op::random_normal, f32, shape, generator, at);
    // Box and Muller, in f64 and with a draw for each of the two numbers.
    const Tensor u = add(record_unit_f64("normal", shape, generator, at), 0x1p-53, at);
    const Tensor v = record_unit_f64("normal", shape, generator, at);
    return mul(sqrt(mul(log(u, at), -2.0, at), at), cos(mul(v, 6.283185307179586, at), at), at);
  };
  return cast(add(mul(unit(), deviation, at), mean, at), dtype, at);
}

Tensor bernoulli(const Shape& shape, double p, Generator& generator, Where at) {
  if (!(p >= 0 && p <= 1)) usage_error("bernoulli", fmt::format("p is {}", p), at);
  return less(record_draw("bernoulli", Op::random_uniform, f32, shape, generator, at), p, at);
}

Tensor random_integers(const Shape& shape, std::int64_t low, std::int64_t high,
                       Generator& generator, DType dtype, Where at) {
  if (low >= high || high - low < 0)
    usage_error("random_integers", fmt::format("no integers from {} to {}", low, high), at);
  if (!is_integral(dtype))
    usage_error("random_integers", fmt::format("gives an integer dtype, not {}", to_string(dtype)),
                at);
  // A number near the end of i64, which holds them all, is beyond it as a double.
  if (dtype != DType::i64 &&
      (!holds(dtype, static_cast<double>(low)) || !holds(dtype, static_cast<double>(high - 1))))
    usage_error("random_integers",
                fmt::format("{} does not hold {} to {}", to_string(dtype), low, high), at);
  const Tensor bits = record_draw("random_integers", Op::random_bits, i64, shape, generator, at);
  // The bias of a remainder of 64 bits is below (high - low) / 2^64.
  return cast(add(remainder(bits, high - low, at), low, at), dtype, at);
}

}  // namespace sinter
