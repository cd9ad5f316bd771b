/// \file
/// Views at the level eager: the value of a view as another way to address its input's storage.
#pragma once

#include <optional>

#include "runtime/graph.h"

namespace sinter::jit {

/// The value of the view `node` of `input`, whose shape is `input_shape`; nothing where the strides
/// do not allow it (a reshape across axes that are not adjacent in memory).
std::optional<Value> alias(const Node& node, const Shape& input_shape, const Value& input);

}  // namespace sinter::jit
