#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "kernels/elementwise.h"
#include "kernels/reduce.h"
#include "kernels/reduce_tiles.h"
#include "kernels/tile_access.h"
#include "runtime/cpu/pool.h"

namespace sinter::kernels {
namespace {

template <typename C>
bool is_nan(C x) {
  return x != x;
}

/// Position of the first element that is `wanted`; it is known to be there.
template <typename C>
std::int64_t find(const C* from, C wanted) {
  std::int64_t i = 0;
  if (is_nan(wanted))
    while (!is_nan(from[i])) ++i;
  else
    while (from[i] != wanted) ++i;
  return i;
}

/// Looks for the best element of each row block by block, and then for its place in its block.
template <typename C>
class ArgRows {
 public:
  ArgRows(bool largest, const ConstView& in)
      : largest_(largest),
        reader_(in, dtype_of<C>, tiles()),
        extent_(in.shape.back()),
        best_of_(reduce_tiles().rows[compute_index(dtype_of<C>)][static_cast<std::size_t>(
            largest ? Combine::amax : Combine::amin)]) {}

  std::int64_t position(std::int64_t row) const {
    alignas(64) std::array<C, row_block> buffer;
    C best{};
    std::int64_t block = 0;
    for (std::int64_t begin = 0; begin < extent_; begin += row_block) {
      const std::int64_t count = std::min(row_block, extent_ - begin);
      C candidate;
      best_of_(load(row * extent_ + begin, count, buffer.data()), 1, count, &candidate);
      if (begin > 0 && !better(candidate, best)) continue;
      best = candidate;
      block = begin;
    }
    const std::int64_t count = std::min(row_block, extent_ - block);
    return block + find(load(row * extent_ + block, count, buffer.data()), best);
  }

 private:
  bool better(C a, C b) const {
    if (is_nan(b)) return false;
    return is_nan(a) || (largest_ ? a > b : a < b);
  }

  const C* load(std::int64_t first, std::int64_t count, C* buffer) const {
    const auto [data, step] = reader_.load(first, count, buffer);
    if (step == 1) return static_cast<const C*>(data);
    reader_.load_into(first, count, buffer);
    return buffer;
  }

  bool largest_;
  TileReader reader_;
  std::int64_t extent_;
  RowsFunction best_of_;
};

/// The view with `axis` moved behind the others.
ConstView axis_last(ConstView view, int axis) {
  for (int i = axis; i + 1 < view.shape.rank(); ++i) {
    std::swap(view.shape[i], view.shape[i + 1]);
    std::swap(view.strides[i], view.strides[i + 1]);
  }
  return view;
}

}  // namespace

void arg_reduce(Op op, const ConstView& in, int axis, const View& out) {
  const std::int64_t count = element_count(out.shape), extent = in.shape[axis];
  if (count == 0) return;
  const auto positions =
      std::make_unique_for_overwrite<std::int64_t[]>(static_cast<std::size_t>(count));
  const ConstView rows = axis_last(in, axis);
  with_compute_type(in.dtype, [&]<typename C>(C) {
    const ArgRows<C> arg(op == Op::argmax, rows);
    const std::int64_t each = std::max<std::int64_t>(1, 16384 / extent);
    cpu::parallel_for((count + each - 1) / each, [&](std::int64_t task) {
      const std::int64_t last = std::min(count, (task + 1) * each);
      for (std::int64_t row = task * each; row < last; ++row) positions[row] = arg.position(row);
    });
  });
  copy({positions.get(), i64, out.shape, contiguous_strides(out.shape)}, out);
}

}  // namespace sinter::kernels
