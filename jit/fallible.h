/// \file
/// Which steps can fail by what their data shows.
#pragma once

#include "runtime/graph.h"

namespace sinter::jit {

/// An index out of range, an integer division by zero. Such steps run before the first Variable is
/// overwritten.
bool can_fail(const Node& node);

}  // namespace sinter::jit
