/// \file
/// Recompute: what a group computes again from what lies in memory, instead of reading it.
#pragma once

#include <vector>

#include "jit/fuse.h"

namespace sinter::jit {

/// The group with the elementwise values of other groups that it reads and that are cheaper to
/// compute again than to store and read. `needed[i]`: whether primitive i is in memory anyway.
Group with_recomputed(const Trace& trace, const Primitives& primitives, const Fusion& fusion,
                      std::uint32_t group, const std::vector<bool>& needed);

/// The group without the members that nothing needs.
Group without_unused(const Fusion& fusion, const Group& group, const std::vector<bool>& stored);

}  // namespace sinter::jit
