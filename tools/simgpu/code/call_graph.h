/// \file
/// Which functions a kernel is made of. Source of the search: Tarjan, "Depth-first search and
/// linear graph algorithms", 1972.
#pragma once

#include <algorithm>
#include <cstddef>
#include <unordered_set>
#include <vector>

#include "tools/simgpu/code/names.h"
#include "tools/simgpu/ptx/syntax.h"

namespace simgpu {

struct ReachedFunctions {
  std::vector<const ptx::Function*> order;  ///< the entry first, callers before what they call
  /// Those that may be called while they run.
  std::unordered_set<const ptx::Function*> recursive;
  std::size_t calls = 0;  ///< one through a pointer is as many as there are functions for it

  bool contains(const ptx::Function& function) const {
    return std::find(order.begin(), order.end(), &function) != order.end();
  }
};

/// The entry and all that it calls, itself or through pointers: then it may be any function whose
/// address the module takes and that has as many parameters and results.
/// \throws ptx::Error for calls of entries, for more than 256 functions on the way to one, and for
/// more than four million calls.
ReachedFunctions functions_of(const ptx::Function& entry, const ModuleNames& names);

}  // namespace simgpu
