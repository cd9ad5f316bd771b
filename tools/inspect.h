/// \file
/// The commands of tools/inspect, a file each.
#pragma once

#include <span>
#include <string_view>

namespace sinter::tools {

/// Each takes the words after the command and returns the exit status.

/// Writes a generated kernel of a trace as a program of its own.
int write_kernel(std::span<const std::string_view> words);
/// Lists the generated kernels of a trace.
int list_kernels(std::span<const std::string_view> words);
/// Shrinks a recorded program that fails and prints it as C++.
int minify(std::span<const std::string_view> words);

}  // namespace sinter::tools
