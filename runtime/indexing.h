/// \file
/// Elements moved, combined and ordered by index. Index tensors are i32 or i64 and must lie in
/// [0, extent): an index outside is an error thrown when the result is evaluated, naming op, index
/// and extent. Where several sources meet one place they are added in row-major order of the
/// source, so results do not depend on threads.
#pragma once

#include <utility>

#include "tensor.h"

namespace sinter {

/// Joined along `axis`; other sizes equal, dtypes promoted.
Tensor concatenate(const std::vector<Tensor>& parts, std::int64_t axis = 0,
                   Where at = Where::current());
/// Joined along a new axis.
Tensor stack(const std::vector<Tensor>& parts, std::int64_t axis = 0, Where at = Where::current());
/// `before[i]` and `after[i]` elements of `value` around axis i.
Tensor pad(const Tensor& a, const Dims& before, const Dims& after, double value = 0,
           Where at = Where::current());

/// a [..., extent at axis, ...], indices [i...] -> [..., i..., ...]: index_select with indices of
/// any rank.
Tensor take(const Tensor& a, const Tensor& indices, std::int64_t axis, Where at = Where::current());
/// Rows of `table` [vocabulary, width] -> [indices..., width].
Tensor embedding(const Tensor& table, const Tensor& indices, Where at = Where::current());
/// indices of rank 1: a [.., extent, ..] -> [.., n, ..].
Tensor index_select(const Tensor& a, std::int64_t axis, const Tensor& indices,
                    Where at = Where::current());
/// `a` with `source` [.., n, ..] added at `indices` [n] along `axis`.
Tensor index_add(const Tensor& a, std::int64_t axis, const Tensor& indices, const Tensor& source,
                 Where at = Where::current());
/// result[i][j] = a[indices[i][j]][j] for axis 0, and so on; `indices` has a's rank and no larger
/// sizes off the axis.
Tensor gather(const Tensor& a, std::int64_t axis, const Tensor& indices,
              Where at = Where::current());
/// `a` with source[i][j] added at [indices[i][j]][j] for axis 0, and so on.
Tensor scatter_add(const Tensor& a, std::int64_t axis, const Tensor& indices, const Tensor& source,
                   Where at = Where::current());

/// `a` with the box of `update`'s shape at `starts` (and every `steps`-th place, default 1)
/// replaced by `update`.
Tensor slice_update(const Tensor& a, const Tensor& update, const Dims& starts,
                    const Dims& steps = {}, Where at = Where::current());

/// `a` [..., rows, columns] with zeros above (below) diagonal `offset`.
Tensor tril(const Tensor& a, std::int64_t offset = 0, Where at = Where::current());
Tensor triu(const Tensor& a, std::int64_t offset = 0, Where at = Where::current());

/// Running sums along `axis`, added in order; i64 for bool and integers.
Tensor cumsum(const Tensor& a, std::int64_t axis, Where at = Where::current());

/// (values, i64 positions), stable; NaN is larger than everything.
std::pair<Tensor, Tensor> sort(const Tensor& a, std::int64_t axis = -1, bool descending = false,
                               Where at = Where::current());
Tensor argsort(const Tensor& a, std::int64_t axis = -1, bool descending = false,
               Where at = Where::current());
/// The `count` largest (smallest) along `axis` in order; of equals the first.
std::pair<Tensor, Tensor> topk(const Tensor& a, std::int64_t count, std::int64_t axis = -1,
                               bool largest = true, Where at = Where::current());

}  // namespace sinter
