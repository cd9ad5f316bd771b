/// \file
/// What streams and graphs do, one piece at a time. It has been checked when it is made, as far as
/// that can be told then.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "tools/simgpu/driver/cuda_api.h"
#include "tools/simgpu/machine/fault.h"
#include "tools/simgpu/machine/launch.h"

namespace simgpu::driver {

struct Event;
struct Function;
struct Graph;

struct KernelWork {
  std::shared_ptr<Function> function;
  LaunchConfiguration configuration;
  std::vector<std::byte> parameters;
  std::vector<CUlaunchAttribute> attributes;
};
/// Between host and device, or within either, in up to three dimensions.
struct CopyWork {
  CUDA_MEMCPY3D copy{};
  /// What the program's pageable memory held when it asked for the copy.
  std::shared_ptr<std::vector<std::byte>> staged;
};
struct SetWork {
  CUDA_MEMSET_NODE_PARAMS set{};
};
/// A function of the host's; `keep` is held until it is no longer needed.
struct HostWork {
  CUhostFn function = nullptr;
  void* data = nullptr;
  std::string name = "host function";
  std::function<CUresult()> run;  ///< in the place of `function`
  std::shared_ptr<void> keep;
};
/// Of cuStreamAddCallback: runs whatever went wrong before.
struct CallbackWork {
  CUstreamCallback callback = nullptr;
  CUstream stream = nullptr;
  void* data = nullptr;
};
struct FreeWork {
  CUdeviceptr address = 0;
  std::string freer;
};
struct RecordWork {
  std::shared_ptr<Event> event;
  bool external = false;  ///< in a capture: a node of the graph, not a mark for a join
};
struct WaitWork {
  std::shared_ptr<Event> event;
};
struct ChildWork {
  std::shared_ptr<Graph> graph;
};
struct EmptyWork {};

using Work = std::variant<EmptyWork, KernelWork, CopyWork, SetWork, HostWork, CallbackWork,
                          FreeWork, RecordWork, WaitWork, ChildWork>;

/// Why work failed; the text is that of a FaultReport.
struct Failure {
  CUresult code = CUDA_SUCCESS;
  std::string text;
};

/// Runs it on the thread that calls, without the lock of the driver.
/// \param error that of the context before
Failure run(const Work& work, CUresult error);
/// Whether it runs the program's code, which may wait for anything.
bool is_of_host(const Work& work);
CUresult code_of(FaultKind kind);

}  // namespace simgpu::driver
