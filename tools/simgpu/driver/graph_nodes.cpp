#include "tools/simgpu/driver/graph_nodes.h"

#include <algorithm>
#include <cstring>

#include "tools/simgpu/driver/copy.h"
#include "tools/simgpu/driver/module.h"

namespace simgpu::driver {
namespace {

/// One version of a structure as another: a newer one adds to the end of the older.
template <class To, class From>
To as_version(const From& from) {
  To to{};
  std::memcpy(&to, &from, std::min(sizeof to, sizeof from));
  return to;
}

}  // namespace

std::vector<Node*> nodes_of(const Graph& graph, const CUgraphNode* handles, std::size_t count) {
  require(handles != nullptr || count == 0);
  std::vector<Node*> nodes;
  for (std::size_t i = 0; i < count; ++i) {
    nodes.push_back(get<Node>(handles[i]).get());
    require(nodes.back()->graph == &graph);
  }
  return nodes;
}

void require_plain(const CUgraphEdgeData* edges, std::size_t count) {
  for (std::size_t i = 0; edges != nullptr && i < count; ++i)
    if (edges[i].from_port != 0 || edges[i].to_port != 0 || edges[i].type != 0)
      refuse(CUDA_ERROR_NOT_SUPPORTED, "edges of graphs are plain: no programmatic launch");
}

void read_params(KernelWork& work, const CUDA_KERNEL_NODE_PARAMS* params) {
  require(params != nullptr);
  const CUfunction function =
      params->func != nullptr ? params->func : reinterpret_cast<CUfunction>(params->kern);
  work = make_kernel_work(function_of(function),
                          {{params->gridDimX, params->gridDimY, params->gridDimZ},
                           {params->blockDimX, params->blockDimY, params->blockDimZ},
                           params->sharedMemBytes},
                          params->kernelParams, params->extra, {});
}

void read_params(KernelWork& work, const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  require(params != nullptr);
  const auto newer = as_version<CUDA_KERNEL_NODE_PARAMS>(*params);
  read_params(work, &newer);
}

void read_params(CopyWork& work, const CUDA_MEMCPY3D* params) {
  require(params != nullptr);
  check_copy(*params);
  work.copy = *params;
}

void read_params(SetWork& work, const CUDA_MEMSET_NODE_PARAMS* params) {
  require(params != nullptr);
  check_set(*params);
  work.set = *params;
}

void read_params(HostWork& work, const CUDA_HOST_NODE_PARAMS* params) {
  require(params != nullptr && params->fn != nullptr);
  work.function = params->fn;
  work.data = params->userData;
}

void read_params(ChildWork& work, CUgraph graph) { work = make_child(*get<Graph>(graph)); }
void read_params(RecordWork& work, CUevent event) { work.event = get<Event>(event); }
void read_params(WaitWork& work, CUevent event) { work.event = get<Event>(event); }

void write_params(KernelWork& work, CUDA_KERNEL_NODE_PARAMS* params) {
  work.pointers.clear();
  for (const Parameter& parameter : work.function->kernel->parameters)
    work.pointers.push_back(work.parameters.data() + parameter.offset);
  const Size3 &grid = work.configuration.grid, &block = work.configuration.block;
  *params = {work.function->handle,
             grid.x,
             grid.y,
             grid.z,
             block.x,
             block.y,
             block.z,
             work.configuration.dynamic_shared_bytes,
             work.pointers.data(),
             nullptr,
             nullptr,
             nullptr};
}

void write_params(KernelWork& work, CUDA_KERNEL_NODE_PARAMS_v1* params) {
  CUDA_KERNEL_NODE_PARAMS newer;
  write_params(work, &newer);
  *params = as_version<CUDA_KERNEL_NODE_PARAMS_v1>(newer);
}

void write_params(CopyWork& work, CUDA_MEMCPY3D* params) { *params = work.copy; }
void write_params(SetWork& work, CUDA_MEMSET_NODE_PARAMS* params) { *params = work.set; }
void write_params(HostWork& work, CUDA_HOST_NODE_PARAMS* params) {
  *params = {work.function, work.data};
}
void write_params(ChildWork& work, CUgraph* graph) { *graph = work.graph->handle; }
void write_params(RecordWork& work, CUevent* event) { *event = work.event->handle; }
void write_params(WaitWork& work, CUevent* event) { *event = work.event->handle; }

Work any_work_from(const CUgraphNodeParams* params) {
  require(params != nullptr);
  switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
      const auto kernel = as_version<CUDA_KERNEL_NODE_PARAMS>(params->kernel);
      return work_from<KernelWork>(&kernel);
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY: return work_from<CopyWork>(&params->memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      const auto set = as_version<CUDA_MEMSET_NODE_PARAMS>(params->memset);
      return work_from<SetWork>(&set);
    }
    case CU_GRAPH_NODE_TYPE_HOST: {
      const auto host = as_version<CUDA_HOST_NODE_PARAMS>(params->host);
      return work_from<HostWork>(&host);
    }
    case CU_GRAPH_NODE_TYPE_GRAPH: return work_from<ChildWork>(params->graph.graph);
    case CU_GRAPH_NODE_TYPE_EMPTY: return EmptyWork{};
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return work_from<WaitWork>(params->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return work_from<RecordWork>(params->eventRecord.event);
    default: refuse(CUDA_ERROR_NOT_SUPPORTED, "the graphs of the simulated GPU have no such nodes");
  }
}

Node& node_in(CUgraphExec executable, CUgraphNode source) {
  Node* node = copy_of(*get<ExecutableGraph>(executable)->graph, source);
  require(node != nullptr);
  return *node;
}

void replace(Node& node, Work work) {
  require(node.work.index() == work.index());
  if (node.graph != nullptr) place_child(work, *node.graph);
  node.work = std::move(work);
}

void replace(CUgraphExec executable, CUgraphNode source, Work work) {
  Node& node = node_in(executable, source);
  Node candidate;
  candidate.work = work;
  require(update_result(node, candidate) == CU_GRAPH_EXEC_UPDATE_SUCCESS);
  replace(node, std::move(work));
}

CUgraphExecUpdateResult update_result(const Node& old_node, const Node& new_node) {
  if (old_node.work.index() != new_node.work.index())
    return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
  // A copy keeps its direction, and a copy or set its extent in one row (cuGraphExecUpdate).
  const auto* from = std::get_if<CopyWork>(&old_node.work);
  const auto* to = std::get_if<CopyWork>(&new_node.work);
  if (from != nullptr && (source(from->copy).is_device != source(to->copy).is_device ||
                          destination(from->copy).is_device != destination(to->copy).is_device))
    return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
  if (from != nullptr && (from->copy.Height != 1 || from->copy.Depth != 1) &&
      (from->copy.WidthInBytes != to->copy.WidthInBytes || from->copy.Height != to->copy.Height ||
       from->copy.Depth != to->copy.Depth))
    return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
  return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

}  // namespace simgpu::driver
