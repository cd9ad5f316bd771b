#include "kernels/norm.h"

#include <algorithm>
#include <vector>

#include "kernels/row_access.h"
#include "kernels/row_kernels.h"
#include "runtime/cpu/pool.h"

namespace sinter::kernels {
namespace {

/// Elements that are worth a task of their own.
constexpr std::int64_t task_elements = 8192;
/// Rows whose sums are taken in order, by the column rule.
constexpr std::int64_t block_rows = 64;

constexpr std::int64_t padded(std::int64_t n) { return (n + 15) / 16 * 16; }

template <class C>
std::vector<C> read_all(const ConstView& view) {
  if (view.data == nullptr) return {};
  std::vector<C> elements(static_cast<std::size_t>(element_count(view.shape)));
  const auto count = static_cast<std::int64_t>(elements.size());
  const C* const from = RowReader<C>(view).load(0, count, elements.data());
  if (from != elements.data()) std::copy_n(from, count, elements.data());
  return elements;
}

/// The operands of a call that all its rows share.
template <class C>
class Shared {
 public:
  Shared(const NormOperands& operands, bool centered)
      : x(operands.x),
        weight_(read_all<C>(operands.weight)),
        bias_(read_all<C>(operands.bias)),
        epsilon_(static_cast<C>(operands.epsilon)),
        centered_(centered) {
    const Shape& shape = operands.x.shape;
    for (int axis = 0; axis < shape.rank(); ++axis)
      (axis < shape.rank() - operands.axes ? rows : n) *= shape[axis];
  }

  /// `count` rows from `row` on.
  NormRows<C> at(std::int64_t row, std::int64_t count) const {
    const std::int64_t first = row * n;
    const C* const from = x.load(first, count * n, x.direct() ? nullptr : scratch<C>(0, count * n));
    return {from,
            weight_.empty() ? nullptr : weight_.data(),
            bias_.empty() ? nullptr : bias_.data(),
            count,
            n,
            epsilon_,
            centered_};
  }

  RowReader<C> x;
  std::int64_t rows = 1, n = 1;

 private:
  std::vector<C> weight_, bias_;
  C epsilon_;
  bool centered_;
};

template <class C>
void forward(const NormOperands& operands, bool centered, const View& y) {
  const Shared<C> shared(operands, centered);
  const RowWriter<C> out(y);
  const auto function = norm_functions<C>().forward;
  const std::int64_t n = shared.n, each = std::max<std::int64_t>(1, task_elements / n);
  cpu::parallel_for((shared.rows + each - 1) / each, [&](std::int64_t task) {
    const std::int64_t row = task * each, rows = std::min(each, shared.rows - row);
    C* const to = out.place(row * n, out.direct() ? nullptr : scratch<C>(1, rows * n));
    function(shared.at(row, rows), to);
    out.store(to, row * n, rows * n);
  });
}

/// The sums over rows of one operand: of each block, then over the blocks.
template <class C>
class BlockedSums {
 public:
  BlockedSums(const View& out, std::int64_t blocks, std::int64_t n)
      : out_(out), blocks_(blocks), n_(n), width_(padded(n)) {
    if (out.data != nullptr) sums_.resize(static_cast<std::size_t>(blocks * width_));
  }

  C* block(std::int64_t i) { return sums_.empty() ? nullptr : sums_.data() + i * width_; }

  /// `one_row`: the terms of rows of one element, which are summed as a row themselves.
  void finish(const NormFunctions<C>& functions, bool one_row) {
    if (out_.data == nullptr) return;
    std::vector<C> total(static_cast<std::size_t>(width_), C(0));
    if (one_row) {
      std::vector<C> terms;
      for (std::int64_t i = 0; i < blocks_; ++i) terms.push_back(*block(i));
      total[0] = functions.sum_row(terms.data(), blocks_);
    } else if (blocks_ > 0) {
      functions.sum_columns(sums_.data(), blocks_, width_, total.data(),
                            scratch<C>(0, column_scratch(width_)));
    }
    write(total.data());
  }

 private:
  void write(const C* total) {
    const RowWriter<C> writer(out_);
    C* const to = writer.place(0, nullptr);
    if (to != nullptr) std::copy_n(total, n_, to);
    else writer.store(total, 0, n_);
  }

  View out_;
  std::int64_t blocks_, n_, width_;
  std::vector<C> sums_;
};

template <class C>
void gradient(const ConstView& g, const NormOperands& operands, bool centered, const View& dx,
              const View& dweight, const View& dbias) {
  const Shared<C> shared(operands, centered);
  const NormFunctions<C>& functions = norm_functions<C>();
  const RowReader<C> of_g(g);
  const RowWriter<C> out(dx);
  const std::int64_t n = shared.n;
  // Rows of one element are summed as one row: each is a block, with its term.
  const std::int64_t height = n == 1 ? 1 : block_rows;
  const std::int64_t blocks = (shared.rows + height - 1) / height;
  BlockedSums<C> of_weight(dweight, blocks, n), of_bias(dbias, blocks, n);
  const std::int64_t each =
      std::max<std::int64_t>(1, task_elements / std::max<std::int64_t>(1, n * height));
  cpu::parallel_for((blocks + each - 1) / each, [&](std::int64_t task) {
    const std::int64_t end = std::min(blocks, (task + 1) * each);
    for (std::int64_t block = task * each; block < end; ++block) {
      const std::int64_t row = block * height, rows = std::min(height, shared.rows - row);
      const std::int64_t first = row * n, count = rows * n;
      C* const to = out.place(first, out.direct() ? nullptr : scratch<C>(1, count));
      const C* const from = of_g.load(first, count, of_g.direct() ? nullptr : scratch<C>(2, count));
      functions.gradient(from, shared.at(row, rows), to, of_weight.block(block),
                         of_bias.block(block));
      out.store(to, first, count);
    }
  });
  of_weight.finish(functions, n == 1);
  of_bias.finish(functions, n == 1);
}

}  // namespace

void layer_norm(const NormOperands& operands, const View& y) {
  if (element_count(y.shape) == 0) return;
  forward<double>(operands, true, y);
}

void rms_norm(const NormOperands& operands, const View& y) {
  if (element_count(y.shape) == 0) return;
  (operands.x.dtype == DType::f64 ? forward<double> : forward<float>)(operands, false, y);
}

void layer_norm_grad(const ConstView& g, const NormOperands& operands, const View& dx,
                     const View& dweight, const View& dbias) {
  gradient<double>(g, operands, true, dx, dweight, dbias);
}

void rms_norm_grad(const ConstView& g, const NormOperands& operands, const View& dx,
                   const View& dweight) {
  (operands.x.dtype == DType::f64 ? gradient<double> : gradient<float>)(g, operands, false, dx,
                                                                        dweight, View{});
}

}  // namespace sinter::kernels
