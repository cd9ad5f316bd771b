/// \file
/// What must be equal when one Script is run in two ways.
#pragma once

#include <optional>
#include <string>

#include "fuzz/replay.h"

namespace sinter::fuzz {

/// Two ways to run a Script that must give the same.
enum class Check : std::uint8_t {
  meaning,        ///< interpret and eager
  eager_threads,  ///< eager on one thread and on two
  first,          ///< eager and the first call at fused
  later,          ///< eager and a second call at fused, with other data and numbers
  sizes,          ///< eager and fused with other sizes, after a call at fused
  rounds,         ///< eager and fused, several times on the same Variables
  threads,        ///< fused on one thread and on two
};
inline constexpr Check all_checks[] = {Check::meaning, Check::eager_threads, Check::first,
                                       Check::later,   Check::sizes,         Check::rounds,
                                       Check::threads};

/// How often the check of this name runs the steps: by the last one a Variable has been written and
/// read, and its old memory used again.
inline constexpr int rounds = 3;

std::string_view to_string(Check check);
std::optional<Check> parse_check(std::string_view name);

/// The first difference between the two runs of the check; nothing where there is none. Bits must
/// be equal (all NaNs count as equal), and errors. Only what a matrix product or an attention is
/// part of may differ between interpret and eager: of those ops themselves by a bound, of what
/// follows from them nothing is asked.
std::optional<std::string> find_difference(const Script& script, Check check);

/// What the second call at fused runs, of the checks that make two; where there is such a Script.
std::optional<Script> second_call(const Script& script, Check check);

/// The first difference of two lists of readings of one Script.
std::optional<std::string> find_difference(const Script& script, const std::vector<Reading>& left,
                                           const std::vector<Reading>& right, bool library_exact);

}  // namespace sinter::fuzz
