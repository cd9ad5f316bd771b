/// \file
/// The texts that kernels compiled at run time begin with, one for each kind of device.
#pragma once

#include <string_view>

namespace sinter::jit {

/// kernels/generated_loop.h with all that it includes: one text for every instruction set, which
/// the compiler's flags choose. It includes nothing of the machine but headers that the compiler
/// brings, so that it is quick to parse.
std::string_view prelude();

/// kernels/cuda/generated_loop.cuh likewise, for NVRTC: one text for every architecture.
std::string_view cuda_prelude();

}  // namespace sinter::jit
