#include <algorithm>
#include <numeric>

#include "fuzz/draw_builder.h"

namespace sinter::fuzz {
namespace {

std::optional<std::size_t> any_with_axes(DrawBuilder& builder, int least = 1) {
  return builder.find(
      [&](const Step& step) { return step.shape.rank() >= least && step.shape.rank() <= 5; });
}

/// Two neighbours joined, a size of 1 dropped or added, one axis cut in two, or all in one.
Shape other_shape(DrawBuilder& builder, const Shape& shape) {
  Shape other;
  const int rank = shape.rank();
  const int at = static_cast<int>(builder.below(static_cast<std::size_t>(rank) + 1));
  switch (builder.below(std::size_t{4})) {
    case 0:
      for (int axis = 0; axis < rank; ++axis) {
        if (axis + 1 == at && at < rank) {
          other.push_back(shape[axis] * shape[axis + 1]);
          ++axis;
        } else {
          other.push_back(shape[axis]);
        }
      }
      return other;
    case 1:
      for (int axis = 0; axis <= rank; ++axis) {
        if (axis == at) other.push_back(1);
        if (axis < rank) other.push_back(shape[axis]);
      }
      return other;
    case 2:
      for (int axis = 0; axis < rank; ++axis) {
        const std::int64_t size = shape[axis];
        const std::int64_t part = size % 2 == 0 ? 2 : size % 3 == 0 ? 3 : 1;
        if (axis == at && size > 0) other.push_back(part);
        other.push_back(axis == at && size > 0 ? size / part : size);
      }
      return other;
    default: return {element_count(shape)};
  }
}

void draw_slice(DrawBuilder& builder, std::size_t a) {
  const Shape& of = builder.shape(a);
  const auto rank = static_cast<std::size_t>(of.rank());
  std::vector<std::int64_t> steps(rank, 1);
  std::vector<Slot> starts(rank, integer_slot(0));
  Shape shape = of;
  const int axis = builder.any_axis(a);
  const auto i = static_cast<std::size_t>(axis);
  const std::int64_t size = of[axis];
  if (builder.one_in(3)) {
    if (size == 0) return;
    steps[i] = -1;
    starts[i] = integer_slot(size - 1);
  } else {
    const std::int64_t start = size > 0 ? builder.below(size) : 0;
    steps[i] = 1 + builder.below(std::int64_t{2});
    shape[axis] = builder.below((size - start + steps[i] - 1) / steps[i] + 1);
    starts[i] = integer_slot(shape[axis] == 0 ? 0 : start);
  }
  builder.add_shaped(Op::slice, {a}, shape, steps, starts);
}

void draw_pad(DrawBuilder& builder, std::size_t a) {
  const Step& of = builder.step(a);
  std::vector<Slot> slots{number_slot(of.dtype, builder.one_in(2) ? 0 : 1)};
  Shape shape = of.shape;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const std::int64_t before = builder.below(std::int64_t{3});
    slots.push_back(integer_slot(before));
    shape[axis] += before + builder.below(std::int64_t{3});
  }
  builder.add_shaped(Op::pad, {a}, shape, {}, slots);
}

void draw_slice_update(DrawBuilder& builder, std::size_t a) {
  Shape part = builder.shape(a);
  std::vector<Slot> starts;
  for (int axis = 0; axis < part.rank(); ++axis) {
    const std::int64_t size = part[axis];
    const std::int64_t start = size > 0 ? builder.below(size) : 0;
    part[axis] = builder.below(size - start + 1);
    starts.push_back(integer_slot(part[axis] == 0 ? 0 : start));
  }
  const std::size_t update = builder.like(builder.step(a).dtype, part);
  builder.add_op(Op::slice_update, {a, update},
                 std::vector<std::int64_t>(static_cast<std::size_t>(part.rank()), 1), starts);
}

void draw_concatenate(DrawBuilder& builder, std::size_t a) {
  const int axis = builder.any_axis(a);
  const Shape shape = builder.shape(a);
  std::vector<std::size_t> parts{a};
  for (std::size_t more = 1 + builder.below(std::size_t{3}); more > 0; --more) {
    const auto fits = [&](const Step& step) {
      Shape own = step.shape;
      if (own.rank() == shape.rank()) own[axis] = shape[axis];
      return own == shape;
    };
    parts.push_back(builder.find(fits).value());
  }
  builder.add_op(Op::concatenate, parts, {axis});
}

}  // namespace

