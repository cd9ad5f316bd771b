#include "kernels/gemm_product.h"

#include <algorithm>
#include <bit>

namespace sinter::kernels {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
std::int64_t round_up(std::int64_t a, std::int64_t b) { return ceil_div(a, b) * b; }

std::int64_t stride(const ConstView* view, int axis) { return view ? view->strides[axis] : 0; }

MatrixStrides matrix_strides(const ConstView& view) {
  const int rank = view.shape.rank();
  return {view.strides[rank - 2], view.strides[rank - 1]};
}

/// Whether `inner` continues `outer`, so that both are one axis.
bool continues(const BatchAxis& outer, const BatchAxis& inner) {
  return outer.a == inner.a * inner.size && outer.b == inner.b * inner.size &&
         outer.c == inner.c * inner.size && outer.r == inner.r * inner.size;
}

}  // namespace

bool is_plain(std::int64_t rows, std::int64_t columns, MatrixStrides strides) {
  const bool by_rows =
      (strides.column == 1 || columns == 1) && (strides.row >= columns || rows == 1);
  const bool by_columns =
      (strides.row == 1 || rows == 1) && (strides.column >= rows || columns == 1);
  return by_rows || by_columns;
}

std::int64_t Product::matrices() const {
  std::int64_t count = 1;
  for (const BatchAxis& axis : batch) count *= axis.size;
  return count;
}

Product make_product(const ConstView& a, const ConstView& b, const ConstView& out,
                     const ConstView* residual) {
  const int rank = out.shape.rank();
  Product product;
  product.m = out.shape[rank - 2];
  product.n = out.shape[rank - 1];
  product.k = a.shape[rank - 1];
  product.a = matrix_strides(a);
  product.b = matrix_strides(b);
  product.c = matrix_strides(out);
  if (residual) product.r = matrix_strides(*residual);
  std::vector<BatchAxis>& batch = product.batch;
  for (int axis = 0; axis < rank - 2; ++axis) {
    if (out.shape[axis] == 1) continue;
    const BatchAxis next{out.shape[axis], a.strides[axis], b.strides[axis], out.strides[axis],
                         stride(residual, axis)};
    if (batch.empty() || !continues(batch.back(), next)) {
      batch.push_back(next);
      continue;
    }
    const std::int64_t size = batch.back().size * next.size;
    batch.back() = next;
    batch.back().size = size;
  }
  // One matrix b for all: the batch is more rows. A single row has whatever stride it needs.
  while (!batch.empty() && batch.back().b == 0) {
    const BatchAxis& last = batch.back();
    const auto joined = [&](std::int64_t row, std::int64_t step) {
      return product.m == 1 ? step : step == product.m * row ? row : std::int64_t{-1};
    };
    const MatrixStrides a_joined{joined(product.a.row, last.a), product.a.column};
    const std::int64_t c_row = joined(product.c.row, last.c), r_row = joined(product.r.row, last.r);
    const std::int64_t m = product.m * last.size;
    if (c_row < product.n || r_row < 0 || !is_plain(m, product.k, a_joined)) break;
    product.m = m;
    product.a = a_joined;
    product.c.row = c_row;
    product.r.row = r_row;
    batch.pop_back();
  }
  return product;
}

Tiling::Tiling(const Product& product) : product_(product), rows_(product.m), columns_(product.n) {
  const std::size_t axes = product.batch.size();
  if (axes >= 1) inner_ = product.batch[axes - 1];
  if (axes >= 2) outer_ = product.batch[axes - 2];
  // Small sizes cost more than their multiplications; a row vector costs what reading b costs.
  const double operations = 2.0 * static_cast<double>(product.matrices()) *
                            static_cast<double>(std::max<std::int64_t>(product.m, 8)) *
                            static_cast<double>(round_up(product.n, 16)) *
                            static_cast<double>(std::max<std::int64_t>(product.k, 32));
  // Few parts of a large product, as each part of a matrix costs the library some copying.
  std::int64_t wanted = 1;
  for (const double enough : {1e6, 3e7, 1.2e8, 1e9, 4e9})
    if (operations >= enough) wanted *= 2;
  cut_batch(wanted);
  cut_matrix(std::max<std::int64_t>(1, wanted / tasks_));
  tasks_ *= ceil_div(product.m, rows_) * ceil_div(product.n, columns_);
}

