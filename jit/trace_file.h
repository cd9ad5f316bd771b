/// \file
/// A Trace as one line of JSON, from which it can be run again elsewhere (fuzz/json.h).
///
///   {"steps": [...], "outputs": [numbers of the steps whose values stay]}
///
/// Steps are numbered from 0, leaves first. Numbers that JSON lacks are "nan", "inf" and "-inf".
///
///   {"leaf": dtype, "shape": [..],            a value from before
///    "strides": [..],                         where the elements are not row-major
///    "elements": [..]}                        in row-major order; of large leaves instead
///    "range": [lowest, highest]               of the finite elements
///   {"op": name, "dtype": .., "shape": [..],  a recorded node; what is empty is left out
///    "operands": [steps], "fixed": [..], "slots": [..], "where": "train.cpp:41",
///    "body": {"lists": [dtypes], "shared": [dtypes], "numbers": [dtypes], "results": [values],
///             "steps": [{"op": .., "dtype": .., "compute": dtype, "operands": [values]}]}}
///   {"assign": [leaf, value], ...}            a Variable whose value was the leaf is written
///   {"gradient": [y, x], ...}, {"evaluate": [value], ...}: in files that tools write
#pragma once

#include <span>
#include <string>

#include "jit/trace.h"
#include "runtime/foreach_body.h"

namespace sinter::jit {

/// Leaves with more elements than this are described by their range.
inline constexpr std::int64_t most_written_elements = 4096;

/// The Trace before it is run. `written`, `previous`: the nodes of Variables that were written and
/// those they had before, null where there was none.
std::string trace_text(const Trace& trace, std::span<const NodeRef> written = {},
                       std::span<const NodeRef> previous = {});

/// Whether a slot of an op is a real number (not an integer); `body`: of foreach_map.
bool is_real_slot(Op op, DType dtype, const ForeachTrace* body, std::size_t slot);

}  // namespace sinter::jit
