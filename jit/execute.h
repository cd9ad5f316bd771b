/// \file
/// Launch: runs a Program on the values of a trace.
#pragma once

#include <exception>
#include <vector>

#include "jit/observer.h"
#include "jit/program.h"

namespace sinter::jit {

/// What running a Program came to.
struct Outcome {
  std::vector<Value> values;                 ///< by value number; only those that are kept
  std::vector<std::exception_ptr> failures;  ///< by step: why it has no value; null where it has
  std::vector<bool> fresh;                   ///< whether that failure arose in this run
  std::vector<bool> overwritten;             ///< the leaves whose memory was given to a result
  std::uint64_t kernels = 0;                 ///< that ran
  std::exception_ptr first_fresh;            ///< of the first step that failed by itself, if any
};

/// Runs the steps in order. A step fails by what its data shows, by what its kernel throws, or with
/// what it reads; the others are computed all the same. `donated[i]` says that nobody but the trace
/// and the list of written Variables refers to leaf i, an old value of a Variable: its buffer may
/// be overwritten after its last use, once no step can fail by its data any more and as long as
/// none has failed. Observers see each step; with one that may fail it nothing may be
/// donated. What a kernel or an allocation throws may still come later. \throws
/// std::bad_alloc before the first step.
Outcome execute(const Program& program, const Trace& trace, const std::vector<bool>& donated,
                Observers observers = {});

}  // namespace sinter::jit
