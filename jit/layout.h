/// \file
/// Layout: what of a Plan depends on sizes and on the numbers that composites carry.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/decompose.h"

namespace sinter::jit {

/// The parts of composites for one set of sizes and numbers.
struct Layout {
  std::vector<std::int64_t> key;  ///< as layout_key gives it
  Primitives primitives;
};

/// Decomposes, simplifies and gathers.
Layout make_layout(const Trace& trace);

/// All sizes of a trace, and the numbers composites carry.
std::vector<std::int64_t> layout_key(const Trace& trace);

/// Whether what a Plan relies on is alike in both.
bool same_parts(const Primitives& a, const Primitives& b);

}  // namespace sinter::jit
