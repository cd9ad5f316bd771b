/// \file
/// Report: how many bytes the steps of a Program move and hold, for the sizes of a trace.
#pragma once

#include "jit/program.h"
#include "jit/traffic.h"

namespace sinter::jit {

/// Of a Program that is run step by step: results never take an operand's place.
ProgramMemory memory_of(const Program& program, const Trace& trace);

}  // namespace sinter::jit
