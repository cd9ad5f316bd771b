/// \file
/// Lower: from a trace to kernels that can be launched, stage by stage.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "jit/kernel_cache.h"
#include "jit/layouts.h"
#include "jit/plan.h"

namespace sinter::jit {

/// A Plan whose kernels are loaded.
struct Lowered {
  Plan plan;
  mutable Layouts layouts;  // guarded by the launch lock
};

/// How a trace was lowered, for who wants to look at it.
struct LoweringRecord {
  struct Stage {
    std::string_view name;
    std::int64_t nanoseconds;
  };
  struct Kernel {
    KernelSource source;
    std::string loop;                ///< as readers see it
    kernels::LoopFunction function;  ///< null where there is no compiler
  };

  std::vector<Stage> stages;
  Fusion fusion;
  std::vector<Kernel> kernels;
  KernelStatistics built;                  ///< what building them took
  std::shared_ptr<const Lowered> lowered;  ///< also where it is not used
};

/// Fills `record` where one is given.
/// \return null where the machine has no compiler, or nothing in the trace is fused.
/// \throws CompileError, FileError as KernelCache::load does.
std::shared_ptr<const Lowered> lower(const Trace& trace, LoweringRecord* record = nullptr);

}  // namespace sinter::jit
