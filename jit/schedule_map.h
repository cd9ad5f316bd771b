/// \file
/// Schedule: a foreach_map as loops, one for each way in which the lists lie.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/loop.h"
#include "runtime/foreach_body.h"

namespace sinter::jit {

/// How an operand of a position is read.
enum class MapReading : std::uint8_t {
  one,   ///< one element, for all elements of the position
  each,  ///< an element for each, neighbours in memory along the last axis
};

/// The loop of the positions whose lists are read in this way. Its accesses are the lists, the
/// shared tensors and the results that are wanted, in this order, its numbers are the body's. What
/// is the same for all elements is a value of the row. Elements are read before any is written.
Loop schedule_map(const ForeachTrace& body, const std::vector<MapReading>& lists,
                  const std::vector<bool>& wanted);

}  // namespace sinter::jit
