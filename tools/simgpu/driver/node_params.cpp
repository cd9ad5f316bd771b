#include "tools/simgpu/driver/node_params.h"

#include "tools/simgpu/driver/copy.h"

namespace simgpu::driver {

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

KernelWork kernel_work(const CUDA_KERNEL_NODE_PARAMS& params) {
  const CUfunction function =
      params.func != nullptr ? params.func : reinterpret_cast<CUfunction>(params.kern);
  return make_kernel_work(function_of(function),
                          {{params.gridDimX, params.gridDimY, params.gridDimZ},
                           {params.blockDimX, params.blockDimY, params.blockDimZ},
                           params.sharedMemBytes},
                          params.kernelParams, params.extra, {});
}

CopyWork copy_work(const CUDA_MEMCPY3D* params) {
  require(params != nullptr);
  check_copy(*params);
  return {*params, nullptr};
}

SetWork set_work(const CUDA_MEMSET_NODE_PARAMS* params) {
  require(params != nullptr);
  check_set(*params);
  return {*params};
}

HostWork host_work(const CUDA_HOST_NODE_PARAMS* params) {
  require(params != nullptr && params->fn != nullptr);
  HostWork work;
  work.function = params->fn;
  work.data = params->userData;
  return work;
}

ChildWork child_work(CUgraph graph) { return make_child(*get<Graph>(graph)); }

Work work_of(const CUgraphNodeParams* params) {
  require(params != nullptr);
  switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
      const auto& of = params->kernel;
      return kernel_work({of.func, of.gridDimX, of.gridDimY, of.gridDimZ, of.blockDimX,
                          of.blockDimY, of.blockDimZ, of.sharedMemBytes, of.kernelParams, of.extra,
                          of.kern, of.ctx});
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY: return copy_work(&params->memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      const auto& of = params->memset;
      const CUDA_MEMSET_NODE_PARAMS set{of.dst,         of.pitch, of.value,
                                        of.elementSize, of.width, of.height};
      return set_work(&set);
    }
    case CU_GRAPH_NODE_TYPE_HOST: {
      const CUDA_HOST_NODE_PARAMS host{params->host.fn, params->host.userData};
      return host_work(&host);
    }
    case CU_GRAPH_NODE_TYPE_GRAPH: return child_work(params->graph.graph);
    case CU_GRAPH_NODE_TYPE_EMPTY: return EmptyWork{};
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return WaitWork{get<Event>(params->eventWait.event)};
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return RecordWork{get<Event>(params->eventRecord.event)};
    default: refuse(CUDA_ERROR_NOT_SUPPORTED, "the graphs of the simulated GPU have no such nodes");
  }
}

CUDA_KERNEL_NODE_PARAMS kernel_params(Node& node) {
  KernelWork& work = work_as<KernelWork>(node);
  node.parameter_pointers.clear();
  for (const Parameter& parameter : work.function->kernel->parameters)
    node.parameter_pointers.push_back(work.parameters.data() + parameter.offset);
  const Size3 &grid = work.configuration.grid, &block = work.configuration.block;
  return {work.function->handle,
          grid.x,
          grid.y,
          grid.z,
          block.x,
          block.y,
          block.z,
          work.configuration.dynamic_shared_bytes,
          node.parameter_pointers.data(),
          nullptr,
          nullptr,
          nullptr};
}

void replace(Node& node, Work work) {
  require(node.work.index() == work.index());
  node.work = std::move(work);
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
