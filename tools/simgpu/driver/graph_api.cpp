// cuGraph*: graphs, their nodes and edges, and pictures of them.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <utility>

#include "tools/simgpu/driver/copy.h"
#include "tools/simgpu/driver/graph_nodes.h"
#include "tools/simgpu/driver/module.h"

namespace simgpu::driver::api {
namespace {

/// As all lists of graphs are given: without a place for it, only their length; a place that is
/// longer is filled up with null.
void fill(const std::vector<const Node*>& nodes, CUgraphNode* into, std::size_t room) {
  if (into == nullptr) return;
  for (std::size_t i = 0; i < room; ++i) into[i] = i < nodes.size() ? nodes[i]->handle : nullptr;
}

void list(const std::vector<const Node*>& nodes, CUgraphNode* into, std::size_t* count,
          CUgraphEdgeData* data = nullptr) {
  require(count != nullptr);
  fill(nodes, into, *count);
  if (data != nullptr) std::fill(data, data + *count, CUgraphEdgeData{});
  *count = into == nullptr ? nodes.size() : std::min(*count, nodes.size());
}

/// All of the edges, or none where one of them cannot be changed.
void change(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to,
            const CUgraphEdgeData* data, std::size_t count, bool adds) {
  require_plain(data, count);
  const auto graph = get<Graph>(handle);
  const auto firsts = nodes_of(*graph, from, count), seconds = nodes_of(*graph, to, count);
  std::set<std::pair<Node*, Node*>> edges;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& dependencies = seconds[i]->dependencies;
    const bool is_there =
        std::find(dependencies.begin(), dependencies.end(), firsts[i]) != dependencies.end();
    require(is_there != adds && firsts[i] != seconds[i]);
    require(edges.emplace(firsts[i], seconds[i]).second);
  }
  for (std::size_t i = 0; i < count; ++i)
    if (adds) seconds[i]->dependencies.push_back(firsts[i]);
    else std::erase(seconds[i]->dependencies, firsts[i]);
}

// For people: what a node does.
std::string text_of(const KernelWork& work) {
  const Size3 &grid = work.configuration.grid, &block = work.configuration.block;
  return fmt::format("{} <<<{}x{}x{}, {}x{}x{}, {}>>>", work.function->kernel->name, grid.x, grid.y,
                     grid.z, block.x, block.y, block.z, work.configuration.dynamic_shared_bytes);
}
std::string text_of(const CopyWork& work) {
  const CUDA_MEMCPY3D& copy = work.copy;
  return fmt::format("copy {}x{}x{} bytes, {} to {}", copy.WidthInBytes, copy.Height, copy.Depth,
                     source(copy).is_device ? "device" : "host",
                     destination(copy).is_device ? "device" : "host");
}
std::string text_of(const SetWork& work) {
  return fmt::format("set {}x{} elements of {} bytes to {:#x}", work.set.width, work.set.height,
                     work.set.elementSize, work.set.value);
}
std::string text_of(const HostWork& work) { return work.name; }
template <class Other>
std::string text_of(const Other& work) {
  return work.node.noun;
}

void draw(const Graph& graph, std::string& text) {
  for (const auto& node : graph.nodes) {
    const auto name = [](const Node& of) { return fmt::format("{}", fmt::ptr(of.handle)); };
    text += fmt::format("  \"{}\" [label=\"{}\"];\n", name(*node),
                        std::visit([](const auto& work) { return text_of(work); }, node->work));
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

CUgraph cuGraphCreate(unsigned flags) {
  require(flags == 0);
  return table<Graph>().add(std::make_shared<Graph>());
}

void cuGraphDestroy(CUgraph handle) {
  require(!get<Graph>(handle)->is_child);
  table<Graph>().remove(handle);
}

CUgraph cuGraphClone(CUgraph graph) { return table<Graph>().add(clone(*get<Graph>(graph))); }

CUgraphNode cuGraphNodeFindInClone(CUgraphNode source, CUgraph copy) {
  const Node* found = copy_of(*get<Graph>(copy), source);
  require(found != nullptr);
  return found->handle;
}

CUgraphNode cuGraphAddNode_v2(CUgraph handle, const CUgraphNode* dependencies,
                              const CUgraphEdgeData* edges, std::size_t count,
                              CUgraphNodeParams* params) {
  require_plain(edges, count);
  const auto graph = get<Graph>(handle);
  Work work = any_work_from(params);
  return driver::add_node(*graph, nodes_of(*graph, dependencies, count), std::move(work))->handle;
}

void cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* params) {
  replace(*get<Node>(node), any_work_from(params));
}

void cuGraphDestroyNode(CUgraphNode node) { remove_node(*get<Node>(node)); }

CUgraphNodeType cuGraphNodeGetType(CUgraphNode node) {
  return std::visit([](const auto& work) { return work.node.type; }, get<Node>(node)->work);
}

void cuGraphGetNodes(CUgraph graph, CUgraphNode* into, std::size_t* count) {
  std::vector<const Node*> nodes;
  for (const auto& node : get<Graph>(graph)->nodes) nodes.push_back(node.get());
  list(nodes, into, count);
}

void cuGraphGetRootNodes(CUgraph graph, CUgraphNode* into, std::size_t* count) {
  std::vector<const Node*> nodes;
  for (const auto& node : get<Graph>(graph)->nodes)
    if (node->dependencies.empty()) nodes.push_back(node.get());
  list(nodes, into, count);
}

void cuGraphGetEdges_v2(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data,
                        std::size_t* count) {
  require(count != nullptr && (from == nullptr) == (to == nullptr));
  std::vector<const Node*> firsts, seconds;
  for (const auto& node : get<Graph>(graph)->nodes)
    for (const Node* dependency : node->dependencies) {
      firsts.push_back(dependency);
      seconds.push_back(node.get());
    }
  fill(firsts, from, *count);
  list(seconds, to, count, data);
}

void cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode* into, CUgraphEdgeData* data,
                                   std::size_t* count) {
  const auto& dependencies = get<Node>(node)->dependencies;
  list({dependencies.begin(), dependencies.end()}, into, count, data);
}

void cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode* into, CUgraphEdgeData* data,
                                     std::size_t* count) {
  list(dependents(*get<Node>(node)), into, count, data);
}

void cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                               const CUgraphEdgeData* data, std::size_t count) {
  change(graph, from, to, data, count, true);
}

void cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                  const CUgraphEdgeData* data, std::size_t count) {
  change(graph, from, to, data, count, false);
}

void cuGraphDebugDotPrint(CUgraph graph, const char* path, unsigned) {
  require(path != nullptr);
  std::string text = "digraph simulated {\n";
  draw(*get<Graph>(graph), text);
  text += "}\n";
  std::ofstream file(path);
  file << text;
  require(file.flush().good(), CUDA_ERROR_OPERATING_SYSTEM);
}

}  // namespace simgpu::driver::api
