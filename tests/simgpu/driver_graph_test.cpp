#include <atomic>

#include "tests/simgpu/client.h"
#include "tests/temporary_directory.h"

namespace simgpu {
namespace {

class TestGraph {
 public:
  TestGraph() { REQUIRE(cuGraphCreate(&graph_, 0) == CUDA_SUCCESS); }
  ~TestGraph() { cuGraphDestroy(graph_); }
  TestGraph(const TestGraph&) = delete;
  TestGraph& operator=(const TestGraph&) = delete;
  operator CUgraph() const { return graph_; }

 private:
  CUgraph graph_ = nullptr;
};

CUgraphExec instantiate(CUgraph graph) {
  CUgraphExec executable = nullptr;
  REQUIRE(cuGraphInstantiate(&executable, graph, 0) == CUDA_SUCCESS);
  return executable;
}

void launch(CUgraphExec executable) {
  CHECK(cuGraphLaunch(executable, CU_STREAM_PER_THREAD) == CUDA_SUCCESS);
  CHECK(cuStreamSynchronize(CU_STREAM_PER_THREAD) == CUDA_SUCCESS);
}

struct Put {
  Put(CUfunction function, CUdeviceptr address, unsigned number) : to(address), value(number) {
    params.func = function;
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = each;
  }
  CUdeviceptr to;
  unsigned value;
  void* each[2] = {&to, &value};
  CUDA_KERNEL_NODE_PARAMS params{};
};

CUDA_MEMCPY3D between(CUdeviceptr from, CUdeviceptr to, std::size_t bytes) {
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = from;
  copy.dstDevice = to;
  copy.WidthInBytes = bytes;
  copy.Height = copy.Depth = 1;
  return copy;
}

std::vector<CUgraphNode> dependencies(CUgraphNode node) {
  std::size_t count = 0;
  CHECK(cuGraphNodeGetDependencies(node, nullptr, nullptr, &count) == CUDA_SUCCESS);
  std::vector<CUgraphNode> nodes(count);
  CHECK(cuGraphNodeGetDependencies(node, nodes.data(), nullptr, &count) == CUDA_SUCCESS);
  return nodes;
}

}  // namespace

TEST_CASE("simgpu driver: a graph of each kind of node runs in the order of its edges") {
  const TestContext context;
  const CUfunction put = test_function(put_kernel, "put");
  const TestMemory memory(16);
  const TestGraph graph;
  CUgraphNode set = nullptr, kernel = nullptr, copy = nullptr, host = nullptr, empty = nullptr;
  const CUDA_MEMSET_NODE_PARAMS zero{memory, 0, 0, 4, 4, 1};
  CHECK(cuGraphAddMemsetNode(&set, graph, nullptr, 0, &zero, context.get()) == CUDA_SUCCESS);
  Put params(put, memory, 5);
  CHECK(cuGraphAddKernelNode(&kernel, graph, &set, 1, &params.params) == CUDA_SUCCESS);
  params.value = 6;  // the node has its own
  const CUDA_MEMCPY3D along = between(memory, memory + 4, 4);
  CHECK(cuGraphAddMemcpyNode(&copy, graph, &kernel, 1, &along, context.get()) == CUDA_SUCCESS);
  std::atomic<int> runs{0};
  const CUDA_HOST_NODE_PARAMS count{[](void* data) { ++*static_cast<std::atomic<int>*>(data); },
                                    &runs};
  CHECK(cuGraphAddHostNode(&host, graph, &copy, 1, &count) == CUDA_SUCCESS);
  const CUgraphNode both[] = {copy, host};
  CHECK(cuGraphAddEmptyNode(&empty, graph, both, 2) == CUDA_SUCCESS);
  CHECK(dependencies(empty) == std::vector<CUgraphNode>{copy, host});
  const CUgraphExec executable = instantiate(graph);
  launch(executable);
  launch(executable);
  CHECK(runs == 2);
  CHECK(read<unsigned>(memory, 4) == std::vector<unsigned>{5, 5, 0, 0});
  CHECK(cuGraphExecDestroy(executable) == CUDA_SUCCESS);
}

TEST_CASE("simgpu driver: parameters of nodes are read and changed") {
  const TestContext context;
  const CUfunction put = test_function(put_kernel, "put");
  const TestMemory memory(8);
  CHECK(cuMemsetD32(memory, 0, 2) == CUDA_SUCCESS);
  const TestGraph graph;
  CUgraphNode kernel = nullptr;
  Put first(put, memory, 1), second(put, memory + 4, 2);
  CHECK(cuGraphAddKernelNode(&kernel, graph, nullptr, 0, &first.params) == CUDA_SUCCESS);
  CUDA_KERNEL_NODE_PARAMS got{};
  CHECK(cuGraphKernelNodeGetParams(kernel, &got) == CUDA_SUCCESS);
  CHECK(got.func == put);
  CHECK(*static_cast<unsigned*>(got.kernelParams[1]) == 1);
  const CUgraphExec executable = instantiate(graph);
  // Of the executable graph alone.
  CHECK(cuGraphExecKernelNodeSetParams(executable, kernel, &second.params) == CUDA_SUCCESS);
  launch(executable);
  CHECK(read<unsigned>(memory, 2) == std::vector<unsigned>{0, 2});
  CHECK(cuGraphKernelNodeGetParams(kernel, &got) == CUDA_SUCCESS);
  CHECK(*static_cast<unsigned*>(got.kernelParams[1]) == 1);
  // Of the graph, which a launch does not see until it is told.
  second.value = 3;
  CHECK(cuGraphKernelNodeSetParams(kernel, &second.params) == CUDA_SUCCESS);
  launch(executable);
  CHECK(read<unsigned>(memory, 2) == std::vector<unsigned>{0, 2});
  CUgraphExecUpdateResultInfo info{};
  CHECK(cuGraphExecUpdate(executable, graph, &info) == CUDA_SUCCESS);
  CHECK(info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
  launch(executable);
  CHECK(read<unsigned>(memory, 2) == std::vector<unsigned>{0, 3});
  // A node that is off does nothing.
  CHECK(cuGraphNodeSetEnabled(executable, kernel, 0) == CUDA_SUCCESS);
  CHECK(cuMemsetD32(memory, 0, 2) == CUDA_SUCCESS);
  launch(executable);
  CHECK(read<unsigned>(memory, 2) == std::vector<unsigned>{0, 0});
  CUDA_MEMSET_NODE_PARAMS set{memory, 0, 0, 4, 1, 1};
  CHECK(cuGraphExecMemsetNodeSetParams(executable, kernel, &set, context.get()) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(cuGraphMemsetNodeGetParams(kernel, &set) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuGraphExecDestroy(executable) == CUDA_SUCCESS);
}

TEST_CASE("simgpu driver: an update to another topology is refused, and says where") {
  const TestContext context;
  const CUfunction put = test_function(put_kernel, "put");
  const TestMemory memory(8);
  const TestGraph graph, longer, other_kind, other_edges;
  Put params(put, memory, 1);
  const CUDA_MEMSET_NODE_PARAMS set{memory, 0, 0, 4, 1, 1};
  CUgraphNode nodes[3] = {};
  const auto add_kernel = [&](CUgraph to, CUgraphNode* node, const CUgraphNode* after) {
    CHECK(cuGraphAddKernelNode(node, to, after, after != nullptr ? 1 : 0, &params.params) ==
          CUDA_SUCCESS);
  };
  add_kernel(graph, &nodes[0], nullptr);
  add_kernel(graph, &nodes[1], &nodes[0]);
  const CUgraphExec executable = instantiate(graph);
  CUgraphExecUpdateResultInfo info{};
  const auto result = [&](CUgraph to) {
    CHECK(cuGraphExecUpdate(executable, to, &info) == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    return info.result;
  };
  add_kernel(longer, &nodes[0], nullptr);
  add_kernel(longer, &nodes[1], &nodes[0]);
  add_kernel(longer, &nodes[2], &nodes[1]);
  CHECK(result(longer) == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  CHECK(info.errorNode == nodes[2]);
  add_kernel(other_kind, &nodes[0], nullptr);
  CHECK(cuGraphAddMemsetNode(&nodes[1], other_kind, &nodes[0], 1, &set, context.get()) ==
        CUDA_SUCCESS);
  CHECK(result(other_kind) == CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
  CHECK(info.errorNode == nodes[1]);
  add_kernel(other_edges, &nodes[0], nullptr);
  add_kernel(other_edges, &nodes[1], nullptr);
  CHECK(result(other_edges) == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  const TestGraph empty;
  CHECK(result(empty) == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  CHECK(cuGraphExecDestroy(executable) == CUDA_SUCCESS);
}

TEST_CASE("simgpu driver: edges are added and removed, and may not close a circle") {
  const TestContext context;
  const TestGraph graph;
  CUgraphNode a = nullptr, b = nullptr;
  CHECK(cuGraphAddEmptyNode(&a, graph, nullptr, 0) == CUDA_SUCCESS);
  CHECK(cuGraphAddEmptyNode(&b, graph, nullptr, 0) == CUDA_SUCCESS);
  CHECK(cuGraphAddDependencies(graph, &a, &b, nullptr, 1) == CUDA_SUCCESS);
  CHECK(cuGraphAddDependencies(graph, &a, &b, nullptr, 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuGraphAddDependencies(graph, &a, &a, nullptr, 1) == CUDA_ERROR_INVALID_VALUE);
  // Of several none is changed where one cannot be.
  const CUgraphNode from[] = {b, a, a}, to[] = {a, b, b};
  CHECK(cuGraphAddDependencies(graph, from, to, nullptr, 2) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuGraphRemoveDependencies(graph, from + 1, to + 1, nullptr, 2) == CUDA_ERROR_INVALID_VALUE);
  std::size_t count = 0;
  CHECK(cuGraphGetRootNodes(graph, nullptr, &count) == CUDA_SUCCESS);
  CHECK(count == 1);
  CHECK(cuGraphNodeGetDependentNodes(a, nullptr, nullptr, &count) == CUDA_SUCCESS);
  CHECK(count == 1);
  CHECK(cuGraphAddDependencies(graph, &b, &a, nullptr, 1) == CUDA_SUCCESS);
  CUgraphExec executable = nullptr;
  CHECK(cuGraphInstantiate(&executable, graph, 0) == CUDA_ERROR_INVALID_VALUE);
  const TestGraph parent;
  CUgraphNode child = nullptr;
  CHECK(cuGraphAddChildGraphNode(&child, parent, nullptr, 0, graph) == CUDA_SUCCESS);
  CHECK(cuGraphInstantiate(&executable, parent, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuGraphRemoveDependencies(graph, &b, &a, nullptr, 1) == CUDA_SUCCESS);
  CHECK(cuGraphRemoveDependencies(graph, &b, &a, nullptr, 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuGraphInstantiate(&executable, graph, 1 << 20) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuGraphInstantiate(&executable, graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) ==
        CUDA_ERROR_NOT_SUPPORTED);
  CHECK(cuGraphDestroyNode(a) == CUDA_SUCCESS);
  CHECK(dependencies(b).empty());
  CHECK(cuGraphDestroyNode(a) == CUDA_ERROR_INVALID_VALUE);
  const TestGraph other;
  CUgraphNode node = nullptr;
  CHECK(cuGraphAddEmptyNode(&node, other, &b, 1) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("simgpu driver: a clone is a graph of its own") {
  const TestContext context;
  const CUfunction put = test_function(put_kernel, "put");
  const TestMemory memory(4);
  const TestGraph graph, parent;
  CUgraphNode kernel = nullptr, in_clone = nullptr, child = nullptr;
  Put params(put, memory, 1);
  CHECK(cuGraphAddKernelNode(&kernel, graph, nullptr, 0, &params.params) == CUDA_SUCCESS);
  CUgraph clone = nullptr;
  CHECK(cuGraphClone(&clone, graph) == CUDA_SUCCESS);
  CHECK(cuGraphNodeFindInClone(&in_clone, kernel, clone) == CUDA_SUCCESS);
  CHECK(in_clone != kernel);
  params.value = 2;
  CHECK(cuGraphKernelNodeSetParams(in_clone, &params.params) == CUDA_SUCCESS);
  CHECK(cuGraphAddChildGraphNode(&child, parent, nullptr, 0, graph) == CUDA_SUCCESS);
  const CUgraphExec first = instantiate(parent), second = instantiate(clone);
  launch(second);
  CHECK(read<unsigned>(memory, 1) == std::vector<unsigned>{2});
  launch(first);
  CHECK(read<unsigned>(memory, 1) == std::vector<unsigned>{1});
  CUgraph inside = nullptr;
  CHECK(cuGraphChildGraphNodeGetGraph(child, &inside) == CUDA_SUCCESS);
  CHECK(inside != graph);
  CHECK(cuGraphDestroy(inside) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuGraphExecChildGraphNodeSetParams(first, child, clone) == CUDA_SUCCESS);
  launch(first);
  CHECK(read<unsigned>(memory, 1) == std::vector<unsigned>{2});
  CHECK(cuGraphDestroy(clone) == CUDA_SUCCESS);
  CHECK(cuGraphExecDestroy(first) == CUDA_SUCCESS);
  CHECK(cuGraphExecDestroy(second) == CUDA_SUCCESS);
}

namespace {

/// A graph of `children` copies of the one before, and so on; the result of the call that failed.
CUresult grow(int levels, int children) {
  std::vector<CUgraph> graphs(1);
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphCreate(&graphs[0], 0) == CUDA_SUCCESS);
  REQUIRE(cuGraphAddEmptyNode(&node, graphs[0], nullptr, 0) == CUDA_SUCCESS);
  CUresult result = CUDA_SUCCESS;
  for (int level = 0; level < levels && result == CUDA_SUCCESS; ++level) {
    graphs.emplace_back();
    REQUIRE(cuGraphCreate(&graphs.back(), 0) == CUDA_SUCCESS);
    for (int k = 0; k < children && result == CUDA_SUCCESS; ++k)
      result =
          cuGraphAddChildGraphNode(&node, graphs.back(), nullptr, 0, graphs[graphs.size() - 2]);
  }
  for (const CUgraph graph : graphs) CHECK(cuGraphDestroy(graph) == CUDA_SUCCESS);
  return result;
}

}  // namespace

TEST_CASE("simgpu driver: graphs lie in one another 128 deep") {
  const TestContext context;
  CHECK(grow(128, 1) == CUDA_SUCCESS);
  CHECK(grow(129, 1) == CUDA_ERROR_INVALID_VALUE);
}

TEST_SUITE("fuzz_long") {
  TEST_CASE("simgpu driver: graphs of graphs have no more nodes than there is memory for") {
    const TestContext context;
    CHECK(grow(30, 2) == CUDA_ERROR_OUT_OF_MEMORY);
  }
}

TEST_CASE("simgpu driver: a graph with a kernel of an unloaded module does not run") {
  const TestContext context;
  CUmodule module = nullptr;
  CUfunction put = nullptr;
  CHECK(cuModuleLoadData(&module, put_kernel) == CUDA_SUCCESS);
  CHECK(cuModuleGetFunction(&put, module, "put") == CUDA_SUCCESS);
  const TestMemory memory(4);
  const TestGraph graph;
  CUgraphNode kernel = nullptr;
  Put params(put, memory, 1);
  CHECK(cuGraphAddKernelNode(&kernel, graph, nullptr, 0, &params.params) == CUDA_SUCCESS);
  const CUgraphExec executable = instantiate(graph);
  CHECK(cuModuleUnload(module) == CUDA_SUCCESS);
  CHECK(cuGraphLaunch(executable, nullptr) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(cuGraphExecDestroy(executable) == CUDA_SUCCESS);
}

TEST_CASE("simgpu driver: events in a graph are recorded at each launch") {
  const TestContext context;
  CUevent event = nullptr;
  CHECK(cuEventCreate(&event, CU_EVENT_DEFAULT) == CUDA_SUCCESS);
  const TestGraph graph;
  CUgraphNode record = nullptr, wait = nullptr;
  CHECK(cuGraphAddEventRecordNode(&record, graph, nullptr, 0, event) == CUDA_SUCCESS);
  CHECK(cuGraphAddEventWaitNode(&wait, graph, &record, 1, event) == CUDA_SUCCESS);
  CUevent of = nullptr;
  CHECK(cuGraphEventWaitNodeGetEvent(wait, &of) == CUDA_SUCCESS);
  CHECK(of == event);
  const CUgraphExec executable = instantiate(graph);
  launch(executable);
  float elapsed = -1;
  CHECK(cuEventElapsedTime(&elapsed, event, event) == CUDA_SUCCESS);
  CHECK(elapsed == 0);
  CHECK(cuGraphExecDestroy(executable) == CUDA_SUCCESS);
}

TEST_CASE("simgpu driver: a graph draws itself") {
  const TestContext context;
  const CUfunction put = test_function(put_kernel, "put");
  const TestMemory memory(4);
  const TestGraph graph;
  CUgraphNode kernel = nullptr, after = nullptr;
  Put params(put, memory, 1);
  CHECK(cuGraphAddKernelNode(&kernel, graph, nullptr, 0, &params.params) == CUDA_SUCCESS);
  CHECK(cuGraphAddEmptyNode(&after, graph, &kernel, 1) == CUDA_SUCCESS);
  const sinter::TemporaryDirectory folder;
  const std::string path = folder / "graph.dot";
  CHECK(cuGraphDebugDotPrint(graph, path.c_str(), 0) == CUDA_SUCCESS);
  const std::string drawn = sinter::read_file(path);
  CHECK(drawn.starts_with("digraph"));
  CHECK(drawn.find("put <<<1x1x1, 1x1x1, 0>>>") != std::string::npos);
  CHECK(drawn.find(" -> ") != std::string::npos);
  CHECK(cuGraphDebugDotPrint(graph, "/no/such/folder/x", 0) == CUDA_ERROR_OPERATING_SYSTEM);
}

}  // namespace simgpu
