// cuGraph*: graphs and their nodes.
#include <algorithm>

#include "tools/simgpu/driver/node_params.h"

namespace simgpu::driver {
namespace {

CUresult add(CUgraphNode* node, CUgraph handle, const CUgraphNode* dependencies, std::size_t count,
             Work work) {
  require(node != nullptr);
  const auto graph = get<Graph>(handle);
  *node = add_node(*graph, nodes_of(*graph, dependencies, count), std::move(work))->handle;
  return CUDA_SUCCESS;
}

CUDA_KERNEL_NODE_PARAMS widened(const CUDA_KERNEL_NODE_PARAMS_v1& of) {
  return {of.func,      of.gridDimX,       of.gridDimY,     of.gridDimZ, of.blockDimX, of.blockDimY,
          of.blockDimZ, of.sharedMemBytes, of.kernelParams, of.extra,    nullptr,      nullptr};
}

}  // namespace

namespace api {

CUresult cuGraphCreate(CUgraph* graph, unsigned flags) {
  require(graph != nullptr && flags == 0);
  *graph = table<Graph>().add(std::make_shared<Graph>());
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph handle) {
  require(!get<Graph>(handle)->is_child);
  table<Graph>().remove(handle);
  return CUDA_SUCCESS;
}

CUresult cuGraphClone(CUgraph* copy, CUgraph graph) {
  require(copy != nullptr);
  *copy = table<Graph>().add(clone(*get<Graph>(graph)));
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeFindInClone(CUgraphNode* node, CUgraphNode source, CUgraph copy) {
  require(node != nullptr);
  const Node* found = copy_of(*get<Graph>(copy), source);
  require(found != nullptr);
  *node = found->handle;
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroyNode(CUgraphNode node) {
  remove_node(*get<Node>(node));
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  require(type != nullptr);
  *type = type_of(*get<Node>(node));
  return CUDA_SUCCESS;
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                 std::size_t count, const CUDA_KERNEL_NODE_PARAMS* params) {
  require(params != nullptr);
  return add(node, graph, dependencies, count, kernel_work(*params));
}
CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                              std::size_t count, const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  require(params != nullptr);
  return add(node, graph, dependencies, count, kernel_work(widened(*params)));
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                              std::size_t count, const CUDA_MEMCPY3D* params, CUcontext context) {
  get<Context>(context);
  return add(node, graph, dependencies, count, copy_work(params));
}

CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                              std::size_t count, const CUDA_MEMSET_NODE_PARAMS* params,
                              CUcontext context) {
  get<Context>(context);
  return add(node, graph, dependencies, count, set_work(params));
}

CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                            std::size_t count, const CUDA_HOST_NODE_PARAMS* params) {
  return add(node, graph, dependencies, count, host_work(params));
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                  std::size_t count, CUgraph child) {
  return add(node, graph, dependencies, count, child_work(child));
}

CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                             std::size_t count) {
  return add(node, graph, dependencies, count, EmptyWork{});
}

CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph,
                                   const CUgraphNode* dependencies, std::size_t count,
                                   CUevent event) {
  return add(node, graph, dependencies, count, RecordWork{get<Event>(event)});
}

CUresult cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                 std::size_t count, CUevent event) {
  return add(node, graph, dependencies, count, WaitWork{get<Event>(event)});
}

CUresult cuGraphAddNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                           const CUgraphEdgeData* edges, std::size_t count,
                           CUgraphNodeParams* params) {
  require_plain(edges, count);
  return add(node, graph, dependencies, count, work_of(params));
}
CUresult cuGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                        std::size_t count, CUgraphNodeParams* params) {
  return add(node, graph, dependencies, count, work_of(params));
}

CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* params) {
  replace(*get<Node>(node), work_of(params));
  return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* params) {
  require(params != nullptr);
  *params = kernel_params(*get<Node>(node));
  return CUDA_SUCCESS;
}
CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* params) {
  require(params != nullptr);
  const CUDA_KERNEL_NODE_PARAMS of = kernel_params(*get<Node>(node));
  *params = {of.func,      of.gridDimX,  of.gridDimY,       of.gridDimZ,     of.blockDimX,
             of.blockDimY, of.blockDimZ, of.sharedMemBytes, of.kernelParams, of.extra};
  return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* params) {
  require(params != nullptr);
  replace(*get<Node>(node), kernel_work(*params));
  return CUDA_SUCCESS;
}
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  require(params != nullptr);
  replace(*get<Node>(node), kernel_work(widened(*params)));
  return CUDA_SUCCESS;
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* params) {
  require(params != nullptr);
  *params = work_as<CopyWork>(*get<Node>(node)).copy;
  return CUDA_SUCCESS;
}
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* params) {
  replace(*get<Node>(node), copy_work(params));
  return CUDA_SUCCESS;
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* params) {
  require(params != nullptr);
  *params = work_as<SetWork>(*get<Node>(node)).set;
  return CUDA_SUCCESS;
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* params) {
  replace(*get<Node>(node), set_work(params));
  return CUDA_SUCCESS;
}

CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS* params) {
  require(params != nullptr);
  const HostWork& work = work_as<HostWork>(*get<Node>(node));
  *params = {work.function, work.data};
  return CUDA_SUCCESS;
}
CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS* params) {
  replace(*get<Node>(node), host_work(params));
  return CUDA_SUCCESS;
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph* graph) {
  require(graph != nullptr);
  *graph = work_as<ChildWork>(*get<Node>(node)).graph->handle;
  return CUDA_SUCCESS;
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent* event) {
  require(event != nullptr);
  *event = work_as<RecordWork>(*get<Node>(node)).event->handle;
  return CUDA_SUCCESS;
}
CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  work_as<RecordWork>(*get<Node>(node)).event = get<Event>(event);
  return CUDA_SUCCESS;
}
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent* event) {
  require(event != nullptr);
  *event = work_as<WaitWork>(*get<Node>(node)).event->handle;
  return CUDA_SUCCESS;
}
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  work_as<WaitWork>(*get<Node>(node)).event = get<Event>(event);
  return CUDA_SUCCESS;
}

}  // namespace api
}  // namespace simgpu::driver
