/// \file
/// Nodes of graphs, and the structures by which programs describe them. The API has functions to
/// add, read and change nodes for each kind of them; exports.py makes these of the templates here.
#pragma once

#include <vector>

#include "tools/simgpu/driver/graph.h"

namespace simgpu::driver {

/// \throws Refusal where one is not of the graph
std::vector<Node*> nodes_of(const Graph& graph, const CUgraphNode* handles, std::size_t count);
/// Edges that say more than that one node comes after another are refused.
void require_plain(const CUgraphEdgeData* edges, std::size_t count);

// What programs say of the work of a node. It is checked as the call that does the work would be.
void read_params(KernelWork& work, const CUDA_KERNEL_NODE_PARAMS* params);
void read_params(KernelWork& work, const CUDA_KERNEL_NODE_PARAMS_v1* params);
void read_params(CopyWork& work, const CUDA_MEMCPY3D* params);
void read_params(SetWork& work, const CUDA_MEMSET_NODE_PARAMS* params);
void read_params(HostWork& work, const CUDA_HOST_NODE_PARAMS* params);
void read_params(ChildWork& work, CUgraph graph);
void read_params(RecordWork& work, CUevent event);
void read_params(WaitWork& work, CUevent event);
inline void read_params(EmptyWork&) {}
/// Of functions that name the context of the work.
template <class Kind, class Params>
void read_params(Kind& work, Params params, CUcontext context) {
  get<Context>(context);
  read_params(work, params);
}

// What programs are told. Pointers are good while the node is there and is not changed.
void write_params(KernelWork& work, CUDA_KERNEL_NODE_PARAMS* params);
void write_params(KernelWork& work, CUDA_KERNEL_NODE_PARAMS_v1* params);
void write_params(CopyWork& work, CUDA_MEMCPY3D* params);
void write_params(SetWork& work, CUDA_MEMSET_NODE_PARAMS* params);
void write_params(HostWork& work, CUDA_HOST_NODE_PARAMS* params);
void write_params(ChildWork& work, CUgraph* graph);
void write_params(RecordWork& work, CUevent* event);
void write_params(WaitWork& work, CUevent* event);

template <class Kind, class... Params>
Kind work_from(Params... params) {
  Kind work{};
  read_params(work, params...);
  return work;
}
/// Of cuGraphAddNode and its kin.
Work any_work_from(const CUgraphNodeParams* params);

/// The work of a node, which is of a kind.
/// \throws Refusal where it is of another
template <class Kind>
Kind& work_as(Node& node) {
  Kind* work = std::get_if<Kind>(&node.work);
  require(work != nullptr);
  return *work;
}
/// The node of an executable graph that was made of a graph's.
/// \throws Refusal where there is none
Node& node_in(CUgraphExec executable, CUgraphNode source);
/// Puts work in the place of a node's, which must be of the same kind.
void replace(Node& node, Work work);
void replace(CUgraphExec executable, CUgraphNode source, Work work);

/// Why an executable graph could not do the work of a node in the place of its own.
CUgraphExecUpdateResult update_result(const Node& old_node, const Node& new_node);

namespace api {

template <class Kind, class... Params>
void add_node(CUgraphNode* node, CUgraph handle, const CUgraphNode* dependencies, std::size_t count,
              Params... params) {
  require(node != nullptr);
  const auto graph = get<Graph>(handle);
  Work work = work_from<Kind>(params...);
  *node = driver::add_node(*graph, nodes_of(*graph, dependencies, count), std::move(work))->handle;
}

template <class Kind, class Params>
void get_node(CUgraphNode node, Params* params) {
  require(params != nullptr);
  write_params(work_as<Kind>(*get<Node>(node)), params);
}

template <class Kind, class Params>
void set_node(CUgraphNode node, Params params) {
  replace(*get<Node>(node), work_from<Kind>(params));
}

template <class Kind, class... Params>
void exec_set_node(CUgraphExec executable, CUgraphNode node, Params... params) {
  replace(executable, node, work_from<Kind>(params...));
}

}  // namespace api
}  // namespace simgpu::driver
