/// \file
/// What there is once in a process.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>

#include "tools/simgpu/machine/memory.h"

namespace simgpu::driver {

struct Driver {
  /// Every call of the API holds it, and the device thread while it chooses what runs next.
  std::mutex mutex;
  /// Notified whenever work ends or is added.
  std::condition_variable changed;
  bool initialised = false;
  bool ended = false;   ///< the process is exiting
  bool forked = false;  ///< the process is a child of the one that has the GPU
  std::unique_ptr<DeviceMemory> memory;
};

/// Never destroyed, so that threads that outlive main find it.
Driver& driver();

/// Of cuInit: the memory, and what is told at exit.
void start();
/// \throws Refusal in a forked process, to which the threads of the GPU have not come.
void require_not_forked();

}  // namespace simgpu::driver
