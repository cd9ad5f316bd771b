/// \file
/// The commands of tools/inspect, a file each.
#pragma once

#include <span>
#include <string_view>

namespace sinter::tools {

/// Shrinks a recorded program that fails and prints it as C++. Returns the exit status.
int minify(std::span<const std::string_view> words);

}  // namespace sinter::tools
