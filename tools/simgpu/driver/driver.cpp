#include "tools/simgpu/driver/driver.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "tools/simgpu/driver/allocation.h"
#include "tools/simgpu/driver/call.h"
#include "tools/simgpu/driver/stream.h"
#include "tools/simgpu/machine/profile.h"

namespace simgpu::driver {
namespace {

/// What there is of the host's, as each byte has one of shadow beside it.
std::size_t memory_of_host() {
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 2;
}

void end() {
  if (driver().forked) return;
  stop_device();
  const std::lock_guard lock(driver().mutex);
  tell_leaks();
}

}  // namespace

Driver& driver() {
  static auto& never_destroyed = *new Driver;
  return never_destroyed;
}

void require_not_forked() {
  if (driver().forked)
    refuse(CUDA_ERROR_NOT_INITIALIZED, "a process that is forked after cuInit has no GPU");
}

void start() {
  require_not_forked();
  if (driver().initialised) return;
  driver().memory =
      std::make_unique<DeviceMemory>(std::min(profile().memory_bytes, memory_of_host()));
  std::atexit(end);
  pthread_atfork([] { driver().mutex.lock(); }, [] { driver().mutex.unlock(); },
                 [] {
                   driver().forked = true;
                   driver().mutex.unlock();
                 });
  driver().initialised = true;
}

}  // namespace simgpu::driver
