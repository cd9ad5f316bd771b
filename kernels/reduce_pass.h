/// \file
/// One pass of a reduction: a view seen as [outer, extent, inner] becomes [outer, 1, inner].
#pragma once

#include <cstdint>

#include "kernels/reduce_tiles.h"
#include "kernels/view.h"
#include "runtime/op.h"

namespace sinter::kernels {

/// What a pass reads: the elements of `view` in the compute type, through an op of its own where
/// `prepare` is not null: prepare(element) or prepare(element, 0).
struct PassInput {
  ConstView view;
  DType compute;
  TileFunction prepare = nullptr;
};

/// `out` has outer * inner elements of the compute type. The extent is at least 1.
void reduce_pass(Combine combine, const PassInput& input, std::int64_t outer, std::int64_t extent,
                 std::int64_t inner, void* out);

}  // namespace sinter::kernels
