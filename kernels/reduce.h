/// \file
/// Reductions, and the order in which they add: the "ordered" class of the precision contract.
///
/// The order. Reduced axes are taken in groups of neighbours (axes of size 1 count as neighbours of
/// anything), the innermost group first; each group is one pass over an array seen as
/// [outer, extent, inner], the partial results staying in the compute type between passes.
///   inner == 1 (a row): blocks of 4096 elements. Within a block, lane l of 64 combines elements l,
///     l + 64, l + 128, ... of the block in that order, starting from the first; lanes then fold by
///     halves (32, 16, 8, 4, 2, 1: lane l takes lane l + half), lanes without an element left out.
///     More than one block: the blocks' results are an array of their own, reduced by this rule.
///   inner > 1 (a column): blocks of 64 elements, combined in order, starting from the first; the
///     blocks' results are reduced by this rule.
/// An extent of 0 gives the identity. Compute types: float for f16, bf16, f32; double;
/// std::int64_t. mean divides the sum once, by the count; var is two such passes in double, the
/// second over squared distances to the mean, divided by max(0, count - correction), for no
/// elements by 0 (var_divisor of op.h); logsumexp is a pass of amax, then log of a pass over exp(x
/// - max), plus max (0 in place of max where it is not finite); norm is the root of a pass over
/// squares.
#pragma once

#include "kernels/view.h"
#include "runtime/op.h"

namespace sinter::kernels {

/// `op`: sum, prod, amax, amin, any, all, mean, var, logsumexp or norm over the axes in `mask`.
/// `out` has size 1 on those axes. `correction` is var's.
void reduce(Op op, const ConstView& in, std::int64_t mask, std::int64_t correction,
            const View& out);

/// argmax or argmin along `axis`: i64 positions, the first of equals, the first NaN before all.
void arg_reduce(Op op, const ConstView& in, int axis, const View& out);

}  // namespace sinter::kernels
