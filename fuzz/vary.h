/// \file
/// The same program with other sizes or numbers: what a second call may bring.
#pragma once

#include <optional>

#include "fuzz/script.h"

namespace sinter::fuzz {

/// The same with other sizes, where the Script has one that can be another.
std::optional<Script> with_other_sizes(const Script& script);

/// The same with other host numbers: constants, epsilons, probabilities, seeds, the places of
/// slices and pads.
Script with_other_numbers(const Script& script);

}  // namespace sinter::fuzz
