/// \file
/// Report: what became of a program, as files for people and for tools (SINTER_TRACE_DIR).
///
/// Each program has a folder of its own, `DATE-TIME-PROCESS-PROGRAM`, with
///
///   program.jsonl  what was recorded, decided and built, one JSON object a line:
///     program      the level, the version, the instruction set and the flags of kernels
///     stage        a stage of the pipeline and the nanoseconds it took
///     leaf, step   the recorded graph: op, dtype, shape, inputs, attributes, the user's line
///     primitive    the steps after composites were taken apart (level fused)
///     group        primitives that became one kernel, and the role of each
///     refused      a merge that was not made: the primitive, the group's first member, the reason
///     build        kernels that the process knew, found on disk, refused there, compiled
///     kernel       a generated kernel: its loop and its source
///     operation    what runs, in order: bytes read and written, bytes held while it runs, the
///                  numbers of the values that end with it
///     plan         the sums of those, and the most bytes held
///   graph.json     the recorded graph with the values it starts from, to be run again and shrunk
///                  (trace_file.h, tools/inspect minify)
///   launch.jsonl   its first run: the nanoseconds of each operation, and the arguments of each
///                  generated kernel
///   launch.bin     the memory that those kernels read, and what they left
///
/// A file is there as a whole or not at all. Where one cannot be written there is one warning.
#pragma once

#include <string>

#include "jit/lower.h"
#include "jit/program.h"
#include "runtime/variable.h"

namespace sinter::jit {

/// Writes program.jsonl and graph.json. `written`: the Variables whose new values the trace has.
/// \return the folder; empty where it could not be written.
std::string report_program(const std::string& directory, Level level, const Program& program,
                           const Trace& trace, const WrittenVariables& written,
                           const LoweringRecord& record);

}  // namespace sinter::jit
