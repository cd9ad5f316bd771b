/// \file
/// Launch at the level fused: runs a Plan on the values of a trace.
#pragma once

#include <optional>
#include <vector>

#include "jit/execute.h"
#include "jit/forms.h"
#include "jit/observer.h"

namespace sinter::jit {

/// Runs the operations of the plan in order, with the Layout for the trace. `donated` is as for
/// execute, and values come out by the numbers of `program`. \return nothing where an operation
/// failed before memory of a Variable was overwritten: then the level eager tells what is wrong,
/// and computes the rest.
std::optional<Outcome> run_plan(const Form& form, const Program& program, const Trace& trace,
                                const std::vector<bool>& donated, Observers observers = {});

}  // namespace sinter::jit
