/// \file
/// Traffic: how many bytes the operations of a Plan move and hold, for the sizes of a trace.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/live_values.h"
#include "jit/memory_plan.h"

namespace sinter::jit {

/// Bytes of whole values; what an operation reads several times counts once.
struct OperationMemory {
  std::int64_t reads = 0;   ///< of operands; of a view nothing
  std::int64_t writes = 0;  ///< of results
  std::int64_t held = 0;    ///< by the program's values while it runs, results included
};

struct ProgramMemory {
  std::vector<OperationMemory> operations;
  std::int64_t peak = 0;  ///< the most that is held

  std::int64_t reads() const;
  std::int64_t writes() const;
};

/// A value that may take the place of a leaf counts as if it had memory of its own, for that is
/// decided when the program runs. Leaves are not held by it.
ProgramMemory memory_of(const LiveValues& values, const MemoryPlan& memory);
}  // namespace sinter::jit
