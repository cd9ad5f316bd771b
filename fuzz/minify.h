/// \file
/// What fails in a Script, and the smallest Script that still shows it.
#pragma once

#include <optional>
#include <string>

#include "fuzz/compare.h"
#include "fuzz/shrink.h"

namespace sinter::fuzz {

/// A difference between two runs, or an error that every run gives.
struct Failure {
  std::optional<Check> check;  ///< none for an error
  std::string text;
};

/// The first failure, each looked for in a process of its own: of the check if one is given, else
/// of all of them, else an error.
std::optional<Failure> find_failure(const Script& script, std::optional<Check> only = std::nullopt);

/// Whether the Script fails in the same way: differs in the same check, by values, by errors or by
/// a crash; or has an error of the same op and kind.
bool fails_alike(const Script& script, const Failure& failure);

Shrunk minified(const Script& script, const Failure& failure, int most);

/// The Script as a C++ program that shows the failure.
std::string minified_text(const Shrunk& shrunk, const Failure& failure, std::string_view origin);

}  // namespace sinter::fuzz
