#include "kernels/lines.h"

namespace sinter::kernels {

std::vector<std::int64_t> offsets(const Shape& shape, const Strides& strides, int first, int last) {
  std::vector<std::int64_t> all{0};
  for (int axis = first; axis < last; ++axis) {
    std::vector<std::int64_t> longer;
    longer.reserve(all.size() * static_cast<std::size_t>(shape[axis]));
    for (const std::int64_t start : all)
      for (std::int64_t i = 0; i < shape[axis]; ++i) longer.push_back(start + i * strides[axis]);
    all = std::move(longer);
  }
  return all;
}

Lines lines(const ConstView& view, int axis) {
  Lines result;
  result.outer = offsets(view.shape, view.strides, 0, axis);
  result.inner = offsets(view.shape, view.strides, axis + 1, view.shape.rank());
  result.stride = view.strides[axis];
  result.extent = view.shape[axis];
  result.dense = true;
  for (std::int64_t c = 0; c < result.inner_count(); ++c)
    result.dense = result.dense && result.inner[static_cast<std::size_t>(c)] == c;
  return result;
}

}  // namespace sinter::kernels
