#include "tools/simgpu/driver/driver.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "tools/simgpu/driver/allocation.h"
#include "tools/simgpu/driver/stream.h"
#include "tools/simgpu/machine/profile.h"
#include "tools/simgpu/machine/workers.h"

namespace simgpu::driver {
namespace {

/// What there is of the host's, as each byte has one of shadow beside it.
std::size_t memory_of_host() {
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 2;
}

void end() {
  stop_device();
  const std::lock_guard lock(driver().mutex);
  tell_leaks();
}

}  // namespace

Driver& driver() {
  static auto& never_destroyed = *new Driver;
  return never_destroyed;
}

void start() {
  if (driver().initialised) return;
  driver().memory =
      std::make_unique<DeviceMemory>(std::min(profile().memory_bytes, memory_of_host()));
  // What is made now is destroyed after `end`, which the device thread needs.
  run_on_workers(1, [](int) {});
  std::atexit(end);
  driver().initialised = true;
}

}  // namespace simgpu::driver
