#include "kernels/reduce.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include "kernels/elementwise.h"
#include "kernels/reduce_pass.h"
#include "kernels/tile_access.h"

namespace sinter::kernels {
namespace {

using Block = std::unique_ptr<std::byte[]>;

Block allocate(std::int64_t count, DType dtype) {
  return std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(count) *
                                                     item_size(dtype));
}

View contiguous_view(void* data, DType dtype, const Shape& shape) {
  return {data, dtype, shape, contiguous_strides(shape)};
}

/// `view` of a reduced shape, as the elements of `shape` see it.
ConstView spread(ConstView view, const Shape& shape) {
  for (int i = 0; i < shape.rank(); ++i)
    if (view.shape[i] != shape[i]) view.strides[i] = 0;
  view.shape = shape;
  return view;
}

/// out = op(a, b) in the compute type of `out`; such ops never fail on data.
template <typename... Inputs>
void apply(Op op, const View& out, const Inputs&... inputs) {
  const std::array<ConstView, sizeof...(inputs)> views = {inputs...};
  Fault none;
  elementwise(op, out.dtype, views, out, none);
}

/// Divides by a number rounded to the compute type.
void divide(const View& view, double number) {
  with_compute_type(view.dtype, [&]<typename C>(C) {
    const C divisor = static_cast<C>(number);
    const ConstView all{&divisor, view.dtype, view.shape, Strides::filled(view.shape.rank(), 0)};
    if constexpr (std::is_floating_point_v<C>) apply(Op::div, view, view, all);
  });
}

template <typename C>
C identity(Combine combine) {
  using Limits = std::numeric_limits<C>;
  switch (combine) {
    case Combine::sum: return 0;
    case Combine::prod: return 1;
    case Combine::amax: return Limits::has_infinity ? -Limits::infinity() : Limits::min();
    default: return Limits::has_infinity ? Limits::infinity() : Limits::max();
  }
}

/// A group of neighbouring reduced axes.
struct Group {
  std::int64_t outer, extent, inner;
};

/// The groups, the innermost first, and how many there are.
int find_groups(const Shape& shape, std::int64_t mask, std::array<Group, max_rank>& groups) {
  int count = 0;
  std::int64_t outer = element_count(shape), inner = 1;
  bool open = false;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    if (shape[axis] == 1) continue;
    outer /= shape[axis];
    const bool reduced = (mask >> axis) & 1;
    if (reduced && open) groups[static_cast<std::size_t>(count - 1)].extent *= shape[axis];
    else if (reduced) groups[static_cast<std::size_t>(count++)] = {0, shape[axis], inner};
    else inner *= shape[axis];
    if (reduced) groups[static_cast<std::size_t>(count - 1)].outer = outer;
    open = reduced;
  }
  return count;
}

/// The input combined over the axes of `mask`, one group after the other, to a contiguous array.
void combine_groups(Combine combine, PassInput input, std::int64_t mask, void* out) {
  std::array<Group, max_rank> groups;
  const int count = find_groups(input.view.shape, mask, groups);
  if (count == 0) return reduce_pass(combine, input, element_count(input.view.shape), 1, 1, out);
  Block held;
  for (int i = 0; i < count; ++i) {
    const auto [outer, extent, inner] = groups[static_cast<std::size_t>(i)];
    const std::int64_t size = outer * inner;
    Block next = i + 1 < count ? allocate(size, input.compute) : nullptr;
    void* const to = next ? next.get() : out;
    reduce_pass(combine, input, outer, extent, inner, to);
    held = std::move(next);
    input = {{held.get(), input.compute, {size}, {1}}, input.compute};
  }
}

/// Over possibly no elements; the result is a contiguous view in the compute type.
void combine_all(Combine combine, const PassInput& input, std::int64_t mask, const View& out) {
  if (element_count(input.view.shape) > 0) return combine_groups(combine, input, mask, out.data);
  with_compute_type(out.dtype, [&]<typename C>(C) {
    std::fill_n(static_cast<C*>(out.data), element_count(out.shape), identity<C>(combine));
  });
}

