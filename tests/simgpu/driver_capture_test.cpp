#include <thread>

#include "tests/simgpu/client.h"

namespace simgpu {
namespace {

struct TestEvent {
  TestEvent() { REQUIRE(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS); }
  ~TestEvent() { cuEventDestroy(event); }
  TestEvent(const TestEvent&) = delete;
  TestEvent& operator=(const TestEvent&) = delete;
  operator CUevent() const { return event; }
  CUevent event = nullptr;
};

void begin(CUstream stream, CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) {
  REQUIRE(cuStreamBeginCapture(stream, mode) == CUDA_SUCCESS);
}

CUgraph end(CUstream stream) {
  CUgraph graph = nullptr;
  REQUIRE(cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS);
  return graph;
}

CUresult end_result(CUstream stream) {
  CUgraph graph = nullptr;
  const CUresult result = cuStreamEndCapture(stream, &graph);
  CHECK((graph == nullptr) == (result != CUDA_SUCCESS));
  return result;
}

std::size_t node_count(CUgraph graph) {
  std::size_t count = 0;
  CHECK(cuGraphGetNodes(graph, nullptr, &count) == CUDA_SUCCESS);
  return count;
}

std::size_t edge_count(CUgraph graph) {
  std::size_t count = 0;
  CHECK(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &count) == CUDA_SUCCESS);
  return count;
}

void launch(CUgraph graph, CUstream stream) {
  CUgraphExec executable = nullptr;
  REQUIRE(cuGraphInstantiate(&executable, graph, 0) == CUDA_SUCCESS);
  CHECK(cuGraphLaunch(executable, stream) == CUDA_SUCCESS);
  CHECK(cuStreamSynchronize(stream) == CUDA_SUCCESS);
  CHECK(cuGraphExecDestroy(executable) == CUDA_SUCCESS);
}

}  // namespace

