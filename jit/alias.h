/// \file
/// Views as other ways to address the storage of what they show.
#pragma once

#include <optional>

#include "runtime/graph.h"

namespace sinter::jit {

/// Where the elements of a value are in its storage, as in Value.
struct Placement {
  std::int64_t offset = 0;
  Strides strides;
};

inline Placement placement_of(const Value& value) { return {value.offset, value.strides}; }

/// Whether elements along the last axis that is longer than 1 are neighbours in memory.
bool has_contiguous_rows(const Shape& shape, const Strides& strides);

/// Where the elements of the view `node` are, which is one of something of `input_shape`; nothing
/// where strides cannot say it (a reshape across axes that are not adjacent in memory).
std::optional<Placement> alias(const Node& node, const Shape& input_shape, const Placement& input);

}  // namespace sinter::jit
