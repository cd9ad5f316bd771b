/// \file
/// The ways in which a Script is made simpler. Each gives candidates, the boldest first; none is
/// pruned or known to record.
#pragma once

#include <functional>

#include "fuzz/script.h"

namespace sinter::fuzz {

/// Takes a candidate; whether it was accepted. After that the move must not go on with the old
/// Script.
using Accept = std::function<bool(const Script&)>;

/// Offers candidates until one is accepted; whether one was.
using Move = bool (*)(const Script& script, const Accept& accept);

/// One output; half of them; all but one.
bool drop_outputs(const Script& script, const Accept& accept);
/// An output moves to what it is computed from.
bool advance_outputs(const Script& script, const Accept& accept);
/// Ranges of steps become leaves, long ones first: with drawn data, then with their own values.
bool cut_steps(const Script& script, const Accept& accept);
/// A step's readers read one of its operands.
bool bypass_steps(const Script& script, const Accept& accept);
/// Gradients, writes and evaluations go.
bool drop_effects(const Script& script, const Accept& accept);
/// Leaves of one dtype and shape become one.
bool merge_leaves(const Script& script, const Accept& accept);
/// Sizes, and all their multiples, become smaller.
bool shrink_sizes(const Script& script, const Accept& accept);
/// Dtypes become f32 or i64.
bool simplify_dtypes(const Script& script, const Accept& accept);
/// Leaves: no Variable, no strides, no special elements, small whole numbers.
bool simplify_leaves(const Script& script, const Accept& accept);
/// Numbers of steps become 0 or 1.
bool simplify_numbers(const Script& script, const Accept& accept);

inline constexpr Move moves[] = {drop_outputs,    advance_outputs, cut_steps,    bypass_steps,
                                 drop_effects,    merge_leaves,    shrink_sizes, simplify_dtypes,
                                 simplify_leaves, simplify_numbers};

}  // namespace sinter::fuzz
