// cuGraphInstantiate*, cuGraphExec*, cuGraphLaunch.
#include <algorithm>

#include "tools/simgpu/driver/capture.h"
#include "tools/simgpu/driver/node_params.h"

namespace simgpu::driver {
namespace {

constexpr cuuint64_t instantiate_flags = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                                         CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                                         CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;

CUresult instantiate(CUgraphExec* executable, CUgraph handle, cuuint64_t flags) {
  require(executable != nullptr);
  const auto graph = get<Graph>(handle);
  if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0)
    refuse(CUDA_ERROR_NOT_SUPPORTED, "kernels of the simulated GPU launch no graphs");
  require((flags & ~instantiate_flags) == 0);
  if (!graph->nodes.empty() && in_order(*graph).empty())
    refuse(CUDA_ERROR_INVALID_VALUE, "the nodes of the graph depend on each other in a circle");
  auto made = std::make_shared<ExecutableGraph>();
  made->graph = clone(*graph);
  made->flags = flags;
  *executable = table<ExecutableGraph>().add(made);
  return CUDA_SUCCESS;
}

/// The node of an executable graph that was made of a graph's.
Node& node_in(CUgraphExec executable, CUgraphNode source) {
  Node* node = copy_of(*get<ExecutableGraph>(executable)->graph, source);
  require(node != nullptr);
  return *node;
}

CUresult set_in(CUgraphExec executable, CUgraphNode source, Work work) {
  Node& node = node_in(executable, source);
  require(node.work.index() == work.index());
  Node candidate;
  candidate.work = work;
  require(update_result(node, candidate) == CU_GRAPH_EXEC_UPDATE_SUCCESS);
  replace(node, std::move(work));
  return CUDA_SUCCESS;
}

std::size_t index_of(const Graph& graph, const Node* node) {
  const auto is_it = [node](const auto& one) { return one.get() == node; };
  return static_cast<std::size_t>(std::find_if(graph.nodes.begin(), graph.nodes.end(), is_it) -
                                  graph.nodes.begin());
}

bool have_same_dependencies(const Graph& a, const Node& in_a, const Graph& b, const Node& in_b) {
  if (in_a.dependencies.size() != in_b.dependencies.size()) return false;
  for (std::size_t i = 0; i < in_a.dependencies.size(); ++i)
    if (index_of(a, in_a.dependencies[i]) != index_of(b, in_b.dependencies[i])) return false;
  return true;
}

using Pairs = std::vector<std::pair<Node*, const Node*>>;

/// Nodes are paired in the order they were added. Fills `pairs` until something differs.
CUgraphExecUpdateResultInfo compare(const Graph& old_graph, const Graph& new_graph, Pairs& pairs) {
  for (std::size_t i = 0; i < new_graph.nodes.size(); ++i) {
    const Node& to = *new_graph.nodes[i];
    if (i == old_graph.nodes.size())
      return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, to.handle, nullptr};
    Node& from = *old_graph.nodes[i];
    if (!have_same_dependencies(old_graph, from, new_graph, to))
      return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, to.handle, nullptr};
    const CUgraphExecUpdateResult result = update_result(from, to);
    if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return {result, to.handle, nullptr};
    const auto* child = std::get_if<ChildWork>(&to.work);
    if (child == nullptr) {
      pairs.emplace_back(&from, &to);
      continue;
    }
    const auto inner = compare(*std::get<ChildWork>(from.work).graph, *child->graph, pairs);
    if (inner.result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return inner;
  }
  if (old_graph.nodes.size() != new_graph.nodes.size())
    return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, nullptr, nullptr};
  return {CU_GRAPH_EXEC_UPDATE_SUCCESS, nullptr, nullptr};
}

/// Nothing changes where not all of it can.
CUgraphExecUpdateResultInfo update(const Graph& old_graph, const Graph& new_graph) {
  Pairs pairs;
  const CUgraphExecUpdateResultInfo info = compare(old_graph, new_graph, pairs);
  if (info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS)
    for (const auto& [from, to] : pairs) from->work = to->work;
  return info;
}

CUresult code_of(const CUgraphExecUpdateResultInfo& info) {
  return info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_SUCCESS
                                                     : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

}  // namespace

