/// \file
/// What computing an element costs.
#pragma once

#include "runtime/graph.h"

namespace sinter::jit {

/// Of one primitive op, roughly in additions.
int cost_of(const Node& node);

}  // namespace sinter::jit
