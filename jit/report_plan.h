/// \file
/// Report: what fusion, scheduling and planning have decided, one JSON object a line.
#pragma once

#include <string>

#include "jit/live_values.h"
#include "jit/lower.h"
#include "jit/program.h"

namespace sinter::jit {

/// A line for each group of primitives (`"record":"group"`) and each merge that was refused, with
/// the reason (`"record":"refused"`).
std::string fusion_lines(const LiveValues& values, const LoweringRecord& record);

/// What building the kernels took (`"record":"build"`), and a line for each with its loop and
/// source (`"record":"kernel"`).
std::string kernel_lines(const LoweringRecord& record);

/// A line for each operation, with the bytes it moves and the values that end with it
/// (`"record":"operation"`), and one for all with the size of the arena (`"record":"plan"`).
std::string plan_lines(const LiveValues& values, const MemoryPlan& memory);
/// The same of a Program that is run step by step, which has no arena.
std::string plan_lines(const Program& program, const Trace& trace);

}  // namespace sinter::jit
