/// \file
/// Report: the recorded graph, one JSON object a line.
#pragma once

#include <string>

#include "jit/decompose.h"
#include "jit/trace.h"

namespace sinter::jit {

/// A line for each leaf (`"record":"leaf"`) and each step (`"record":"step"`) of the trace.
std::string graph_lines(const Trace& trace);

/// A line for each primitive (`"record":"primitive"`): what composites were taken apart into.
std::string primitive_lines(const Trace& trace, const Primitives& primitives);

}  // namespace sinter::jit
