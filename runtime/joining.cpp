// The functions of indexing.h that put tensors together: boxes placed in larger ones.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "runtime/attributes.h"
#include "runtime/creation.h"
#include "runtime/elementwise.h"
#include "runtime/indexing.h"
#include "runtime/record.h"
#include "runtime/views.h"

namespace sinter {
namespace {

void require_parts(std::string_view op, const std::vector<Tensor>& parts, Where at) {
  if (parts.empty()) usage_error(op, "no parts", at);
  for (const Tensor& part : parts) require_defined(op, part, at);
}

/// The axis of a list of equal shapes that may differ there.
Shape joined_shape(const std::vector<Tensor>& parts, int axis, Where at) {
  Shape shape = parts[0].shape();
  std::int64_t total = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Shape expected = parts[i].shape();
    if (expected.rank() == shape.rank()) {
      total += expected[axis];
      expected[axis] = shape[axis];
    }
    if (expected != shape)
      usage_error("concatenate",
                  fmt::format("part {} is {}, part 0 is {}: sizes off axis {} differ", i,
                              describe(parts[i]), describe(parts[0]), axis),
                  at);
  }
  shape[axis] = total;
  check_shape("concatenate", shape, at);
  return shape;
}

/// Whether `count` places from `start` on by `step` lie in [0, size).
bool box_fits(std::int64_t start, std::int64_t step, std::int64_t count, std::int64_t size) {
  if (count == 0) return true;
  if (start < 0 || start >= size || count > size) return false;
  const std::int64_t room = step > 0 ? size - 1 - start : start;
  return count == 1 || std::abs(step) <= room / (count - 1);
}

Tensor triangle(std::string_view op, const Tensor& a, std::int64_t offset, bool lower, Where at) {
  require_defined(op, a, at);
  if (a.rank() < 2) usage_error(op, "takes [..., rows, columns]: " + describe(a), at);
  const std::int64_t rows = a.size(-2, at), columns = a.size(-1, at);
  // Beyond these the whole matrix is on one side.
  const std::int64_t diagonal = std::clamp(offset, -rows - 1, columns + 1);
  const Tensor row = unsqueeze(
      arange(static_cast<double>(diagonal), static_cast<double>(diagonal + rows), 1, i64, at), 1,
      at);
  const Tensor column = arange(columns, i64, at);
  const Tensor kept = lower ? less_equal(column, row, at) : greater_equal(column, row, at);
  return where(kept, a, false, at);
}

}  // namespace

Tensor concatenate(const std::vector<Tensor>& parts, std::int64_t axis, Where at) {
  require_parts("concatenate", parts, at);
  const int along = normalize_axis("concatenate", axis, parts[0].rank(), at);
  const Shape shape = joined_shape(parts, along, at);
  const DType dtype = common_dtype(parts);
  std::vector<NodeRef> inputs;
  for (const Tensor& part : parts) inputs.push_back(in_dtype(part, dtype, at).ref());
  const std::int64_t fixed = along;
  return record_op({.op = Op::concatenate,
                    .dtype = dtype,
                    .shape = shape,
                    .inputs = inputs,
                    .fixed = {&fixed, 1},
                    .where = at});
}

Tensor stack(const std::vector<Tensor>& parts, std::int64_t axis, Where at) {
  require_parts("stack", parts, at);
  for (std::size_t i = 1; i < parts.size(); ++i)
    if (parts[i].shape() != parts[0].shape())
      usage_error("stack",
                  fmt::format("shapes differ: part {} is {}, part 0 is {}", i, describe(parts[i]),
                              describe(parts[0])),
                  at);
  if (parts[0].rank() == max_rank)
    usage_error("stack", fmt::format("more than {} dimensions", max_rank), at);
  const int along = normalize_axis("stack", axis, parts[0].rank() + 1, at);
  std::vector<Tensor> rows;
  for (const Tensor& part : parts) rows.push_back(unsqueeze(part, along, at));
  return concatenate(rows, along, at);
}

Tensor pad(const Tensor& a, const Dims& before, const Dims& after, double value, Where at) {
  require_defined("pad", a, at);
  if (before.rank() != a.rank() || after.rank() != a.rank())
    usage_error("pad",
                fmt::format("{} takes one number for each axis: before {}, after {}", describe(a),
                            to_string(before), to_string(after)),
                at);
  if (!holds(a.dtype(), value))
    usage_error("pad", fmt::format("{} does not hold the value {}", describe(a), value), at);
  Shape shape = a.shape();
  std::vector<Slot> slots{number_slot(a.dtype(), value)};
  for (int i = 0; i < a.rank(); ++i) {
    constexpr std::int64_t most = std::int64_t{1} << 60;
    if (before[i] < 0 || after[i] < 0 || before[i] > most || after[i] > most)
      usage_error("pad",
                  fmt::format("numbers out of range: before {}, after {}", to_string(before),
                              to_string(after)),
                  at);
    shape[i] += before[i] + after[i];
    slots.push_back(integer_slot(before[i]));
  }
  check_shape("pad", shape, at);
  const NodeRef input = a.ref();
  return record_op({.op = Op::pad,
                    .dtype = a.dtype(),
                    .shape = shape,
                    .inputs = {&input, 1},
                    .slots = slots,
                    .where = at});
}

Tensor slice_update(const Tensor& a, const Tensor& update, const Dims& starts, const Dims& steps,
                    Where at) {
  constexpr std::string_view op = "slice_update";
  require_defined(op, a, at);
  require_defined(op, update, at);
  if (a.dtype() != update.dtype())
    usage_error(op, fmt::format("dtypes differ: {}, update {}", describe(a), describe(update)), at);
  bool fits = update.rank() == a.rank() && starts.rank() == a.rank() &&
              (steps.empty() || steps.rank() == a.rank());
  std::vector<std::int64_t> fixed;
  std::vector<Slot> slots;
  for (int i = 0; fits && i < a.rank(); ++i) {
    const std::int64_t step = steps.empty() ? 1 : steps[i];
    fits = step != 0 && step != INT64_MIN &&
           box_fits(starts[i], step, update.shape()[i], a.shape()[i]);
    fixed.push_back(step);
    slots.push_back(integer_slot(starts[i]));
  }
  if (!fits)
    usage_error(
        op,
        fmt::format("an update {} at {} by {} does not lie in {}", describe(update),
                    to_string(starts), steps.empty() ? "ones" : to_string(steps), describe(a)),
        at);
  const std::array inputs{a.ref(), update.ref()};
  return record_op({.op = Op::slice_update,
                    .dtype = a.dtype(),
                    .shape = a.shape(),
                    .inputs = inputs,
                    .fixed = fixed,
                    .slots = slots,
                    .where = at});
}

Tensor tril(const Tensor& a, std::int64_t offset, Where at) {
  return triangle("tril", a, offset, true, at);
}

Tensor triu(const Tensor& a, std::int64_t offset, Where at) {
  return triangle("triu", a, offset, false, at);
}

}  // namespace sinter
