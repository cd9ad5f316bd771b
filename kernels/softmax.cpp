#include "kernels/softmax.h"

#include <algorithm>

#include "kernels/row_access.h"
#include "kernels/row_kernels.h"
#include "runtime/cpu/pool.h"

namespace sinter::kernels {
namespace {

/// Elements that are worth a task of their own.
constexpr std::int64_t task_elements = 4096;

/// A tensor seen as [outer, extent, inner] around one axis.
struct Around {
  std::int64_t outer = 1, extent = 1, inner = 1;

  Around(const Shape& shape, int axis) : extent(shape[axis]) {
    for (int i = 0; i < axis; ++i) outer *= shape[i];
    for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  }
};

/// body(first row, rows) for pieces of all rows.
template <class Body>
void for_rows(std::int64_t rows, std::int64_t n, Body body) {
  const std::int64_t each = std::max<std::int64_t>(1, task_elements / n);
  cpu::parallel_for((rows + each - 1) / each, [&](std::int64_t task) {
    body(task * each, std::min(each, rows - task * each));
  });
}

template <class C>
void softmax_of_rows(SoftmaxKind kind, const ConstView& x, std::int64_t n, const View& y) {
  const RowReader<C> in(x);
  const RowWriter<C> out(y);
  const auto function = softmax_functions<C>().rows[static_cast<int>(kind)];
  for_rows(element_count(x.shape) / n, n, [&](std::int64_t row, std::int64_t rows) {
    const std::int64_t first = row * n, count = rows * n;
    C* const from = in.direct() ? nullptr : scratch<C>(0, count);
    C* const to = out.place(first, out.direct() ? nullptr : scratch<C>(1, count));
    function(in.load(first, count, from), to, rows, n);
    out.store(to, first, count);
  });
}

template <class C>
void gradient_of_rows(SoftmaxKind kind, const ConstView& g, const ConstView& y, std::int64_t n,
                      const View& dx) {
  const RowReader<C> of_g(g), of_y(y);
  const RowWriter<C> out(dx);
  const auto function = softmax_functions<C>().rows_grad[static_cast<int>(kind)];
  for_rows(element_count(g.shape) / n, n, [&](std::int64_t row, std::int64_t rows) {
    const std::int64_t first = row * n, count = rows * n;
    C* const from_g = of_g.direct() ? nullptr : scratch<C>(0, count);
    C* const from_y = of_y.direct() ? nullptr : scratch<C>(1, count);
    C* const to = out.place(first, out.direct() ? nullptr : scratch<C>(2, count));
    function(of_g.load(first, count, from_g), of_y.load(first, count, from_y), to, rows, n);
    out.store(to, first, count);
  });
}

/// Pieces of the columns of [outer, extent, inner], copied to tiles of `width` columns.
class ColumnTiles {
 public:
  explicit ColumnTiles(const Around& around) : around_(around) {}

  static constexpr std::int64_t width = 64;

  /// body(first element of the tile's first row, columns in it) for each.
  template <class Body>
  void run(Body body) const {
    const std::int64_t across = (around_.inner + width - 1) / width;
    cpu::parallel_for(around_.outer * across, [&](std::int64_t task) {
      const std::int64_t column = task % across * width;
      body(task / across * around_.extent * around_.inner + column,
           std::min(width, around_.inner - column));
    });
  }
  template <class C>
  void load(const RowReader<C>& in, std::int64_t first, std::int64_t columns, C* tile) const {
    for (std::int64_t i = 0; i < around_.extent; ++i, tile += width) {
      const C* const from = in.load(first + i * around_.inner, columns, tile);
      if (from != tile) std::copy_n(from, columns, tile);
      std::fill(tile + columns, tile + width, C(0));
    }
  }
  template <class C>
  void store(const C* tile, const RowWriter<C>& out, std::int64_t first,
             std::int64_t columns) const {
    for (std::int64_t i = 0; i < around_.extent; ++i, tile += width) {
      const std::int64_t at = first + i * around_.inner;
      if (C* const to = out.place(at, nullptr)) std::copy_n(tile, columns, to);
      else out.store(tile, at, columns);
    }
  }
  std::int64_t size() const { return around_.extent * width; }

 private:
  Around around_;
};

template <class C>
void softmax_of_columns(SoftmaxKind kind, const ConstView& x, const Around& around, const View& y) {
  const RowReader<C> in(x);
  const RowWriter<C> out(y);
  const auto function = softmax_functions<C>().columns[static_cast<int>(kind)];
  const ColumnTiles tiles(around);
  tiles.run([&](std::int64_t first, std::int64_t columns) {
    C* const tile = scratch<C>(0, tiles.size());
    tiles.load(in, first, columns, tile);
    function(tile, around.extent, tiles.width, scratch<C>(1, column_scratch(tiles.width)));
    tiles.store(tile, out, first, columns);
  });
}

template <class C>
void gradient_of_columns(SoftmaxKind kind, const ConstView& g, const ConstView& y,
                         const Around& around, const View& dx) {
  const RowReader<C> of_g(g), of_y(y);
  const RowWriter<C> out(dx);
  const auto function = softmax_functions<C>().columns_grad[static_cast<int>(kind)];
  const ColumnTiles tiles(around);
  tiles.run([&](std::int64_t first, std::int64_t columns) {
    C* const g_tile = scratch<C>(0, tiles.size());
    C* const y_tile = scratch<C>(1, tiles.size());
    tiles.load(of_g, first, columns, g_tile);
    tiles.load(of_y, first, columns, y_tile);
    function(g_tile, y_tile, around.extent, tiles.width,
             scratch<C>(2, column_scratch(tiles.width)));
    tiles.store(g_tile, out, first, columns);
  });
}

}  // namespace

void softmax(SoftmaxKind kind, const ConstView& x, int axis, const View& y) {
  if (element_count(x.shape) == 0) return;
  const Around around(x.shape, axis);
  const bool wide = x.dtype == DType::f64;
  if (around.inner == 1)
    (wide ? softmax_of_rows<double> : softmax_of_rows<float>)(kind, x, around.extent, y);
  else (wide ? softmax_of_columns<double> : softmax_of_columns<float>)(kind, x, around, y);
}

void softmax_grad(SoftmaxKind kind, const ConstView& g, const ConstView& y, int axis,
                  const View& dx) {
  if (element_count(g.shape) == 0) return;
  const Around around(g.shape, axis);
  const bool wide = dx.dtype == DType::f64;
  if (around.inner == 1)
    (wide ? gradient_of_rows<double> : gradient_of_rows<float>)(kind, g, y, around.extent, dx);
  else (wide ? gradient_of_columns<double> : gradient_of_columns<float>)(kind, g, y, around, dx);
}

}  // namespace sinter::kernels