void Tiling::cut_batch(std::int64_t wanted) {
  const std::int64_t matrices = product_.matrices();
  const std::int64_t each = std::max<std::int64_t>(1, matrices / wanted);
  inner_step_ = std::min(inner_.size, each);
  outer_step_ = std::clamp<std::int64_t>(each / inner_.size, 1, outer_.size);
  const std::int64_t others = matrices / (outer_.size * inner_.size);
  tasks_ = others * ceil_div(outer_.size, outer_step_) * ceil_div(inner_.size, inner_step_);
}

/// Halves rows or columns until there are `wanted` parts, each of which is worth a call of the
/// library and small enough to be in the cache when what follows the product reads it.
void Tiling::cut_matrix(std::int64_t wanted) {
  constexpr std::int64_t largest_part = 1 << 18;
  for (std::int64_t parts = 1;; parts *= 2) {
    const bool enough = parts >= wanted;
    if (enough && outer_step_ * inner_step_ * rows_ * columns_ <= largest_part) return;
    // The first cut gives a second thread work at all; after it parts keep a size that pays.
    const std::int64_t least_rows = parts == 1 ? 16 : 64, least_columns = parts == 1 ? 32 : 128;
    const bool rows = rows_ >= 2 * least_rows, columns = columns_ >= 2 * least_columns;
    if (!rows && !columns) return;
    if (rows && (!columns || rows_ >= columns_)) rows_ = ceil_div(rows_, 2);
    else columns_ = round_up(ceil_div(columns_, 2), 16);
  }
}

Task Tiling::task(std::int64_t index) const {
  const auto take = [&index](std::int64_t parts) {
    const std::int64_t part = index % parts;
    index /= parts;
    return part;
  };
  // Rows are outermost within a matrix: consecutive tasks, which one thread takes, share them.
  const std::int64_t column = take(ceil_div(product_.n, columns_)) * columns_;
  const std::int64_t row = take(ceil_div(product_.m, rows_)) * rows_;
  const std::int64_t inner = take(ceil_div(inner_.size, inner_step_)) * inner_step_;
  const std::int64_t outer = take(ceil_div(outer_.size, outer_step_)) * outer_step_;
  const Product& p = product_;
  Task task;
  task.column = column;
  task.block = {std::min(outer_step_, outer_.size - outer),
                std::min(inner_step_, inner_.size - inner),
                std::min(rows_, p.m - row),
                std::min(columns_, p.n - column),
                p.k,
                {outer_.a, inner_.a, p.a.row, p.a.column},
                {outer_.b, inner_.b, p.b.row, p.b.column},
                {outer_.c, inner_.c, p.c.row, p.c.column}};
  task.a = outer * outer_.a + inner * inner_.a + row * p.a.row;
  task.b = outer * outer_.b + inner * inner_.b + column * p.b.column;
  task.c = outer * outer_.c + inner * inner_.c + row * p.c.row + column * p.c.column;
  task.r = outer * outer_.r + inner * inner_.r + row * p.r.row + column * p.r.column;
  for (std::size_t axis = p.batch.size(); axis-- > 0;) {
    if (axis + 2 >= p.batch.size()) continue;
    const BatchAxis& other = p.batch[axis];
    const std::int64_t i = take(other.size);
    task.a += i * other.a;
    task.b += i * other.b;
    task.c += i * other.c;
    task.r += i * other.r;
  }
  return task;
}

}  // namespace sinter::kernels
