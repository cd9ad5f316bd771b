/// \file
/// Launch: runs a Program on the values of a trace.
#pragma once

#include <exception>
#include <vector>

#include "jit/program.h"

namespace sinter::jit {

/// What running a Program came to. On a failure no value has been given to any node, and no
/// Variable's buffer has been written.
struct Outcome {
  std::vector<Value> values;    ///< by value number; only those that are kept
  std::exception_ptr failure;   ///< what the data showed, if anything
  std::size_t failed_step = 0;  ///< the step that showed it
};

/// Runs the steps in order. `donated[i]` says that nobody but the trace and the list of written
/// Variables refers to leaf i, an old value of a Variable: its buffer may be overwritten after its
/// last use.
Outcome execute(const Program& program, const Trace& trace, const std::vector<bool>& donated);

}  // namespace sinter::jit
