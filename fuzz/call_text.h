/// \file
/// One step of a Script as the text of a call.
#pragma once

#include <string>

#include "fuzz/script.h"

namespace sinter::fuzz {

/// The expression that makes the step's value: of ops that `pick` reads from, all their results.
std::string call_text(const Script& script, const Step& step);

/// `v12`, or the number of a constant that `reader` takes as a host number.
std::string operand_text(const Script& script, const Step& reader, std::size_t operand);

/// A value as C++ text: infinities and NaN too.
std::string real_text(double value);

/// `{2, 3}`
std::string dims_text(const Dims& dims);

}  // namespace sinter::fuzz
