#include "tools/simgpu/driver/work.h"

#include <fmt/format.h>

#include <cstring>
#include <new>

#include "tools/simgpu/driver/allocation.h"
#include "tools/simgpu/driver/copy.h"
#include "tools/simgpu/driver/driver.h"
#include "tools/simgpu/driver/module.h"
#include "tools/simgpu/machine/profile.h"

namespace simgpu::driver {
namespace {

Failure run(const KernelWork& work) {
  const auto report = launch(*work.function->kernel, work.configuration, work.parameters, profile(),
                             *driver().memory);
  if (report) return {code_of(report->kind), report->text};
  return {};
}

Failure failed(CUresult code, const std::string& why) {
  return {code, fmt::format("simgpu (a simulation, no hardware): {}\n", why)};
}

/// \throws Failure where the range is not all of an allocation, or of registered memory
void check(CUdeviceptr address, std::size_t bytes, const char* what) {
  if (driver().memory->is_allocated(address, bytes) ||
      driver().memory->host().is_open(address, bytes))
    return;
  throw failed(CUDA_ERROR_ILLEGAL_ADDRESS, describe_access(address, bytes, what));
}

Failure run(const CopyWork& work) {
  const CUDA_MEMCPY3D& copy = work.copy;
  CopySide from = source(copy), to = destination(copy);
  if (work.staged)
    from = {false, reinterpret_cast<std::uint64_t>(work.staged->data()), copy.WidthInBytes,
            copy.WidthInBytes * copy.Height};
  for (std::size_t z = 0; z < copy.Depth; ++z) {
    for (std::size_t y = 0; y < copy.Height; ++y) {
      const CUdeviceptr a = from.row(y, z), b = to.row(y, z);
      const std::size_t bytes = copy.WidthInBytes;
      if (from.is_device) check(a, bytes, "source of a copy");
      if (to.is_device) check(b, bytes, "destination of a copy");
      std::memmove(reinterpret_cast<void*>(b), reinterpret_cast<const void*>(a), bytes);
      if (!to.is_device) continue;
      if (from.is_device) driver().memory->copy_shadow(b, a, bytes);
      else driver().memory->set_initialised(b, bytes);
    }
  }
  return {};
}

Failure run(const SetWork& work) {
  const CUDA_MEMSET_NODE_PARAMS& set = work.set;
  const std::size_t bytes = set.width * set.elementSize;
  for (std::size_t y = 0; y < set.height; ++y) {
    const CUdeviceptr row = set.dst + y * set.pitch;
    check(row, bytes, "destination of a set");
    auto* to = reinterpret_cast<std::byte*>(row);
    for (std::size_t x = 0; x < set.width; ++x)
      std::memcpy(to + x * set.elementSize, &set.value, set.elementSize);
    if (driver().memory->holds(row, bytes)) driver().memory->set_initialised(row, bytes);
  }
  return {};
}

Failure run(const HostWork& work) {
  if (!work.run) {
    work.function(work.data);
    return {};
  }
  const CUresult result = work.run();
  if (result == CUDA_SUCCESS) return {};
  return failed(result, work.name + " failed");
}

Failure run(const FreeWork& work) {
  const std::lock_guard lock(driver().mutex);
  // Its context may have gone before the stream came to this.
  if (is_there(work.address, work.block)) release(work.address, work.freer);
  return {};
}

/// What is done by waiting, or by the nodes of a child graph, which are operations of their own.
template <class Other>
Failure run(const Other&) {
  return {};
}

}  // namespace

Failure run(const Work& work, CUresult error) {
  if (const auto* callback = std::get_if<CallbackWork>(&work)) {
    callback->callback(callback->stream, error, callback->data);
    return {};
  }
  if (error != CUDA_SUCCESS && !std::holds_alternative<FreeWork>(work)) return {};
  try {
    return std::visit([](const auto& one) { return run(one); }, work);
  } catch (const Failure& failure) {
    return failure;
  } catch (const std::bad_alloc&) {
    return failed(CUDA_ERROR_OUT_OF_MEMORY, "the host has no memory left");
  }
}

bool is_of_host(const Work& work) {
  return std::holds_alternative<HostWork>(work) || std::holds_alternative<CallbackWork>(work);
}

CUresult code_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::out_of_bounds:
    case FaultKind::use_after_free:
    case FaultKind::wrong_space: return CUDA_ERROR_ILLEGAL_ADDRESS;
    case FaultKind::misaligned: return CUDA_ERROR_MISALIGNED_ADDRESS;
    case FaultKind::illegal_instruction: return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case FaultKind::asserted: return CUDA_ERROR_ASSERT;
    case FaultKind::no_progress: return CUDA_ERROR_LAUNCH_TIMEOUT;
    case FaultKind::trapped:
    // What no GPU finds fails the launch here.
    case FaultKind::uninitialised:
    case FaultKind::shared_race:
    case FaultKind::global_race:
    case FaultKind::divergent_barrier:
    case FaultKind::absent_lane:
    case FaultKind::missing_wait: return CUDA_ERROR_LAUNCH_FAILED;
  }
  return CUDA_ERROR_LAUNCH_FAILED;
}

}  // namespace simgpu::driver
