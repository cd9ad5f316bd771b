/// \file
/// A strided array seen along one axis: for each place off the axis, where its line starts.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/view.h"

namespace sinter::kernels {

/// Element j of the line at (o, c) is `outer[o] + inner[c] + j * stride` items from the start;
/// o counts the axes before the axis in row-major order, c those after it.
struct Lines {
  std::vector<std::int64_t> outer, inner;
  std::int64_t stride = 0;
  std::int64_t extent = 0;
  /// Whether inner[c] is c.
  bool dense = false;

  std::int64_t outer_count() const { return static_cast<std::int64_t>(outer.size()); }
  std::int64_t inner_count() const { return static_cast<std::int64_t>(inner.size()); }
  std::int64_t at(std::int64_t o, std::int64_t c) const {
    return outer[static_cast<std::size_t>(o)] + inner[static_cast<std::size_t>(c)];
  }
};

Lines lines(const ConstView& view, int axis);

/// The offsets of all elements of axes `first` to `last - 1`, in row-major order.
std::vector<std::int64_t> offsets(const Shape& shape, const Strides& strides, int first, int last);

}  // namespace sinter::kernels