TEST_CASE("simgpu driver: what a stream captures runs when the graph is launched") {
  const TestContext context;
  const TestStream stream;
  const TestMemory memory(8);
  CHECK(cuMemsetD32(memory, 0, 2) == CUDA_SUCCESS);
  CHECK(cuCtxSynchronize() == CUDA_SUCCESS);
  begin(stream);
  CUstreamCaptureStatus status{};
  CHECK(cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS);
  CHECK(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
  CHECK(cuMemsetD32Async(memory, 7, 1, stream) == CUDA_SUCCESS);
  CHECK(cuMemcpyDtoDAsync(memory + 4, memory, 4, stream) == CUDA_SUCCESS);
  CUgraph inside = nullptr;
  cuuint64_t id = 0;
  const CUgraphNode* dependencies = nullptr;
  const CUgraphEdgeData* edges = nullptr;
  std::size_t count = 0;
  CHECK(cuStreamGetCaptureInfo(stream, &status, &id, &inside, &dependencies, &edges, &count) ==
        CUDA_SUCCESS);
  CHECK(count == 1);
  REQUIRE(edges != nullptr);
  CHECK(edges[0].type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT);
  CUgraphNodeType type{};
  CHECK(cuGraphNodeGetType(dependencies[0], &type) == CUDA_SUCCESS);
  CHECK(type == CU_GRAPH_NODE_TYPE_MEMCPY);
  const CUgraph graph = end(stream);
  CHECK(inside == graph);
  CHECK(node_count(graph) == 2);
  CHECK(edge_count(graph) == 1);
  CHECK(read<unsigned>(memory, 2) == std::vector<unsigned>{0, 0});
  launch(graph, stream);
  CHECK(read<unsigned>(memory, 2) == std::vector<unsigned>{7, 7});
  CHECK(cuGraphDestroy(graph) == CUDA_SUCCESS);
  CHECK(cuGraphDestroy(graph) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("simgpu driver: a stream that took part in a capture may go once it is joined") {
  const TestContext context;
  const TestStream stream;
  const TestEvent fork, join;
  const TestMemory memory(4);
  for (const bool is_joined : {true, false}) {
    CAPTURE(is_joined);
    begin(stream);
    CHECK(cuEventRecord(fork, stream) == CUDA_SUCCESS);
    {
      const TestStream other;
      CHECK(cuStreamWaitEvent(other, fork, 0) == CUDA_SUCCESS);
      CHECK(cuMemsetD32Async(memory, 7, 1, other) == CUDA_SUCCESS);
      CHECK(cuEventRecord(join, other) == CUDA_SUCCESS);
      if (is_joined) CHECK(cuStreamWaitEvent(stream, join, 0) == CUDA_SUCCESS);
    }
    if (!is_joined) {
      CHECK(end_result(stream) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
      continue;
    }
    CHECK(cuMemsetD32Async(memory, 8, 1, stream) == CUDA_SUCCESS);
    const CUgraph graph = end(stream);
    CHECK(node_count(graph) == 2);
    CHECK(edge_count(graph) == 1);
    CHECK(cuGraphDestroy(graph) == CUDA_SUCCESS);
  }
}

TEST_CASE("simgpu driver: a capture forks to another stream by an event, and joins") {
  const TestContext context;
  const TestStream a, b;
  const TestEvent fork, join;
  const TestMemory memory(12);
  begin(a);
  CHECK(cuMemsetD32Async(memory, 1, 1, a) == CUDA_SUCCESS);
  CHECK(cuEventRecord(fork, a) == CUDA_SUCCESS);
  CHECK(cuStreamWaitEvent(b, fork, 0) == CUDA_SUCCESS);
  CHECK(cuMemcpyDtoDAsync(memory + 4, memory, 4, b) == CUDA_SUCCESS);
  CHECK(cuMemcpyDtoDAsync(memory + 8, memory, 4, a) == CUDA_SUCCESS);
  CHECK(cuEventRecord(join, b) == CUDA_SUCCESS);
  CHECK(cuEventQuery(join) == CUDA_ERROR_CAPTURED_EVENT);
  CHECK(end_result(a) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  begin(a);
  CHECK(cuMemsetD32Async(memory, 1, 1, a) == CUDA_SUCCESS);
  CHECK(cuEventRecord(fork, a) == CUDA_SUCCESS);
  CHECK(cuStreamWaitEvent(b, fork, 0) == CUDA_SUCCESS);
  CHECK(cuMemcpyDtoDAsync(memory + 4, memory, 4, b) == CUDA_SUCCESS);
  CHECK(cuMemcpyDtoDAsync(memory + 8, memory, 4, a) == CUDA_SUCCESS);
  CHECK(cuEventRecord(join, b) == CUDA_SUCCESS);
  CHECK(cuStreamWaitEvent(a, join, 0) == CUDA_SUCCESS);
  CHECK(cuMemsetD32Async(memory, 2, 1, a) == CUDA_SUCCESS);
  const CUgraph graph = end(a);
  CHECK(node_count(graph) == 4);
  CHECK(edge_count(graph) == 4);
  CUstreamCaptureStatus status{};
  CHECK(cuStreamIsCapturing(b, &status) == CUDA_SUCCESS);
  CHECK(status == CU_STREAM_CAPTURE_STATUS_NONE);
  launch(graph, a);
  CHECK(read<unsigned>(memory, 3) == std::vector<unsigned>{2, 1, 1});
  CHECK(cuGraphDestroy(graph) == CUDA_SUCCESS);
  // Outside, the event means nothing until it is recorded anew.
  CHECK(cuStreamWaitEvent(b, join, 0) == CUDA_ERROR_CAPTURED_EVENT);
  CHECK(cuEventRecord(join, b) == CUDA_SUCCESS);
  CHECK(cuEventSynchronize(join) == CUDA_SUCCESS);
}

TEST_CASE("simgpu driver: a capture that does not join its streams fails") {
  const TestContext context;
  const TestStream a, b;
  const TestEvent fork;
  const TestMemory memory(4);
  begin(a);
  CHECK(cuEventRecord(fork, a) == CUDA_SUCCESS);
  CHECK(cuStreamWaitEvent(b, fork, 0) == CUDA_SUCCESS);
  CHECK(cuMemsetD32Async(memory, 1, 1, b) == CUDA_SUCCESS);
  CUgraph graph = nullptr;
  CHECK(cuStreamEndCapture(b, &graph) == CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  CHECK(end_result(a) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  begin(a);
  CHECK(cuEventRecord(fork, a) == CUDA_SUCCESS);
  CHECK(cuStreamWaitEvent(b, fork, 0) == CUDA_SUCCESS);
  CHECK(cuMemsetD32Async(memory, 1, 1, b) == CUDA_SUCCESS);
  CHECK(end_result(a) == CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  CHECK(cuStreamEndCapture(a, &graph) == CUDA_ERROR_ILLEGAL_STATE);
}

TEST_CASE("simgpu driver: captures do not mix with each other, nor with what runs") {
  const TestContext context;
  const TestStream a, b;
  const TestEvent outside, inside;
  const TestMemory memory(4);
  CHECK(cuEventRecord(outside, b) == CUDA_SUCCESS);
  begin(a);
  CHECK(cuStreamWaitEvent(a, outside, 0) == CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  CHECK(end_result(a) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  begin(a);
  begin(b);
  CHECK(cuEventRecord(inside, a) == CUDA_SUCCESS);
  CHECK(cuStreamWaitEvent(b, inside, 0) == CUDA_ERROR_STREAM_CAPTURE_MERGE);
  CHECK(end_result(a) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  CHECK(end_result(b) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  CHECK(cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_RELAXED) ==
        CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  begin(a);
  CHECK(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_ERROR_ILLEGAL_STATE);
  CHECK(cuStreamSynchronize(a) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CUstreamCaptureStatus status{};
  CHECK(cuStreamIsCapturing(a, &status) == CUDA_SUCCESS);
  CHECK(status == CU_STREAM_CAPTURE_STATUS_INVALIDATED);
  CHECK(cuMemsetD32Async(memory, 1, 1, a) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  CHECK(end_result(a) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_CASE("simgpu driver: the legacy stream breaks the capture of a blocking stream") {
  const TestContext context;
  const TestStream blocking(CU_STREAM_DEFAULT), other;
  const TestMemory memory(4);
  begin(blocking);
  CHECK(cuMemsetD32Async(memory, 1, 1, nullptr) == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  CHECK(end_result(blocking) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  const int word = 1;
  begin(blocking);
  CHECK(cuMemcpyHtoD(memory, &word, 4) == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  CHECK(end_result(blocking) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  begin(blocking);
  CUstreamCaptureStatus status{};
  CHECK(cuStreamIsCapturing(nullptr, &status) == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  CHECK(end_result(blocking) == CUDA_SUCCESS);
  begin(other);
  CHECK(cuMemsetD32Async(memory, 1, 1, nullptr) == CUDA_SUCCESS);
  CHECK(cuMemcpyHtoD(memory, &word, 4) == CUDA_SUCCESS);
  CHECK(cuStreamIsCapturing(nullptr, &status) == CUDA_SUCCESS);
  CHECK(status == CU_STREAM_CAPTURE_STATUS_NONE);
  CHECK(end_result(other) == CUDA_SUCCESS);
}

TEST_CASE("simgpu driver: a stream that captures is not waited for") {
  const TestContext context;
  const TestMemory memory(4);
  const int word = 1;
  void* function = nullptr;
  REQUIRE(cuGetProcAddress("cuMemcpyHtoD", &function, CUDA_VERSION,
                           CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, nullptr) == CUDA_SUCCESS);
  begin(CU_STREAM_PER_THREAD);
  CHECK(reinterpret_cast<decltype(&cuMemcpyHtoD)>(function)(memory, &word, 4) ==
        CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CHECK(end_result(CU_STREAM_PER_THREAD) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  // Nor is an event of it asked for its time, though it was recorded before.
  const TestStream stream;
  CUevent event = nullptr;
  float milliseconds = 0;
  CHECK(cuEventCreate(&event, 0) == CUDA_SUCCESS);
  CHECK(cuEventRecord(event, stream) == CUDA_SUCCESS);
  CHECK(cuStreamSynchronize(stream) == CUDA_SUCCESS);
  CHECK(cuEventElapsedTime(&milliseconds, event, event) == CUDA_SUCCESS);
  begin(stream);
  CHECK(cuEventRecord(event, stream) == CUDA_SUCCESS);
  CHECK(cuEventElapsedTime(&milliseconds, event, event) == CUDA_ERROR_CAPTURED_EVENT);
  CHECK(end_result(stream) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  CHECK(cuEventDestroy(event) == CUDA_SUCCESS);
}

TEST_CASE("simgpu driver: modes say what else may be called while a stream captures") {
  const TestContext context;
  const TestStream stream;
  CUdeviceptr memory = 0;
  const auto allocates = [&] {
    const CUresult result = cuMemAlloc(&memory, 4);
    if (result == CUDA_SUCCESS) {
      // It is freed after the capture.
      return true;
    }
    CHECK(result == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    return false;
  };
  const auto allocates_elsewhere = [&] {
    bool result = false;
    std::thread([&] {
      CHECK(cuCtxSetCurrent(context.get()) == CUDA_SUCCESS);
      result = allocates();
    }).join();
    return result;
  };
  begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
  CHECK_FALSE(allocates());
  CHECK(end_result(stream) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
  CHECK_FALSE(allocates_elsewhere());
  CHECK(end_result(stream) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  begin(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  CHECK(allocates_elsewhere());
  CHECK(end_result(stream) == CUDA_SUCCESS);
  CHECK(cuMemFree(memory) == CUDA_SUCCESS);
  begin(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  CHECK_FALSE(allocates());
  CHECK(end_result(stream) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
  CHECK(allocates());
  std::thread([&] {
    CHECK(cuCtxSetCurrent(context.get()) == CUDA_SUCCESS);
    CHECK(end_result(stream) == CUDA_SUCCESS);
  }).join();
  CHECK(cuMemFree(memory) == CUDA_SUCCESS);
  // A thread that says it knows what it does.
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  CHECK(cuThreadExchangeStreamCaptureMode(&mode) == CUDA_SUCCESS);
  CHECK(mode == CU_STREAM_CAPTURE_MODE_GLOBAL);
  begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
  CHECK(allocates());
  CHECK(cuThreadExchangeStreamCaptureMode(&mode) == CUDA_SUCCESS);
  std::thread([&] {
    CHECK(cuCtxSetCurrent(context.get()) == CUDA_SUCCESS);
    CHECK(end_result(stream) == CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  }).join();
  CHECK(end_result(stream) == CUDA_SUCCESS);
  CHECK(cuMemFree(memory) == CUDA_SUCCESS);
}

TEST_CASE("simgpu driver: memory is not allocated in a graph, nor are callbacks made") {
  const TestContext context;
  const TestStream stream;
  CUdeviceptr memory = 0;
  begin(stream);
  CHECK(cuMemAllocAsync(&memory, 4, stream) == CUDA_ERROR_NOT_SUPPORTED);
  CHECK(end_result(stream) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  begin(stream);
  CHECK(cuStreamAddCallback(
            stream, [](CUstream, CUresult, void*) {}, nullptr, 0) ==
        CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CHECK(end_result(stream) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_CASE("simgpu driver: a launch in a capture is a child of the graph") {
  const TestContext context;
  const TestStream stream;
  const TestMemory memory(8);
  begin(stream);
  CHECK(cuMemsetD32Async(memory, 3, 1, stream) == CUDA_SUCCESS);
  const CUgraph child = end(stream);
  CUgraphExec executable = nullptr;
  CHECK(cuGraphInstantiate(&executable, child, 0) == CUDA_SUCCESS);
  begin(stream);
  CHECK(cuGraphLaunch(executable, stream) == CUDA_SUCCESS);
  CHECK(cuMemcpyDtoDAsync(memory + 4, memory, 4, stream) == CUDA_SUCCESS);
  const CUgraph graph = end(stream);
  CHECK(node_count(graph) == 2);
  launch(graph, stream);
  CHECK(read<unsigned>(memory, 2) == std::vector<unsigned>{3, 3});
  CHECK(cuGraphExecDestroy(executable) == CUDA_SUCCESS);
  CHECK(cuGraphLaunch(executable, stream) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuGraphDestroy(graph) == CUDA_SUCCESS);
  CHECK(cuGraphDestroy(child) == CUDA_SUCCESS);
}

}  // namespace simgpu
