/// \file
/// Elements moved and added by index. Outputs are row-major without gaps; inputs may have any
/// strides. Index views are i32 or i64; an index outside of its extent sets the fault at its
/// row-major position.
#pragma once

#include <span>

#include "kernels/fault.h"
#include "kernels/view.h"

namespace sinter::kernels {

/// The parts, of out's dtype, one behind the other along `axis`.
void concatenate(std::span<const ConstView> parts, int axis, const View& out);

/// `value` is one item of out's dtype; `before` counts the elements in front of each axis.
void pad(const ConstView& in, const void* value, const Dims& before, const View& out);

/// `a` with the box at `starts`, every `steps`-th place, replaced by `update`.
void slice_update(const ConstView& a, const ConstView& update, const Dims& starts,
                  const Dims& steps, const View& out);

/// Slices of `a` along `axis` by indices of any rank: a[.., extent, ..] -> out[.., indices.., ..].
/// A bad index gives zeros.
void take(const ConstView& a, const ConstView& indices, int axis, const View& out, Fault& fault);

/// out[.., i, ..] = a[.., indices[.., i, ..], ..] along `axis`. A bad index gives zero.
void gather(const ConstView& a, const ConstView& indices, int axis, const View& out, Fault& fault);

/// out = a with source[.., i, ..] added at indices[i] along `axis`. What meets at one place is
/// added in the order of i, in the compute type, and rounded once. A bad index adds nothing.
void index_add(const ConstView& a, const ConstView& indices, const ConstView& source, int axis,
               const View& out, Fault& fault);

/// out = a with source[.., i, ..] added at indices[.., i, ..] along `axis`, as index_add.
void scatter_add(const ConstView& a, const ConstView& indices, const ConstView& source, int axis,
                 const View& out, Fault& fault);

}  // namespace sinter::kernels