void draw_view(DrawBuilder& builder) {
  const auto a = any_with_axes(builder);
  if (!a) return;
  const Shape shape = builder.shape(*a);
  switch (builder.below(std::size_t{6})) {
    case 0:
    case 1: builder.add_shaped(Op::reshape, {*a}, other_shape(builder, shape), {}); break;
    case 2: {
      std::vector<std::int64_t> order(static_cast<std::size_t>(shape.rank()));
      std::iota(order.begin(), order.end(), 0);
      for (std::size_t i = order.size(); i > 1; --i)
        std::swap(order[i - 1], order[builder.below(i)]);
      builder.add_op(Op::permute, {*a}, order);
      break;
    }
    case 3: {
      Shape larger = shape;
      for (int axis = 0; axis < larger.rank(); ++axis)
        if (larger[axis] == 1) larger[axis] = builder.any_size();
      Shape front{builder.any_size()};
      for (const std::int64_t size : larger) front.push_back(size);
      builder.add_shaped(Op::expand, {*a}, builder.one_in(2) ? front : larger);
      break;
    }
    case 4: draw_slice(builder, *a); break;
    default: builder.add_op(Op::detach, {*a});
  }
}

void draw_join(DrawBuilder& builder) {
  const auto a = any_with_axes(builder);
  if (!a) return;
  switch (builder.below(std::size_t{3})) {
    case 0: draw_pad(builder, *a); break;
    case 1: draw_slice_update(builder, *a); break;
    default: draw_concatenate(builder, *a);
  }
}

void draw_order(DrawBuilder& builder) {
  const auto a = any_with_axes(builder);
  if (!a) return;
  const int axis = builder.any_axis(*a);
  const std::int64_t size = builder.shape(*a)[axis];
  std::optional<std::size_t> both;
  switch (builder.below(std::size_t{3})) {
    case 0: builder.add_op(Op::cumsum, {*a}, {axis}); return;
    case 1: both = builder.add_op(Op::sort, {*a}, {axis, builder.one_in(2)}); break;
    default: {
      Shape shape = builder.shape(*a);
      shape[axis] = builder.below(size + 1);
      both = builder.add_shaped(Op::topk, {*a}, shape, {axis, builder.one_in(2)});
    }
  }
  if (!both) return;
  builder.add_op(Op::pick, {*both}, {0});
  if (builder.one_in(2)) builder.add_op(Op::pick, {*both}, {1});
}

void draw_index(DrawBuilder& builder) {
  const auto a = any_with_axes(builder);
  if (!a) return;
  const int axis = builder.any_axis(*a);
  const Shape shape = builder.shape(*a);
  const DType dtype = builder.step(*a).dtype;
  if (shape[axis] == 0) return;
  Shape some = shape;
  some[axis] = builder.any_size();
  switch (builder.below(std::size_t{4})) {
    case 0: {
      const Shape places =
          builder.one_in(3) ? Shape{2, builder.any_size()} : Shape{builder.any_size()};
      builder.add_op(Op::take, {*a, builder.add_indices(places, shape[axis])}, {axis});
      break;
    }
    case 1: builder.add_op(Op::gather, {*a, builder.add_indices(some, shape[axis])}, {axis}); break;
    case 2: {
      const std::size_t places = builder.add_indices({some[axis]}, shape[axis]);
      builder.add_op(Op::index_add, {*a, places, builder.like(dtype, some)}, {axis});
      break;
    }
    default: {
      const std::size_t places = builder.add_indices(some, shape[axis]);
      builder.add_op(Op::scatter_add, {*a, places, builder.like(dtype, some)}, {axis});
    }
  }
}

}  // namespace sinter::fuzz
