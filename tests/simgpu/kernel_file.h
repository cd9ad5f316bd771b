/// \file
/// Kernels of tests, in CUDA C++.
#pragma once

#include <string>

namespace simgpu {

/// The text of a file of tests/simgpu/kernels. \throws std::runtime_error where there is none.
std::string kernel_file(const std::string& name);

}  // namespace simgpu
