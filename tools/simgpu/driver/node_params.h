/// \file
/// Between the work of nodes and the structures by which programs describe it.
#pragma once

#include <vector>

#include "tools/simgpu/driver/graph.h"
#include "tools/simgpu/driver/launch_work.h"

namespace simgpu::driver {

/// \throws Refusal where one is not of the graph
std::vector<Node*> nodes_of(const Graph& graph, const CUgraphNode* handles, std::size_t count);
/// Edges that say more than that one node comes after another are refused.
void require_plain(const CUgraphEdgeData* edges, std::size_t count);

// Checked as the call that does the work would be.
KernelWork kernel_work(const CUDA_KERNEL_NODE_PARAMS& params);
CopyWork copy_work(const CUDA_MEMCPY3D* params);
SetWork set_work(const CUDA_MEMSET_NODE_PARAMS* params);
HostWork host_work(const CUDA_HOST_NODE_PARAMS* params);
ChildWork child_work(CUgraph graph);
/// Of cuGraphAddNode and its kin.
Work work_of(const CUgraphNodeParams* params);

/// With pointers into the node, which are good while it is there and is not changed.
CUDA_KERNEL_NODE_PARAMS kernel_params(Node& node);

/// The work of a node, which is of a kind.
/// \throws Refusal where it is of another
template <class Kind>
Kind& work_as(Node& node) {
  Kind* work = std::get_if<Kind>(&node.work);
  require(work != nullptr);
  return *work;
}

/// Puts work in the place of a node's, which must be of the same kind.
void replace(Node& node, Work work);

/// Why an executable graph could not do the work of a node in the place of its own.
CUgraphExecUpdateResult update_result(const Node& old_node, const Node& new_node);

}  // namespace simgpu::driver
