/// \file
/// Join: which foreach_maps become one map.
#pragma once

#include "jit/map.h"

namespace sinter::jit {

/// A foreach_map whose results only others read, a whole list of it each time, becomes a part of
/// these: what it gives is computed where it is read, and stored there if it is kept. So gradients
/// are clipped in the kernel that updates the parameters.
Maps join_maps(const Trace& trace, const Primitives& primitives);

}  // namespace sinter::jit
