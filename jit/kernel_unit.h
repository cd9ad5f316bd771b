/// \file
/// Kernels become translation units.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jit/kernel_file.h"

namespace sinter::jit {

/// The text of at most `most` units that hold each kernel once, of about the same length so that
/// compiling them takes about the same time.
std::vector<std::string> split_into_units(std::string_view prelude,
                                          std::span<const StoredKernel> kernels, std::size_t most);

}  // namespace sinter::jit
