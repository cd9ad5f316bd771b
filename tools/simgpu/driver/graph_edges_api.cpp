// cuGraph*: what depends on what, and pictures of it.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "tools/simgpu/driver/copy.h"
#include "tools/simgpu/driver/node_params.h"

namespace simgpu::driver {
namespace {

/// As all lists of graphs are given: without a place for it, only their length; a place that is
/// longer is filled up with null.
template <class Handle>
void give(const std::vector<Handle>& all, Handle* into, std::size_t room) {
  if (into == nullptr) return;
  for (std::size_t i = 0; i < room; ++i) into[i] = i < all.size() ? all[i] : nullptr;
}

CUresult list(const std::vector<Node*>& nodes, CUgraphNode* into, std::size_t* count) {
  require(count != nullptr);
  std::vector<CUgraphNode> handles;
  for (const Node* node : nodes) handles.push_back(node->handle);
  give(handles, into, *count);
  *count = into == nullptr ? handles.size() : std::min(*count, handles.size());
  return CUDA_SUCCESS;
}

std::vector<Node*> all_nodes(const Graph& graph, bool (*test)(const Node&)) {
  std::vector<Node*> nodes;
  for (const auto& node : graph.nodes)
    if (test(*node)) nodes.push_back(node.get());
  return nodes;
}

CUresult edges(CUgraph handle, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data,
               std::size_t* count) {
  require(count != nullptr && (from == nullptr) == (to == nullptr));
  std::vector<CUgraphNode> firsts, seconds;
  for (const auto& node : get<Graph>(handle)->nodes)
    for (const Node* dependency : node->dependencies) {
      firsts.push_back(dependency->handle);
      seconds.push_back(node->handle);
    }
  give(firsts, from, *count);
  give(seconds, to, *count);
  if (data != nullptr) std::fill(data, data + *count, CUgraphEdgeData{});
  *count = from == nullptr ? firsts.size() : std::min(*count, firsts.size());
  return CUDA_SUCCESS;
}

CUresult change(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to, std::size_t count,
                bool adds) {
  const auto graph = get<Graph>(handle);
  const auto firsts = nodes_of(*graph, from, count), seconds = nodes_of(*graph, to, count);
  for (std::size_t i = 0; i < count; ++i) {
    auto& dependencies = seconds[i]->dependencies;
    const auto found = std::find(dependencies.begin(), dependencies.end(), firsts[i]);
    require((found == dependencies.end()) == adds && firsts[i] != seconds[i]);
    if (adds) dependencies.push_back(firsts[i]);
    else dependencies.erase(found);
  }
  return CUDA_SUCCESS;
}

void draw(const Graph& graph, std::string& text) {
  for (const auto& node : graph.nodes) {
    const auto name = [](const Node& of) { return fmt::format("{}", fmt::ptr(of.handle)); };
    text += fmt::format("  \"{}\" [label=\"{}\"];\n", name(*node), text_of(*node));
    for (const Node* dependency : node->dependencies)
      text += fmt::format("  \"{}\" -> \"{}\";\n", name(*dependency), name(*node));
    if (const auto* child = std::get_if<ChildWork>(&node->work)) {
      text += fmt::format("  subgraph \"cluster_{}\" {{\n", name(*node));
      draw(*child->graph, text);
      text += "  }\n";
    }
  }
}

}  // namespace

std::string text_of(const Node& node) {
  struct Visitor {
    std::string operator()(const KernelWork& work) const {
      const Size3 &grid = work.configuration.grid, &block = work.configuration.block;
      return fmt::format("{} <<<{}x{}x{}, {}x{}x{}, {}>>>", work.function->kernel->name, grid.x,
                         grid.y, grid.z, block.x, block.y, block.z,
                         work.configuration.dynamic_shared_bytes);
    }
    std::string operator()(const CopyWork& work) const {
      const CUDA_MEMCPY3D& copy = work.copy;
      return fmt::format("copy {}x{}x{} bytes, {} to {}", copy.WidthInBytes, copy.Height,
                         copy.Depth, source(copy).is_device ? "device" : "host",
                         destination(copy).is_device ? "device" : "host");
    }
    std::string operator()(const SetWork& work) const {
      return fmt::format("set {}x{} elements of {} bytes to {:#x}", work.set.width, work.set.height,
                         work.set.elementSize, work.set.value);
    }
    std::string operator()(const HostWork& work) const { return work.name; }
    std::string operator()(const CallbackWork&) const { return "callback"; }
    std::string operator()(const FreeWork&) const { return "free"; }
    std::string operator()(const RecordWork&) const { return "event record"; }
    std::string operator()(const WaitWork&) const { return "event wait"; }
    std::string operator()(const ChildWork&) const { return "graph"; }
    std::string operator()(const EmptyWork&) const { return "empty"; }
  };
  return std::visit(Visitor{}, node.work);
}

namespace api {

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  return list(all_nodes(*get<Graph>(graph), [](const Node&) { return true; }), nodes, count);
}

CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  return list(
      all_nodes(*get<Graph>(graph), [](const Node& node) { return node.dependencies.empty(); }),
      nodes, count);
}

CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode* from, CUgraphNode* to,
                            CUgraphEdgeData* data, std::size_t* count) {
  return edges(graph, from, to, data, count);
}
CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, std::size_t* count) {
  return edges(graph, from, to, nullptr, count);
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode* dependencies,
                                       CUgraphEdgeData* data, std::size_t* count) {
  require(count != nullptr);
  if (data != nullptr) std::fill(data, data + *count, CUgraphEdgeData{});
  return list(get<Node>(node)->dependencies, dependencies, count);
}
CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* dependencies,
                                    std::size_t* count) {
  return api::cuGraphNodeGetDependencies_v2(node, dependencies, nullptr, count);
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode* nodes,
                                         CUgraphEdgeData* data, std::size_t* count) {
  require(count != nullptr);
  if (data != nullptr) std::fill(data, data + *count, CUgraphEdgeData{});
  return list(dependents(*get<Node>(node)), nodes, count);
}
CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* nodes, std::size_t* count) {
  return api::cuGraphNodeGetDependentNodes_v2(node, nodes, nullptr, count);
}

CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* data, std::size_t count) {
  require_plain(data, count);
  return change(graph, from, to, count, true);
}
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                std::size_t count) {
  return change(graph, from, to, count, true);
}

CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                      const CUgraphEdgeData* data, std::size_t count) {
  require_plain(data, count);
  return change(graph, from, to, count, false);
}
CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   std::size_t count) {
  return change(graph, from, to, count, false);
}

CUresult cuGraphDebugDotPrint(CUgraph graph, const char* path, unsigned) {
  require(path != nullptr);
  std::string text = "digraph simulated {\n";
  draw(*get<Graph>(graph), text);
  text += "}\n";
  std::ofstream file(path);
  file << text;
  require(file.flush().good(), CUDA_ERROR_OPERATING_SYSTEM);
  return CUDA_SUCCESS;
}

}  // namespace api
}  // namespace simgpu::driver