/// in - center, squared, then summed.
void sum_squared_distances(const ConstView& in, const View& center, std::int64_t mask,
                           const View& out) {
  const DType compute = out.dtype;
  const Block distances = allocate(element_count(in.shape), compute);
  const View all = contiguous_view(distances.get(), compute, in.shape);
  apply(Op::sub, all, in, spread(center, in.shape));
  combine_all(Combine::sum, {all, compute, tile_function(tiles(), Op::square, compute)}, mask, out);
}

/// log of the sum of exp(in - shift), plus shift.
void log_sum(const ConstView& in, const View& shift, std::int64_t mask, const View& out) {
  const DType compute = out.dtype;
  const Block differences = allocate(element_count(in.shape), compute);
  const View all = contiguous_view(differences.get(), compute, in.shape);
  apply(Op::sub, all, in, spread(shift, in.shape));
  combine_all(Combine::sum, {all, compute, tile_function(tiles(), Op::exp, compute)}, mask, out);
  apply(Op::log, out, out);
  apply(Op::add, out, out, shift);
}

/// An infinite or NaN maximum does not shift: the exponentials then say what the result is.
void zero_unless_finite(const View& view) {
  with_compute_type(view.dtype, [&]<typename C>(C) {
    C* const elements = static_cast<C*>(view.data);
    for (std::int64_t i = 0; i < element_count(view.shape); ++i)
      if (!std::isfinite(elements[i])) elements[i] = 0;
  });
}

/// The op with a contiguous result in the compute type.
void reduce_to(Op op, const ConstView& in, std::int64_t mask, std::int64_t correction,
               const View& out) {
  const DType compute = out.dtype;
  const auto prepared = [&](Op with) {
    return PassInput{in, compute, tile_function(tiles(), with, compute)};
  };
  const PassInput plain{in, compute};
  const auto count = [&] {
    std::int64_t reduced = 1;
    for (int i = 0; i < in.shape.rank(); ++i)
      if ((mask >> i) & 1) reduced *= in.shape[i];
    return reduced;
  };
  switch (op) {
    case Op::sum: return combine_all(Combine::sum, plain, mask, out);
    case Op::prod: return combine_all(Combine::prod, plain, mask, out);
    case Op::amax: return combine_all(Combine::amax, plain, mask, out);
    case Op::amin: return combine_all(Combine::amin, plain, mask, out);
    case Op::any:  // how many: rounding never makes it 0
      return combine_all(Combine::sum, prepared(Op::not_equal), mask, out);
    case Op::all:  // zeros and ones
      return combine_all(Combine::prod, prepared(Op::not_equal), mask, out);
    case Op::mean:
      combine_all(Combine::sum, plain, mask, out);
      return divide(out, static_cast<double>(count()));
    case Op::norm:
      combine_all(Combine::sum, prepared(Op::square), mask, out);
      return apply(Op::sqrt, out, out);
    default: break;
  }
  const Block first = allocate(element_count(out.shape), compute);
  const View center = contiguous_view(first.get(), compute, out.shape);
  if (op == Op::var) {
    combine_all(Combine::sum, plain, mask, center);
    divide(center, static_cast<double>(count()));
    sum_squared_distances(in, center, mask, out);
    divide(out, var_divisor(count(), correction));
  } else {
    combine_all(Combine::amax, plain, mask, center);
    zero_unless_finite(center);
    log_sum(in, center, mask, out);
  }
}

}  // namespace

void reduce(Op op, const ConstView& in, std::int64_t mask, std::int64_t correction,
            const View& out) {
  const std::int64_t count = element_count(out.shape);
  if (count == 0) return;
  const DType compute = op == Op::var ? f64 : compute_dtype(in.dtype);
  if (out.dtype == compute && is_contiguous(out.shape, out.strides))
    return reduce_to(op, in, mask, correction, contiguous_view(out.data, compute, out.shape));
  const Block result = allocate(count, compute);
  const View whole = contiguous_view(result.get(), compute, out.shape);
  reduce_to(op, in, mask, correction, whole);
  copy(whole, out);
}

}  // namespace sinter::kernels
