/// \file
/// One body over lists of tensors at once: the horizontal form in which optimizers are written.
#pragma once

#include <functional>
#include <vector>

#include "tensor.h"

namespace sinter {

/// Calls `body` once on stand-ins for one position of each list, and applies what it recorded to
/// every position: `lists[l][i]` has the same dtype class for all i of a list; shapes differ by
/// position and are equal across lists, or [] (a number for each position, or shared). The body may
/// use elementwise ops, casts and host numbers only, and any tensor of shape [] from outside.
/// Returns results[r][i], one list for each tensor the body returns. No derivative passes.
/// One node: a thousand parameters cost as much to record as one.
/// \throws UsageError naming list and position for lists of different lengths or shapes.
using ForeachBody = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;
std::vector<std::vector<Tensor>> foreach_map(const ForeachBody& body,
                                             const std::vector<std::vector<Tensor>>& lists,
                                             Where at = Where::current());

}  // namespace sinter
