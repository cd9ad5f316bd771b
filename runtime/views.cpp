#include "runtime/views.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/attributes.h"
#include "runtime/record.h"

namespace sinter {
namespace {

Tensor record_view(Op op, const Tensor& a, const Shape& shape, std::span<const std::int64_t> fixed,
                   std::span<const Slot> slots, Where at) {
  const NodeRef input = a.ref();
  return record_op({.op = op,
                    .dtype = a.dtype(),
                    .shape = shape,
                    .inputs = {&input, 1},
                    .fixed = fixed,
                    .slots = slots,
                    .where = at});
}

/// A slice along one axis, the others whole. `start` is in range unless the result is empty.
Tensor record_slice(const Tensor& a, int axis, std::int64_t start, std::int64_t step,
                    std::int64_t length, Where at) {
  std::array<std::int64_t, max_rank> steps;
  std::array<Slot, max_rank> starts;
  steps.fill(1);
  starts.fill(integer_slot(0));
  const auto i = static_cast<std::size_t>(axis), rank = static_cast<std::size_t>(a.rank());
  steps[i] = step;
  starts[i] = integer_slot(length == 0 ? 0 : start);
  Shape shape = a.shape();
  shape[axis] = length;
  return record_view(Op::slice, a, shape, {steps.data(), rank}, {starts.data(), rank}, at);
}

/// `shape` with its -1 resolved. \throws UsageError where the element counts differ.
Shape resolve_shape(const Tensor& a, const Shape& shape, Where at) {
  Shape resolved = shape;
  int unknown = -1;
  std::int64_t known = 1;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] == -1 && unknown < 0) {
      unknown = i;
    } else if (shape[i] < 0) {
      usage_error("reshape", "bad target shape " + to_string(shape), at);
    } else {
      known *= shape[i];
    }
  }
  const std::int64_t count = a.element_count();
  if (unknown >= 0 && known != 0 && count % known == 0) resolved[unknown] = count / known;
  if (unknown >= 0 && resolved[unknown] < 0)
    usage_error("reshape",
                fmt::format("{} does not fill {}", to_string(a.shape()), to_string(shape)), at);
  if (element_count(resolved) != count)
    usage_error("reshape",
                fmt::format("{} has {} elements, {} has {}", to_string(a.shape()), count,
                            to_string(shape), element_count(resolved)),
                at);
  return resolved;
}

/// For each axis of `to` the axis of `from` that it is, or -1: the first axes while they agree, and
/// the last.
Dims kept_axes(const Shape& from, const Shape& to) {
  const int shared = std::min(from.rank(), to.rank());
  int first = 0, last = 0;
  while (first < shared && from[first] == to[first]) ++first;
  while (last < shared - first && from[from.rank() - 1 - last] == to[to.rank() - 1 - last]) ++last;
  Dims kept;
  for (int axis = 0; axis < to.rank(); ++axis) {
    const bool at_end = axis >= to.rank() - last;
    kept.push_back(axis < first ? axis : at_end ? axis + from.rank() - to.rank() : -1);
  }
  return kept;
}

}  // namespace

Tensor reshape(const Tensor& a, const Shape& shape, Where at) {
  require_defined("reshape", a, at);
  const Shape resolved = resolve_shape(a, shape, at);
  const Dims kept = kept_axes(a.shape(), resolved);
  return record_view(Op::reshape, a, resolved, {kept.begin(), kept.end()}, {}, at);
}

Tensor flatten(const Tensor& a, Where at) {
  require_defined("flatten", a, at);
  return reshape(a, {a.element_count()}, at);
}

Tensor flatten(const Tensor& a, std::int64_t first, std::int64_t last, Where at) {
  require_defined("flatten", a, at);
  const int from = normalize_axis("flatten", first, a.rank(), at);
  const int to = normalize_axis("flatten", last, a.rank(), at);
  if (from > to) usage_error("flatten", fmt::format("axis {} after axis {}", first, last), at);
  Shape shape;
  std::int64_t joined = 1;
  for (int i = 0; i < a.rank(); ++i) {
    if (i >= from && i <= to) joined *= a.shape()[i];
    if (i < from || i > to) shape.push_back(a.shape()[i]);
    if (i == to) shape.push_back(joined);
  }
  return reshape(a, shape, at);
}

