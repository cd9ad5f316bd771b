/// \file
/// Lower: from a trace to kernels that can be launched, stage by stage.
#pragma once

#include <memory>

#include "jit/layout.h"
#include "jit/plan.h"

namespace sinter::jit {

/// A Plan whose kernels are loaded.
struct Lowered {
  Plan plan;
  mutable Layouts layouts;  // guarded by the launch lock
};

/// \return null where the machine has no compiler, or nothing in the trace is fused.
/// \throws CompileError, FileError as KernelCache::load does.
std::shared_ptr<const Lowered> lower(const Trace& trace);

}  // namespace sinter::jit
