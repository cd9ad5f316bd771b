/// \file
/// Where the headers are that kernels include.
#pragma once

#include <string>

namespace simgpu {

/// The toolkit's (cuda_fp16.h), beside the NVRTC that is used; empty where there are none.
std::string toolkit_headers();
/// Those of CUDA's C++ library (cuda/std), which is a package of its own; empty where there are
/// none.
std::string library_headers();

}  // namespace simgpu
