/// \file
/// Merge: two groups that a primitive reads become one.
#pragma once

#include <cstdint>
#include <optional>

#include "jit/fuse_fit.h"
#include "jit/fuse_order.h"

namespace sinter::jit {

/// Puts the members of group `from` into group `home`, which primitive i has just joined and reads
/// both; `from` is left empty.
/// \return why it was not done, if so.
std::optional<Refusal> merge(Fusion& fusion, Fitting& fitting, FuseOrder& order, PrimitiveId i,
                             std::uint32_t home, std::uint32_t from);

}  // namespace sinter::jit