Tensor squeeze(const Tensor& a, std::int64_t axis, Where at) {
  require_defined("squeeze", a, at);
  const int dropped = normalize_axis("squeeze", axis, a.rank(), at);
  if (a.shape()[dropped] != 1)
    usage_error("squeeze", fmt::format("axis {} of {} is not 1", axis, to_string(a.shape())), at);
  Shape shape;
  for (int i = 0; i < a.rank(); ++i)
    if (i != dropped) shape.push_back(a.shape()[i]);
  return reshape(a, shape, at);
}

Tensor unsqueeze(const Tensor& a, std::int64_t axis, Where at) {
  require_defined("unsqueeze", a, at);
  if (a.rank() == max_rank)
    usage_error("unsqueeze", fmt::format("{} has {} dimensions, the most", describe(a), max_rank),
                at);
  const int place = normalize_axis("unsqueeze", axis, a.rank() + 1, at);
  Shape shape;
  for (int i = 0; i <= a.rank(); ++i) {
    if (i == place) shape.push_back(1);
    if (i < a.rank()) shape.push_back(a.shape()[i]);
  }
  return reshape(a, shape, at);
}

Tensor permute(const Tensor& a, const Dims& axes, Where at) {
  require_defined("permute", a, at);
  const auto refuse = [&] {
    usage_error(
        "permute",
        fmt::format("{} is no order of the axes of {}", to_string(axes), to_string(a.shape())), at);
  };
  if (axes.rank() != a.rank()) refuse();
  Shape shape;
  Dims order;
  std::int64_t seen = 0;
  for (const std::int64_t axis : axes) {
    const int source = normalize_axis("permute", axis, a.rank(), at);
    if (has_axis(seen, source)) refuse();
    seen |= std::int64_t{1} << source;
    shape.push_back(a.shape()[source]);
    order.push_back(source);
  }
  return record_view(Op::permute, a, shape, {order.begin(), order.end()}, {}, at);
}

Tensor transpose(const Tensor& a, std::int64_t axis0, std::int64_t axis1, Where at) {
  require_defined("transpose", a, at);
  Dims order;
  for (int i = 0; i < a.rank(); ++i) order.push_back(i);
  std::swap(order[normalize_axis("transpose", axis0, a.rank(), at)],
            order[normalize_axis("transpose", axis1, a.rank(), at)]);
  return permute(a, order, at);
}

Tensor move_axis(const Tensor& a, std::int64_t from, std::int64_t to, Where at) {
  require_defined("move_axis", a, at);
  const int source = normalize_axis("move_axis", from, a.rank(), at);
  const int place = normalize_axis("move_axis", to, a.rank(), at);
  Dims order;
  for (int i = 0; i < a.rank(); ++i) {
    if (order.rank() == place && source >= i) order.push_back(source);
    if (i != source) order.push_back(i);
    if (order.rank() == place && source < i) order.push_back(source);
  }
  return permute(a, order, at);
}

Tensor expand(const Tensor& a, const Shape& shape, Where at) {
  require_defined("expand", a, at);
  const int added = shape.rank() - a.rank();
  Shape target = shape;
  bool fits = added >= 0;
  for (int i = 0; fits && i < shape.rank(); ++i) {
    const std::int64_t own = i < added ? 1 : a.shape()[i - added];
    if (shape[i] == -1 && i >= added) target[i] = own;
    fits = target[i] >= 0 && (own == 1 || own == target[i]);
  }
  if (!fits)
    usage_error("expand",
                fmt::format("{} does not expand to {}", to_string(a.shape()), to_string(shape)),
                at);
  check_shape("expand", target, at);
  return record_view(Op::expand, a, target, {}, {}, at);
}

Tensor slice(const Tensor& a, std::int64_t axis, std::optional<std::int64_t> start,
             std::optional<std::int64_t> stop, std::int64_t step, Where at) {
  require_defined("slice", a, at);
  const int along = normalize_axis("slice", axis, a.rank(), at);
  if (step == 0) usage_error("slice", "the step is 0", at);
  const std::int64_t size = a.shape()[along];
  // Positions a start or stop may take: one past the last element in the direction of the step.
  const std::int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? size : size - 1;
  const auto clip = [&](std::optional<std::int64_t> position, std::int64_t otherwise) {
    if (!position) return otherwise;
    return std::clamp(*position < 0 ? *position + size : *position, lowest, highest);
  };
  const std::int64_t from = clip(start, step > 0 ? lowest : highest);
  const std::int64_t to = clip(stop, step > 0 ? highest : lowest);
  const std::int64_t distance = step > 0 ? to - from : from - to;
  const std::int64_t stride = step > 0 ? step : -step;
  const std::int64_t length = distance <= 0 ? 0 : (distance - 1) / stride + 1;
  return record_slice(a, along, from, step, length, at);
}

