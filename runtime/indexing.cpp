#include "runtime/indexing.h"

#include <fmt/format.h>

#include <array>

#include "runtime/record.h"

namespace sinter {
namespace {

void require_indices(std::string_view op, const Tensor& indices, Where at) {
  require_defined(op, indices, at);
  if (indices.dtype() != DType::i32 && indices.dtype() != DType::i64)
    usage_error(op, "indices must be i32 or i64: " + describe(indices), at);
}

/// Where several sources are added to one place there is no conversion that would suit both.
void require_same_dtype(std::string_view op, const Tensor& a, const Tensor& source, Where at) {
  if (a.dtype() != source.dtype())
    usage_error(op, fmt::format("dtypes differ: {}, source {}", describe(a), describe(source)), at);
}

Tensor record_movement(Op op, const Shape& shape, std::span<const NodeRef> inputs, int axis,
                       Where at) {
  const std::int64_t fixed = axis;
  return record_op({.op = op,
                    .dtype = inputs[0]->dtype,
                    .shape = shape,
                    .inputs = inputs,
                    .fixed = {&fixed, 1},
                    .where = at});
}

/// take under the name its caller knows.
Tensor take_as(std::string_view op, const Tensor& a, const Tensor& indices, std::int64_t axis,
               Where at) {
  require_defined(op, a, at);
  require_indices(op, indices, at);
  const int along = normalize_axis(op, axis, a.rank(), at);
  if (a.rank() - 1 + indices.rank() > max_rank)
    usage_error(op,
                fmt::format("more than {} dimensions: {} by indices {}", max_rank, describe(a),
                            describe(indices)),
                at);
  Shape shape;
  for (int i = 0; i < along; ++i) shape.push_back(a.shape()[i]);
  for (const std::int64_t size : indices.shape()) shape.push_back(size);
  for (int i = along + 1; i < a.rank(); ++i) shape.push_back(a.shape()[i]);
  check_shape(op, shape, at);
  const std::array inputs{a.ref(), indices.ref()};
  return record_movement(Op::take, shape, inputs, along, at);
}

/// gather and scatter_add: `indices` has a's rank and off the axis no larger sizes.
void require_fitting_indices(std::string_view op, const Tensor& a, const Tensor& indices, int axis,
                             Where at) {
  bool fits = a.rank() == indices.rank();
  for (int i = 0; fits && i < a.rank(); ++i) fits = i == axis || indices.shape()[i] <= a.shape()[i];
  if (!fits)
    usage_error(
        op,
        fmt::format("indices {} do not fit {} along axis {}", describe(indices), describe(a), axis),
        at);
}

}  // namespace

Tensor take(const Tensor& a, const Tensor& indices, std::int64_t axis, Where at) {
  return take_as("take", a, indices, axis, at);
}

Tensor embedding(const Tensor& table, const Tensor& indices, Where at) {
  require_defined("embedding", table, at);
  if (table.rank() != 2)
    usage_error("embedding", "the table must be [vocabulary, width]: " + describe(table), at);
  return take_as("embedding", table, indices, 0, at);
}

Tensor index_select(const Tensor& a, std::int64_t axis, const Tensor& indices, Where at) {
  require_defined("index_select", indices, at);
  if (indices.rank() != 1)
    usage_error("index_select", "indices must have rank 1: " + describe(indices), at);
  return take_as("index_select", a, indices, axis, at);
}

Tensor index_add(const Tensor& a, std::int64_t axis, const Tensor& indices, const Tensor& source,
                 Where at) {
  constexpr std::string_view op = "index_add";
  require_defined(op, a, at);
  require_indices(op, indices, at);
  require_defined(op, source, at);
  require_same_dtype(op, a, source, at);
  const int along = normalize_axis(op, axis, a.rank(), at);
  Shape expected = a.shape();
  if (indices.rank() == 1) expected[along] = indices.shape()[0];
  if (indices.rank() != 1 || source.shape() != expected)
    usage_error(
        op,
        fmt::format("{} along axis {} takes indices [n] and a source of {} with n on the "
                    "axis: indices {}, source {}",
                    describe(a), along, to_string(a.shape()), describe(indices), describe(source)),
        at);
  const std::array inputs{a.ref(), indices.ref(), source.ref()};
  return record_movement(Op::index_add, a.shape(), inputs, along, at);
}

Tensor gather(const Tensor& a, std::int64_t axis, const Tensor& indices, Where at) {
  require_defined("gather", a, at);
  require_indices("gather", indices, at);
  const int along = normalize_axis("gather", axis, a.rank(), at);
  require_fitting_indices("gather", a, indices, along, at);
  const std::array inputs{a.ref(), indices.ref()};
  return record_movement(Op::gather, indices.shape(), inputs, along, at);
}

Tensor scatter_add(const Tensor& a, std::int64_t axis, const Tensor& indices, const Tensor& source,
                   Where at) {
  constexpr std::string_view op = "scatter_add";
  require_defined(op, a, at);
  require_indices(op, indices, at);
  require_defined(op, source, at);
  require_same_dtype(op, a, source, at);
  const int along = normalize_axis(op, axis, a.rank(), at);
  require_fitting_indices(op, a, indices, along, at);
  if (source.shape() != indices.shape())
    usage_error(op,
                fmt::format("indices {} and source {} must have one shape", describe(indices),
                            describe(source)),
                at);
  const std::array inputs{a.ref(), indices.ref(), source.ref()};
  return record_movement(Op::scatter_add, a.shape(), inputs, along, at);
}

}  // namespace sinter
