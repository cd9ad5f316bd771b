/// \file
/// The toolkit's header as the driver itself sees it: with every version of each function.
#pragma once

#define __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_PUSH_VISIBILITY_DEFAULT
#include <cuda.h>

extern "C" {
// Of cudaProfiler.h, which not every package of the toolkit has.
CUresult cuProfilerStart(void);
CUresult cuProfilerStop(void);
}
