/// \file
/// Layout: what of a Plan depends on sizes and on the numbers that composites carry.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "jit/decompose.h"
#include "jit/plan_memory.h"

namespace sinter::jit {

struct Plan;

/// The parts of composites for one set of sizes and numbers.
struct Layout {
  std::vector<std::int64_t> key;  ///< all sizes of the trace, and the numbers composites carry
  Primitives primitives;
  MemoryPlan memory;  ///< once there is a Plan
};

/// Decomposes, simplifies and gathers.
Layout make_layout(const Trace& trace);

/// The layouts of one Plan, those that were used last. Guarded by the launch lock.
class Layouts {
 public:
  /// Takes the one the Plan was made from, of this trace.
  Layouts(Layout first, const Plan& plan, const Trace& trace);

  /// The Layout for the trace, whose own nodes are not in it: they are the current trace's. Null
  /// where its composites have other parts than the Plan's.
  const Layout* find(const Trace& trace, const Plan& plan);

 private:
  static constexpr std::size_t most_layouts = 16;

  std::vector<std::unique_ptr<Layout>> layouts_;  // used last comes last
};

}  // namespace sinter::jit