namespace api {

CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph,
                                     unsigned long long flags) {
  return instantiate(executable, graph, flags);
}
CUresult cuGraphInstantiate_v2(CUgraphExec* executable, CUgraph graph, CUgraphNode* error_node,
                               char* log, std::size_t log_bytes) {
  if (error_node != nullptr) *error_node = nullptr;
  if (log != nullptr && log_bytes != 0) *log = '\0';
  return instantiate(executable, graph, 0);
}
CUresult cuGraphInstantiate(CUgraphExec* executable, CUgraph graph, CUgraphNode* error_node,
                            char* log, std::size_t log_bytes) {
  return api::cuGraphInstantiate_v2(executable, graph, error_node, log, log_bytes);
}
CUresult cuGraphInstantiateWithParams(CUgraphExec* executable, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
  require(params != nullptr);
  params->hErrNode_out = nullptr;
  params->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
  const CUresult result = instantiate(executable, graph, params->flags);
  params->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
  return result;
}

CUresult cuGraphExecDestroy(CUgraphExec executable) {
  table<ExecutableGraph>().remove(executable);
  return CUDA_SUCCESS;
}

CUresult cuGraphExecGetFlags(CUgraphExec executable, cuuint64_t* flags) {
  require(flags != nullptr);
  *flags = get<ExecutableGraph>(executable)->flags;
  return CUDA_SUCCESS;
}

CUresult cuGraphUpload(CUgraphExec executable, CUstream stream) {
  get<ExecutableGraph>(executable);
  stream_of(stream);
  return CUDA_SUCCESS;
}

/// In a capture it becomes a child graph.
CUresult cuGraphLaunch(CUgraphExec handle, CUstream stream_handle) {
  const auto executable = get<ExecutableGraph>(handle);
  const auto stream = stream_of(stream_handle);
  if (stream->capture) {
    submit(stream, make_child(*executable->graph));
    return CUDA_SUCCESS;
  }
  forbid_if_capturing(*stream);
  launch(*executable, stream);
  return CUDA_SUCCESS;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec executable, CUgraph graph,
                              CUgraphExecUpdateResultInfo* info) {
  require(info != nullptr);
  *info = update(*get<ExecutableGraph>(executable)->graph, *get<Graph>(graph));
  return code_of(*info);
}
CUresult cuGraphExecUpdate(CUgraphExec executable, CUgraph graph, CUgraphNode* error_node,
                           CUgraphExecUpdateResult* result) {
  require(result != nullptr);
  const auto info = update(*get<ExecutableGraph>(executable)->graph, *get<Graph>(graph));
  if (error_node != nullptr) *error_node = info.errorNode;
  *result = info.result;
  return code_of(info);
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec executable, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS* params) {
  require(params != nullptr);
  return set_in(executable, node, kernel_work(*params));
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS_v1* of) {
  require(of != nullptr);
  return set_in(executable, node,
                kernel_work({of->func, of->gridDimX, of->gridDimY, of->gridDimZ, of->blockDimX,
                             of->blockDimY, of->blockDimZ, of->sharedMemBytes, of->kernelParams,
                             of->extra, nullptr, nullptr}));
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_MEMCPY3D* params, CUcontext context) {
  get<Context>(context);
  return set_in(executable, node, copy_work(params));
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS* params, CUcontext context) {
  get<Context>(context);
  return set_in(executable, node, set_work(params));
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS* params) {
  return set_in(executable, node, host_work(params));
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec executable, CUgraphNode node,
                                            CUevent event) {
  return set_in(executable, node, RecordWork{get<Event>(event)});
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec executable, CUgraphNode node, CUevent event) {
  return set_in(executable, node, WaitWork{get<Event>(event)});
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                            CUgraph child) {
  const auto info =
      update(*work_as<ChildWork>(node_in(executable, node)).graph, *get<Graph>(child));
  require(info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
  return CUDA_SUCCESS;
}

CUresult cuGraphExecNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                  CUgraphNodeParams* params) {
  return set_in(executable, node, work_of(params));
}

CUresult cuGraphNodeSetEnabled(CUgraphExec executable, CUgraphNode source, unsigned is_enabled) {
  Node& node = node_in(executable, source);
  const CUgraphNodeType type = type_of(node);
  require(type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY ||
          type == CU_GRAPH_NODE_TYPE_MEMSET);
  node.is_enabled = is_enabled != 0;
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetEnabled(CUgraphExec executable, CUgraphNode source, unsigned* is_enabled) {
  require(is_enabled != nullptr);
  *is_enabled = node_in(executable, source).is_enabled ? 1 : 0;
  return CUDA_SUCCESS;
}

}  // namespace api
}  // namespace simgpu::driver
