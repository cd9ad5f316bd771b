/// \file
/// How many threads kernels run on. Results do not depend on it.
#pragma once

#include "error.h"

namespace sinter {

/// Threads in use, the calling one included: what affinity, the container's quota and
/// SINTER_THREADS allow, until set_threads is called.
int threads();

/// From the next kernel on. \throws UsageError for less than 1 and more than 1024.
void set_threads(int count, Where where = Where::current());

}  // namespace sinter
