/// \file
/// The same elements seen with another shape. Nothing is written, so views need no special care.
/// Every function here is differentiable and copies only where the strides force it.
#pragma once

#include <optional>

#include "tensor.h"

namespace sinter {

/// Row-major elements under another shape of the same element count; one size may be -1.
Tensor reshape(const Tensor& a, const Shape& shape, Where at = Where::current());
/// All elements in one axis.
Tensor flatten(const Tensor& a, Where at = Where::current());
/// Axes `first` to `last`, both included, joined.
Tensor flatten(const Tensor& a, std::int64_t first, std::int64_t last, Where at = Where::current());
/// Without the axis `axis`, which must be of size 1.
Tensor squeeze(const Tensor& a, std::int64_t axis, Where at = Where::current());
/// With a new axis of size 1 before `axis`; -1 is after the last.
Tensor unsqueeze(const Tensor& a, std::int64_t axis, Where at = Where::current());

/// Axis i of the result is axis `axes[i]` of `a`.
Tensor permute(const Tensor& a, const Dims& axes, Where at = Where::current());
Tensor transpose(const Tensor& a, std::int64_t axis0 = -2, std::int64_t axis1 = -1,
                 Where at = Where::current());
/// Axis `from` moved to place `to`, the others in order.
Tensor move_axis(const Tensor& a, std::int64_t from, std::int64_t to, Where at = Where::current());

/// Sizes of 1 repeated, new axes in front; -1 keeps a size.
Tensor expand(const Tensor& a, const Shape& shape, Where at = Where::current());

/// Elements start, start+step, ... before stop along `axis`, by Python's rules: negative positions
/// count from the end, positions are clipped, the step may be negative but not 0.
Tensor slice(const Tensor& a, std::int64_t axis, std::optional<std::int64_t> start,
             std::optional<std::int64_t> stop = std::nullopt, std::int64_t step = 1,
             Where at = Where::current());
/// `length` elements from `start` on, without clipping: a UsageError where they are not there.
Tensor narrow(const Tensor& a, std::int64_t axis, std::int64_t start, std::int64_t length,
              Where at = Where::current());
/// The one slice at `index` along `axis`, without the axis.
Tensor select(const Tensor& a, std::int64_t axis, std::int64_t index, Where at = Where::current());
/// Reversed along `axes`.
Tensor flip(const Tensor& a, const Dims& axes, Where at = Where::current());

/// Pieces of `length` along `axis`, the last one shorter where it does not divide.
std::vector<Tensor> split(const Tensor& a, std::int64_t length, std::int64_t axis = 0,
                          Where at = Where::current());
/// Pieces of the given lengths, which add up to the axis.
std::vector<Tensor> split(const Tensor& a, const std::vector<std::int64_t>& lengths,
                          std::int64_t axis = 0, Where at = Where::current());

/// The same value without its history: no gradient passes.
Tensor detach(const Tensor& a, Where at = Where::current());

}  // namespace sinter
