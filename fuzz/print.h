/// \file
/// A Script as a C++ program of its own.
#pragma once

#include <string>
#include <string_view>

#include "fuzz/compare.h"

namespace sinter::fuzz {

/// A program that includes <sinter/sinter.h> alone, runs the Script in the two ways of the check
/// and ends with 1 where they differ; without a check it prints what the level eager gives.
/// `heading`: lines of a comment at its top.
std::string to_cpp(const Script& script, std::optional<Check> check, std::string_view heading);

}  // namespace sinter::fuzz
