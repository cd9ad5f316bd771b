/// \file
/// A Script as JSON: the format that jit/trace_file.h describes.
#pragma once

#include <string>
#include <string_view>

#include "fuzz/script.h"

namespace sinter::fuzz {

std::string to_json(const Script& script);

/// The whole Script or none. \throws FileError naming what is wrong: no JSON, an unknown op, a step
/// that reads a later one, an attribute that is missing, shapes that do not fit each other.
Script from_json(std::string_view text);

/// The Scripts of a file in which each line is one, or an object whose member "graph" is one; other
/// lines are passed over. \throws FileError naming file and line.
std::vector<Script> read_scripts(const std::string& path);

}  // namespace sinter::fuzz
