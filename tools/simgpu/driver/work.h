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

/// What a node with work of a kind is in a graph.
struct NodeKind {
  CUgraphNodeType type;
  const char* noun;
};

struct KernelWork {
  static constexpr NodeKind node{CU_GRAPH_NODE_TYPE_KERNEL, "kernel"};
  std::shared_ptr<Function> function;
  LaunchConfiguration configuration;
  std::vector<std::byte> parameters;
  std::vector<void*> pointers{};  ///< into the parameters, for programs that read them
};
/// Between host and device, or within either, in up to three dimensions.
struct CopyWork {
  static constexpr NodeKind node{CU_GRAPH_NODE_TYPE_MEMCPY, "copy"};
  CUDA_MEMCPY3D copy{};
  /// What the program's pageable memory held when it asked for the copy, row after row.
  std::shared_ptr<std::vector<std::byte>> staged;
};
struct SetWork {
  static constexpr NodeKind node{CU_GRAPH_NODE_TYPE_MEMSET, "set"};
  CUDA_MEMSET_NODE_PARAMS set{};
};
/// A function of the host's; `keep` is held until it is no longer needed.
struct HostWork {
  static constexpr NodeKind node{CU_GRAPH_NODE_TYPE_HOST, "host function"};
  CUhostFn function = nullptr;
  void* data = nullptr;
  std::string name = node.noun;
  std::function<CUresult()> run{};  ///< in the place of `function`
  std::shared_ptr<void> keep{};
};
/// Of cuStreamAddCallback: runs whatever went wrong before. No graph has it.
struct CallbackWork {
  static constexpr NodeKind node{CU_GRAPH_NODE_TYPE_HOST, "callback"};
  CUstreamCallback callback = nullptr;
  CUstream stream = nullptr;
  void* data = nullptr;
};
/// No graph has it either.
struct FreeWork {
  static constexpr NodeKind node{CU_GRAPH_NODE_TYPE_MEM_FREE, "free"};
  CUdeviceptr address = 0;
  std::uint64_t block = 0;  ///< its number
  std::string freer;
};
struct RecordWork {
  static constexpr NodeKind node{CU_GRAPH_NODE_TYPE_EVENT_RECORD, "event record"};
  std::shared_ptr<Event> event;
};
struct WaitWork {
  static constexpr NodeKind node{CU_GRAPH_NODE_TYPE_WAIT_EVENT, "event wait"};
  std::shared_ptr<Event> event;
};
struct ChildWork {
  static constexpr NodeKind node{CU_GRAPH_NODE_TYPE_GRAPH, "graph"};
  std::shared_ptr<Graph> graph;
};
struct EmptyWork {
  static constexpr NodeKind node{CU_GRAPH_NODE_TYPE_EMPTY, "empty"};
};

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
