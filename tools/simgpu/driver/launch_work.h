/// \file
/// Launches, before they run.
#pragma once

#include <memory>
#include <vector>

#include "tools/simgpu/driver/function.h"
#include "tools/simgpu/driver/stream.h"

namespace simgpu::driver {

/// With the parameters as cuLaunchKernel has them: `each` by itself, or all in a buffer that
/// `extra` names. \throws Refusal for what the GPU would not run
KernelWork make_kernel_work(const std::shared_ptr<Function>& function,
                            const LaunchConfiguration& configuration, void** each, void** extra,
                            std::vector<CUlaunchAttribute> attributes);

}  // namespace simgpu::driver
