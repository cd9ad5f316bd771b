/// \file
/// The threads of the host that run blocks.
#pragma once

#include <functional>

namespace simgpu {

/// How many there are, this one included: SIMGPU_THREADS, else one a core.
int workers();

/// Runs work(worker) once on each of the first `count` workers at the same time, the caller being
/// worker 0; returns when all are done. Calls from several threads take turns.
void run_on_workers(int count, const std::function<void(int)>& work);

}  // namespace simgpu
