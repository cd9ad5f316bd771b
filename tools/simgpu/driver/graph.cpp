#include "tools/simgpu/driver/graph.h"

#include <algorithm>
#include <map>
#include <random>
#include <unordered_set>

#include "tools/simgpu/driver/module.h"
#include "tools/simgpu/machine/settings.h"

namespace simgpu::driver {
namespace {

/// Of nodes that could all come next.
std::size_t choose(std::size_t count) {
  static std::mt19937_64 random(settings().order_seed);
  switch (settings().order) {
    case Order::forward: return 0;
    case Order::backward: return count - 1;
    case Order::random: break;
  }
  return static_cast<std::size_t>(random() % count);
}

template <class T>
bool has(const std::vector<T>& all, const T& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

/// All that the graph does in the order it is done, with the nodes of child graphs in their place.
void flatten(const Graph& graph, std::vector<const Node*>& into) {
  for (const Node* node : in_order(graph)) {
    const auto* child = std::get_if<ChildWork>(&node->work);
    if (child == nullptr) into.push_back(node);
    else if (node->is_enabled) flatten(*child->graph, into);
  }
}

void require_function_is_there(const Node& node) {
  const auto* kernel = std::get_if<KernelWork>(&node.work);
  if (kernel != nullptr && table<Function>().find(kernel->function->handle) != kernel->function)
    refuse(CUDA_ERROR_INVALID_HANDLE, "a kernel of the graph is of a module that was unloaded");
}

}  // namespace

Graph::~Graph() {
  if (is_child) table<Graph>().remove(handle);
  for (const auto& node : nodes)
    if (node->handle != nullptr) table<Node>().remove(node->handle);
}

Node* add_node(Graph& graph, std::vector<Node*> dependencies, Work work) {
  for (std::size_t i = 0; i < dependencies.size(); ++i) {
    require(dependencies[i]->graph == &graph);
    require(std::find(dependencies.begin(), dependencies.begin() + static_cast<std::ptrdiff_t>(i),
                      dependencies[i]) == dependencies.begin() + static_cast<std::ptrdiff_t>(i));
  }
  // Graphs of graphs of graphs: a few calls may ask for any number.
  constexpr std::size_t most_nodes = 1 << 20;
  require(table<Node>().objects().size() < most_nodes, CUDA_ERROR_OUT_OF_MEMORY);
  place_child(work, graph);
  auto node = std::make_shared<Node>();
  node->graph = &graph;
  node->work = std::move(work);
  node->dependencies = std::move(dependencies);
  table<Node>().add(node);
  graph.nodes.push_back(node);
  return node.get();
}

void place_child(const Work& work, const Graph& parent) {
  constexpr int deepest = 128;
  const auto* child = std::get_if<ChildWork>(&work);
  if (child == nullptr) return;
  child->graph->depth = parent.depth + 1;
  require(child->graph->depth <= deepest);
  for (const auto& node : child->graph->nodes) place_child(node->work, *child->graph);
}

void remove_node(Node& node) {
  Graph& graph = *node.graph;
  for (const auto& other : graph.nodes) std::erase(other->dependencies, &node);
  for (const auto& [number, context] : table<Context>().objects())
    for (const auto& stream : context->streams) std::erase(stream->frontier, &node);
  for (const auto& [number, event] : table<Event>().objects()) std::erase(event->frontier, &node);
  table<Node>().remove(node.handle);
  std::erase_if(graph.nodes, [&](const auto& one) { return one.get() == &node; });
}

std::vector<const Node*> dependents(const Node& node) {
  std::vector<const Node*> found;
  for (const auto& other : node.graph->nodes)
    if (has(other->dependencies, const_cast<Node*>(&node))) found.push_back(other.get());
  return found;
}

bool reaches(const Node& from, const Node& to) {
  std::vector<const Node*> open{&to};
  std::unordered_set<const Node*> seen;
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (node == &from) return true;
    if (!seen.insert(node).second) continue;
    open.insert(open.end(), node->dependencies.begin(), node->dependencies.end());
  }
  return false;
}

std::shared_ptr<Graph> clone(const Graph& graph) {
  auto made = std::make_shared<Graph>();
  made->user_objects = graph.user_objects;
  std::map<const Node*, Node*> copies;
  for (const auto& node : graph.nodes) {
    const auto* child = std::get_if<ChildWork>(&node->work);
    Node* copy = add_node(*made, {}, child == nullptr ? node->work : make_child(*child->graph));
    copy->source = node->handle;
    copy->is_enabled = node->is_enabled;
    copies[node.get()] = copy;
  }
  for (const auto& node : graph.nodes)
    for (const Node* dependency : node->dependencies)
      copies[node.get()]->dependencies.push_back(copies[dependency]);
  return made;
}

ChildWork make_child(const Graph& graph) {
  ChildWork work{clone(graph)};
  work.graph->is_child = true;
  // The table does not own it.
  table<Graph>().add(std::shared_ptr<Graph>(std::shared_ptr<void>(), work.graph.get()));
  return work;
}

Node* copy_of(const Graph& graph, CUgraphNode source) {
  for (const auto& node : graph.nodes)
    if (node->source == source) return node.get();
  return nullptr;
}

std::vector<Node*> in_order(const Graph& graph) {
  std::map<const Node*, std::size_t> open;  // dependencies that have not come
  std::map<const Node*, std::vector<Node*>> after;
  std::vector<Node*> ready, order;
  for (const auto& node : graph.nodes) {
    open[node.get()] = node->dependencies.size();
    for (const Node* dependency : node->dependencies) after[dependency].push_back(node.get());
    if (node->dependencies.empty()) ready.push_back(node.get());
  }
  while (!ready.empty()) {
    const auto chosen = ready.begin() + static_cast<std::ptrdiff_t>(choose(ready.size()));
    Node* node = *chosen;
    ready.erase(chosen);
    order.push_back(node);
    for (Node* next : after[node])
      if (--open[next] == 0) ready.push_back(next);
  }
  if (order.size() != graph.nodes.size()) order.clear();
  return order;
}

void require_order(const Graph& graph) {
  if (!graph.nodes.empty() && in_order(graph).empty())
    refuse(CUDA_ERROR_INVALID_VALUE, "the nodes of the graph depend on each other in a circle");
  for (const auto& node : graph.nodes)
    if (const auto* child = std::get_if<ChildWork>(&node->work)) require_order(*child->graph);
}

void launch(ExecutableGraph& executable, const std::shared_ptr<Stream>& stream) {
  std::vector<const Node*> nodes;
  flatten(*executable.graph, nodes);
  for (const Node* node : nodes) require_function_is_there(*node);
  std::shared_ptr<Operation> last = executable.last;
  for (const Node* node : nodes)
    if (node->is_enabled) last = enqueue(stream, node->work, last);
  if (last) last->keep.push_back(executable.graph);
  executable.last = last;
}

}  // namespace simgpu::driver
