/// \file
/// Runs the program client_process.cpp: for what a process takes from its environment.
#pragma once

#include <string>

namespace simgpu {

/// What the program prints with these settings of the environment. Where nobody asks for its
/// status, it has to be 0.
std::string run_client(const std::string& settings, const std::string& what, int* status = nullptr);

}  // namespace simgpu
