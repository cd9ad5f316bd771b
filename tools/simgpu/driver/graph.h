/// \file
/// Graphs of work. Nodes belong to their graph; edges are pointers between nodes of one graph.
#pragma once

#include <memory>
#include <vector>

#include "tools/simgpu/driver/stream.h"
#include "tools/simgpu/driver/user_object.h"

namespace simgpu::driver {

struct Graph;

struct Node : Handled<CUgraphNode> {
  static constexpr Identity identity{9, "graph node", CUDA_ERROR_INVALID_VALUE};

  Graph* graph = nullptr;
  Work work;
  std::vector<Node*> dependencies;
  bool is_enabled = true;        ///< of an executable graph
  CUgraphNode source = nullptr;  ///< that it is a copy of
};

struct Graph : Handled<CUgraph> {
  static constexpr Identity identity{10, "graph", CUDA_ERROR_INVALID_VALUE};

  std::vector<std::shared_ptr<Node>> nodes;  ///< in the order they were added
  bool is_child = false;                     ///< of a node, which owns it
  int depth = 0;                             ///< graphs that it lies in
  UserObjects user_objects;

  ~Graph();
};

/// A graph that can be launched: a copy that is its own.
struct ExecutableGraph : Handled<CUgraphExec> {
  static constexpr Identity identity{11, "executable graph", CUDA_ERROR_INVALID_VALUE};

  std::shared_ptr<Graph> graph;
  cuuint64_t flags = 0;
  std::shared_ptr<Operation> last;  ///< of its last launch: the next comes after it
};

/// \throws Refusal for a dependency of another graph, or one that is there twice, and for more
/// nodes or depth than there may be
Node* add_node(Graph& graph, std::vector<Node*> dependencies, Work work);
void remove_node(Node& node);
/// Nodes that depend on one.
std::vector<const Node*> dependents(const Node& node);
/// Whether `to` comes after `from`, or is it.
bool reaches(const Node& from, const Node& to);

/// Tells the child graph that the work has, if it has one, how deep it lies in this graph.
/// \throws Refusal where that is deeper than there may be
void place_child(const Work& work, const Graph& parent);

/// A copy, child graphs included.
std::shared_ptr<Graph> clone(const Graph& graph);
/// A copy for a node to own, which has a handle while the node has it.
ChildWork make_child(const Graph& graph);
/// The copy of a node in a graph; null where there is none.
Node* copy_of(const Graph& graph, CUgraphNode source);

/// The nodes, each after what it depends on; of several orders, the one that SIMGPU_ORDER chooses.
/// Empty where there is none, in a circle.
std::vector<Node*> in_order(const Graph& graph);

/// Puts the graph's work into a stream.
void launch(ExecutableGraph& executable, const std::shared_ptr<Stream>& stream);

/// \throws Refusal where nodes depend on each other in a circle
void require_order(const Graph& graph);

}  // namespace simgpu::driver
