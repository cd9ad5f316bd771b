/// \file
/// Who reads what of the lists of a foreach_map.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "jit/trace.h"

namespace sinter::jit {

/// For each operand of a foreach_map of so many lists, whether its memory is read at positions
/// other than its own, or by another operand: `bases` says what has the elements of each. The
/// shared operands are read at every position.
std::vector<bool> read_by_others(std::span<const Source> operands, std::span<const Source> bases,
                                 std::size_t lists, std::size_t length);

}  // namespace sinter::jit