Tensor narrow(const Tensor& a, std::int64_t axis, std::int64_t start, std::int64_t length,
              Where at) {
  require_defined("narrow", a, at);
  const int along = normalize_axis("narrow", axis, a.rank(), at);
  const std::int64_t size = a.shape()[along];
  if (start < 0 || length < 0 || start > size - length)
    usage_error("narrow",
                fmt::format("{} elements from {} on are not in axis {} of {}", length, start, axis,
                            to_string(a.shape())),
                at);
  return record_slice(a, along, start, 1, length, at);
}

Tensor select(const Tensor& a, std::int64_t axis, std::int64_t index, Where at) {
  require_defined("select", a, at);
  const int along = normalize_axis("select", axis, a.rank(), at);
  const std::int64_t size = a.shape()[along];
  if (index < -size || index >= size)
    usage_error("select",
                fmt::format("index {} is not in axis {} of {}", index, axis, to_string(a.shape())),
                at);
  return squeeze(record_slice(a, along, index < 0 ? index + size : index, 1, 1, at), along, at);
}

Tensor flip(const Tensor& a, const Dims& axes, Where at) {
  require_defined("flip", a, at);
  std::array<std::int64_t, max_rank> steps;
  std::array<Slot, max_rank> starts;
  steps.fill(1);
  starts.fill(integer_slot(0));
  for (const std::int64_t axis : axes) {
    const int along = normalize_axis("flip", axis, a.rank(), at);
    const auto i = static_cast<std::size_t>(along);
    if (steps[i] == -1) usage_error("flip", fmt::format("axis {} is named twice", axis), at);
    steps[i] = -1;
    starts[i] = integer_slot(std::max<std::int64_t>(a.shape()[along] - 1, 0));
  }
  const auto rank = static_cast<std::size_t>(a.rank());
  return record_view(Op::slice, a, a.shape(), {steps.data(), rank}, {starts.data(), rank}, at);
}

std::vector<Tensor> split(const Tensor& a, std::int64_t length, std::int64_t axis, Where at) {
  require_defined("split", a, at);
  const int along = normalize_axis("split", axis, a.rank(), at);
  if (length <= 0) usage_error("split", fmt::format("the length is {}", length), at);
  std::vector<std::int64_t> lengths;
  for (std::int64_t rest = a.shape()[along]; rest > 0; rest -= length)
    lengths.push_back(std::min(rest, length));
  return split(a, lengths, along, at);
}

std::vector<Tensor> split(const Tensor& a, const std::vector<std::int64_t>& lengths,
                          std::int64_t axis, Where at) {
  require_defined("split", a, at);
  const int along = normalize_axis("split", axis, a.rank(), at);
  std::int64_t total = 0;
  for (const std::int64_t length : lengths) {
    if (length < 0 || length > a.shape()[along])
      usage_error("split", fmt::format("a length is {}, axis {} of {}", length, axis, describe(a)),
                  at);
    total += length;
  }
  if (total != a.shape()[along])
    usage_error("split",
                fmt::format("the lengths add up to {}, axis {} of {} does not", total, axis,
                            to_string(a.shape())),
                at);
  std::vector<Tensor> parts;
  std::int64_t start = 0;
  for (const std::int64_t length : lengths) {
    parts.push_back(record_slice(a, along, start, 1, length, at));
    start += length;
  }
  return parts;
}

Tensor detach(const Tensor& a, Where at) {
  require_defined("detach", a, at);
  const NodeRef input = a.ref();
  return record_op({.op = Op::detach,
                    .dtype = a.dtype(),
                    .shape = a.shape(),
                    .inputs = {&input, 1},
                    .differentiable = false,
                    .where = at});
}

}  // namespace sinter
