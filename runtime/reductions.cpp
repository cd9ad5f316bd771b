#include "runtime/reductions.h"

#include <fmt/format.h>

#include "runtime/attributes.h"
#include "runtime/autocast.h"
#include "runtime/elementwise.h"
#include "runtime/record.h"
#include "runtime/views.h"

namespace sinter {
namespace {

std::int64_t axes_mask(std::string_view op, const Tensor& a, const Dims& axes, Where at) {
  if (axes.empty()) return (std::int64_t{1} << a.rank()) - 1;
  std::int64_t mask = 0;
  for (const std::int64_t axis : axes) {
    const int i = normalize_axis(op, axis, a.rank(), at);
    if (has_axis(mask, i)) usage_error(op, fmt::format("axis {} is named twice", axis), at);
    mask |= std::int64_t{1} << i;
  }
  return mask;
}

Shape reduced_shape(const Shape& shape, std::int64_t mask, bool keepdim) {
  Shape reduced;
  for (int i = 0; i < shape.rank(); ++i) {
    if (!has_axis(mask, i)) reduced.push_back(shape[i]);
    if (has_axis(mask, i) && keepdim) reduced.push_back(1);
  }
  return reduced;
}

std::int64_t reduced_extent(const Shape& shape, std::int64_t mask) {
  std::int64_t extent = 1;
  for (int i = 0; i < shape.rank(); ++i)
    if (has_axis(mask, i)) extent *= shape[i];
  return extent;
}

Tensor drop_axes(const Tensor& kept, const Tensor& a, std::int64_t mask, bool keepdim, Where at) {
  if (keepdim || mask == 0) return kept;
  return reshape(kept, reduced_shape(a.shape(), mask, false), at);
}

struct ReductionCall {
  Op op;
  DType dtype = DType::f32;
  std::int64_t mask = 0;
  std::int64_t correction = 0;  // of var
};

Tensor record_reduction(const ReductionCall& call, const Tensor& a, bool keepdim, Where at) {
  const NodeRef input = a.ref();
  const std::array<std::int64_t, 2> fixed{call.mask, call.correction};
  const bool differentiable = call.op != Op::any && call.op != Op::all;
  const Tensor kept = record_op({.op = call.op,
                                 .dtype = call.dtype,
                                 .shape = reduced_shape(a.shape(), call.mask, true),
                                 .inputs = {&input, 1},
                                 .fixed = {fixed.data(), call.op == Op::var ? 2u : 1u},
                                 .differentiable = differentiable,
                                 .where = at});
  return drop_axes(kept, a, call.mask, keepdim, at);
}

/// sum and prod: integers and bool add up in i64.
Tensor accumulate(Op op, const Tensor& a, const Dims& axes, bool keepdim, Where at) {
  require_defined(to_string(op), a, at);
  const DType dtype = is_floating(a.dtype()) ? a.dtype() : DType::i64;
  return record_reduction({op, dtype, axes_mask(to_string(op), a, axes, at)}, a, keepdim, at);
}

Tensor extremum(Op op, const Tensor& a, const Dims& axes, bool keepdim, Where at) {
  require_defined(to_string(op), a, at);
  const std::int64_t mask = axes_mask(to_string(op), a, axes, at);
  if (reduced_extent(a.shape(), mask) == 0)
    usage_error(to_string(op), "no elements to choose from in " + describe(a), at);
  return record_reduction({op, a.dtype(), mask}, a, keepdim, at);
}

Tensor truth(Op op, const Tensor& a, const Dims& axes, bool keepdim, Where at) {
  require_defined(to_string(op), a, at);
  return record_reduction({op, DType::boolean, axes_mask(to_string(op), a, axes, at)}, a, keepdim,
                          at);
}

/// Of a floating tensor, as the function `called`.
Tensor floating_reduction(std::string_view called, ReductionCall call, const Tensor& a,
                          const Dims& axes, bool keepdim, Where at) {
  require_defined(called, a, at);
  if (!is_floating(a.dtype()))
    usage_error(called, "takes a floating tensor, not " + describe(a) + "; cast it first", at);
  call.dtype = a.dtype();
  call.mask = axes_mask(called, a, axes, at);
  return record_reduction(call, a, keepdim, at);
}

Tensor floating_reduction(Op op, const Tensor& a, const Dims& axes, bool keepdim, Where at) {
  return floating_reduction(to_string(op), {op}, a, axes, keepdim, at);
}

Tensor position(Op op, const Tensor& a, std::int64_t axis, bool keepdim, Where at) {
  require_defined(to_string(op), a, at);
  const int along = normalize_axis(to_string(op), axis, a.rank(), at);
  if (a.shape()[along] == 0)
    usage_error(to_string(op), "no elements to choose from in " + describe(a), at);
  const NodeRef input = a.ref();
  const std::int64_t fixed = along, mask = std::int64_t{1} << along;
  const Tensor kept = record_op({.op = op,
                                 .dtype = DType::i64,
                                 .shape = reduced_shape(a.shape(), mask, true),
                                 .inputs = {&input, 1},
                                 .fixed = {&fixed, 1},
                                 .differentiable = false,
                                 .where = at});
  return drop_axes(kept, a, mask, keepdim, at);
}

}  // namespace

Tensor sum(const Tensor& a, const Dims& axes, bool keepdim, Where at) {
  return accumulate(Op::sum, a, axes, keepdim, at);
}
Tensor prod(const Tensor& a, const Dims& axes, bool keepdim, Where at) {
  return accumulate(Op::prod, autocast_high(a, at), axes, keepdim, at);
}
Tensor mean(const Tensor& a, const Dims& axes, bool keepdim, Where at) {
  return floating_reduction(Op::mean, a, axes, keepdim, at);
}
Tensor amax(const Tensor& a, const Dims& axes, bool keepdim, Where at) {
  return extremum(Op::amax, a, axes, keepdim, at);
}
Tensor amin(const Tensor& a, const Dims& axes, bool keepdim, Where at) {
  return extremum(Op::amin, a, axes, keepdim, at);
}
Tensor any(const Tensor& a, const Dims& axes, bool keepdim, Where at) {
  return truth(Op::any, a, axes, keepdim, at);
}
Tensor all(const Tensor& a, const Dims& axes, bool keepdim, Where at) {
  return truth(Op::all, a, axes, keepdim, at);
}
Tensor argmax(const Tensor& a, std::int64_t axis, bool keepdim, Where at) {
  return position(Op::argmax, a, axis, keepdim, at);
}
Tensor argmin(const Tensor& a, std::int64_t axis, bool keepdim, Where at) {
  return position(Op::argmin, a, axis, keepdim, at);
}
Tensor argmax(const Tensor& a, Where at) { return argmax(flatten(a, at), 0, false, at); }
Tensor argmin(const Tensor& a, Where at) { return argmin(flatten(a, at), 0, false, at); }

Tensor var(const Tensor& a, const Dims& axes, std::int64_t correction, bool keepdim, Where at) {
  return floating_reduction("var", {.op = Op::var, .correction = correction}, a, axes, keepdim, at);
}
Tensor std(const Tensor& a, const Dims& axes, std::int64_t correction, bool keepdim, Where at) {
  const ReductionCall call{.op = Op::var, .correction = correction};
  const Tensor squared = floating_reduction("std", call, a, axes, keepdim, at);
  // The root's slope at 0 is infinite, and times 0 it is NaN: there the gradient is 0.
  const Tensor flat = sinter::equal(squared, 0.0, at);
  return where(flat, squared, sqrt(where(flat, 1.0, squared, at), at), at);
}
Tensor logsumexp(const Tensor& a, const Dims& axes, bool keepdim, Where at) {
  return floating_reduction(Op::logsumexp, a, axes, keepdim, at);
}
Tensor norm(const Tensor& a, const Dims& axes, bool keepdim, Where at) {
  return floating_reduction(Op::norm, a, axes, keepdim, at);
}

}  // namespace sinter
