#include "runtime/slice_gradients.h"

#include <algorithm>
#include <optional>

#include "runtime/creation.h"
#include "runtime/indexing.h"
#include "runtime/modes.h"

namespace sinter {
namespace {

std::int64_t start(const Node& slice, int axis) {
  return slice.slots()[static_cast<std::size_t>(axis)].integer;
}

/// The one axis that the slice narrows, all its other axes being whole.
std::optional<int> narrowed_axis(const Node& slice, const Shape& shape) {
  std::optional<int> narrowed;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (slice.shape[axis] == shape[axis]) continue;
    if (narrowed || slice.fixed()[static_cast<std::size_t>(axis)] != 1) return std::nullopt;
    narrowed = axis;
  }
  return narrowed;
}

Tensor among_zeros(const Node& slice, const Tensor& gradient, const Shape& shape) {
  Dims starts, steps;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    starts.push_back(start(slice, axis));
    steps.push_back(slice.fixed()[static_cast<std::size_t>(axis)]);
  }
  const Tensor base = zeros(shape, gradient.dtype(), slice.where);
  return slice_update(base, gradient, starts, steps, slice.where);
}

}  // namespace

std::vector<Tensor> SliceGradients::take(const Shape& shape) {
  std::vector<SliceGradient> slices = std::move(slices_);
  slices_.clear();
  const Node& first = *slices.front().slice;
  const BackwardRegion region(first.region);
  const std::optional<int> axis = narrowed_axis(first, shape);
  bool side_by_side = axis.has_value();
  if (axis) {
    std::stable_sort(slices.begin(), slices.end(), [&](const auto& a, const auto& b) {
      return start(*a.slice, *axis) < start(*b.slice, *axis);
    });
    std::int64_t covered = 0;
    for (const auto& [slice, gradient] : slices) {
      side_by_side =
          side_by_side && narrowed_axis(*slice, shape) == axis && start(*slice, *axis) == covered;
      covered += slice->shape[*axis];
    }
    side_by_side = side_by_side && covered == shape[*axis];
  }
  std::vector<Tensor> gradients;
  for (const auto& [slice, gradient] : slices)
    gradients.push_back(side_by_side ? gradient : among_zeros(*slice, gradient, shape));
  if (!side_by_side) return gradients;
  return {concatenate(gradients, *axis, first.where)};
}

}  // namespace sinter
