/// \file
/// A matrix product as sizes and strides, and how it is cut into tasks.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/view.h"

namespace sinter::kernels {

/// Strides of one matrix, in elements.
struct MatrixStrides {
  std::int64_t row = 0, column = 0;
};

/// Whether rows or columns of the matrix are contiguous and do not overlap, as the library needs.
bool is_plain(std::int64_t rows, std::int64_t columns, MatrixStrides strides);

/// One leading axis with the stride of each operand; `r` is the residual.
struct BatchAxis {
  std::int64_t size = 1, a = 0, b = 0, c = 0, r = 0;
};

struct Product {
  std::int64_t m = 0, n = 0, k = 0;
  MatrixStrides a, b, c, r;
  std::vector<BatchAxis> batch;  ///< Outermost first; neighbours are one axis where possible.

  std::int64_t matrices() const;
};

/// Leading axes are merged with each other, and with the rows of `a` where `b` is the same matrix
/// throughout. Every size is at least 1. `residual` may be null.
Product make_product(const ConstView& a, const ConstView& b, const ConstView& out,
                     const ConstView* residual);

/// A part of a product with contiguous indices: up to two batch axes, rows, columns. Strides are
/// {outer, inner, row, column}.
struct Block {
  std::int64_t outer = 1, inner = 1, m = 0, n = 0, k = 0;
  std::array<std::int64_t, 4> a{}, b{}, c{};

  friend bool operator==(const Block&, const Block&) = default;
};

/// Where a task's block begins, as offsets in elements.
struct Task {
  Block block;
  std::int64_t a = 0, b = 0, c = 0, r = 0;
  std::int64_t column = 0;  ///< of the first column
};

/// How the product is cut: a function of the product alone.
class Tiling {
 public:
  explicit Tiling(const Product& product);
  std::int64_t tasks() const { return tasks_; }
  Task task(std::int64_t index) const;

 private:
  void cut_batch(std::int64_t wanted);
  void cut_matrix(std::int64_t wanted);

  const Product& product_;
  BatchAxis outer_, inner_;  ///< the last two batch axes
  std::int64_t outer_step_ = 1, inner_step_ = 1, rows_ = 0, columns_ = 0;
  std::int64_t tasks_ = 1;
};

}  // namespace sinter::kernels
