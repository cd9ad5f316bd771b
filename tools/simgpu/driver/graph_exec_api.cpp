// cuGraphInstantiate*, cuGraphExec*, cuGraphLaunch.
#include <algorithm>

#include "tools/simgpu/driver/capture.h"
#include "tools/simgpu/driver/graph_nodes.h"

namespace simgpu::driver::api {
namespace {

constexpr cuuint64_t instantiate_flags = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                                         CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                                         CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;

std::size_t index_of(const Graph& graph, const Node* node) {
  const auto is_it = [node](const auto& one) { return one.get() == node; };
  return static_cast<std::size_t>(std::find_if(graph.nodes.begin(), graph.nodes.end(), is_it) -
                                  graph.nodes.begin());
}

bool have_same_dependencies(const Graph& a, const Node& in_a, const Graph& b, const Node& in_b) {
  const auto& ours = in_a.dependencies;
  const auto& others = in_b.dependencies;
  return std::equal(
      ours.begin(), ours.end(), others.begin(), others.end(),
      [&](const Node* one, const Node* other) { return index_of(a, one) == index_of(b, other); });
}

using Pairs = std::vector<std::pair<Node*, const Node*>>;

/// Nodes are paired in the order they were added. Fills `pairs` until something differs.
CUgraphExecUpdateResultInfo compare(const Graph& old_graph, const Graph& new_graph, Pairs& pairs) {
  for (std::size_t i = 0; i < new_graph.nodes.size(); ++i) {
    const Node& to = *new_graph.nodes[i];
    if (i == old_graph.nodes.size() ||
        !have_same_dependencies(old_graph, *old_graph.nodes[i], new_graph, to))
      return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, to.handle, nullptr};
    Node& from = *old_graph.nodes[i];
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

/// Those of the new graph; what goes stays until the last launch is done.
void take_user_objects(Graph& old_graph, const Graph& new_graph, Operation* last) {
  if (last != nullptr && !last->is_done())
    last->keep.push_back(std::make_shared<UserObjects>(old_graph.user_objects));
  old_graph.user_objects = new_graph.user_objects;
  for (std::size_t i = 0; i < new_graph.nodes.size(); ++i)
    if (const auto* child = std::get_if<ChildWork>(&new_graph.nodes[i]->work))
      take_user_objects(*std::get<ChildWork>(old_graph.nodes[i]->work).graph, *child->graph, last);
}

/// Nothing changes where not all of it can.
CUgraphExecUpdateResultInfo update(Graph& old_graph, const Graph& new_graph, Operation* last) {
  Pairs pairs;
  const CUgraphExecUpdateResultInfo info = compare(old_graph, new_graph, pairs);
  if (info.result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return info;
  for (const auto& [from, to] : pairs) from->work = to->work;
  take_user_objects(old_graph, new_graph, last);
  return info;
}

void require_updated(const CUgraphExecUpdateResultInfo& info, CUresult code) {
  require(info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS, code);
}

}  // namespace

CUgraphExec cuGraphInstantiateWithFlags(CUgraph handle, unsigned long long flags) {
  const auto graph = get<Graph>(handle);
  if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0)
    refuse(CUDA_ERROR_NOT_SUPPORTED, "kernels of the simulated GPU launch no graphs");
  require((flags & ~instantiate_flags) == 0);
  require_order(*graph);
  auto made = std::make_shared<ExecutableGraph>();
  made->graph = clone(*graph);
  made->flags = flags;
  return table<ExecutableGraph>().add(made);
}
CUgraphExec cuGraphInstantiate_v2(CUgraph graph, CUgraphNode* error_node, char* log,
                                  std::size_t log_bytes) {
  if (error_node != nullptr) *error_node = nullptr;
  if (log != nullptr && log_bytes != 0) *log = '\0';
  return api::cuGraphInstantiateWithFlags(graph, 0);
}
CUgraphExec cuGraphInstantiateWithParams(CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
  require(params != nullptr);
  params->hErrNode_out = nullptr;
  params->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
  const CUgraphExec made = api::cuGraphInstantiateWithFlags(graph, params->flags);
  params->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
  return made;
}

void cuGraphExecDestroy(CUgraphExec executable) { table<ExecutableGraph>().remove(executable); }

cuuint64_t cuGraphExecGetFlags(CUgraphExec executable) {
  return get<ExecutableGraph>(executable)->flags;
}

void cuGraphUpload(CUgraphExec executable, CUstream stream) {
  get<ExecutableGraph>(executable);
  stream_of(stream);
}

/// In a capture it becomes a child graph.
void cuGraphLaunch(CUgraphExec handle, CUstream stream_handle) {
  const auto executable = get<ExecutableGraph>(handle);
  const auto stream = stream_of(stream_handle);
  if (stream->capture) {
    submit(stream, make_child(*executable->graph));
    return;
  }
  forbid_if_capturing(*stream);
  launch(*executable, stream);
}

void cuGraphExecUpdate_v2(CUgraphExec executable, CUgraph graph,
                          CUgraphExecUpdateResultInfo* info) {
  require(info != nullptr);
  const auto target = get<ExecutableGraph>(executable);
  *info = update(*target->graph, *get<Graph>(graph), target->last.get());
  require_updated(*info, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
}
void cuGraphExecUpdate(CUgraphExec executable, CUgraph graph, CUgraphNode* error_node,
                       CUgraphExecUpdateResult* result) {
  require(result != nullptr);
  const auto target = get<ExecutableGraph>(executable);
  const auto info = update(*target->graph, *get<Graph>(graph), target->last.get());
  if (error_node != nullptr) *error_node = info.errorNode;
  *result = info.result;
  require_updated(info, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
}

void cuGraphExecChildGraphNodeSetParams(CUgraphExec executable, CUgraphNode node, CUgraph child) {
  Graph& own = *work_as<ChildWork>(node_in(executable, node)).graph;
  Operation* last = get<ExecutableGraph>(executable)->last.get();
  require_updated(update(own, *get<Graph>(child), last), CUDA_ERROR_INVALID_VALUE);
}

void cuGraphExecNodeSetParams(CUgraphExec executable, CUgraphNode node, CUgraphNodeParams* params) {
  replace(executable, node, any_work_from(params));
}

void cuGraphNodeSetEnabled(CUgraphExec executable, CUgraphNode source, unsigned is_enabled) {
  Node& node = node_in(executable, source);
  require(std::holds_alternative<KernelWork>(node.work) ||
          std::holds_alternative<CopyWork>(node.work) ||
          std::holds_alternative<SetWork>(node.work));
  node.is_enabled = is_enabled != 0;
}

unsigned cuGraphNodeGetEnabled(CUgraphExec executable, CUgraphNode source) {
  return node_in(executable, source).is_enabled ? 1 : 0;
}

}  // namespace simgpu::driver::api
