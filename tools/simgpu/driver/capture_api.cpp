// cuStream*Capture*.
#include <utility>

#include "tools/simgpu/driver/capture.h"
#include "tools/simgpu/driver/graph_nodes.h"

namespace simgpu::driver::api {
namespace {

/// What cuStreamGetCaptureInfo points at until the stream's next call.
struct Frontier {
  std::vector<CUgraphNode> nodes;
  std::vector<CUgraphEdgeData> edges;
};
const Frontier& frontier_of(const Stream& stream) {
  thread_local Frontier frontier;
  frontier.nodes.clear();
  for (const Node* node : stream.frontier) frontier.nodes.push_back(node->handle);
  frontier.edges.assign(frontier.nodes.size(), {});
  return frontier;
}

CUstreamCaptureStatus status_of(const Stream& stream) {
  if (!stream.capture) return CU_STREAM_CAPTURE_STATUS_NONE;
  return stream.capture->is_invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                    : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

}  // namespace

void cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  const auto graph = std::make_shared<Graph>();
  begin_capture(stream_of(stream), mode, graph, {});
  table<Graph>().add(graph);
}

void cuStreamBeginCaptureToGraph(CUstream stream, CUgraph handle, const CUgraphNode* dependencies,
                                 const CUgraphEdgeData* edges, std::size_t count,
                                 CUstreamCaptureMode mode) {
  require_plain(edges, count);
  const auto graph = get<Graph>(handle);
  require(!graph->is_child);
  begin_capture(stream_of(stream), mode, graph, nodes_of(*graph, dependencies, count)).is_given =
      true;
}

/// Null where the capture failed.
void cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  require(graph != nullptr);
  *graph = nullptr;
  *graph = end_capture(stream_of(stream))->handle;
}

void cuStreamGetCaptureInfo_v3(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id,
                               CUgraph* graph, const CUgraphNode** dependencies,
                               const CUgraphEdgeData** edges, std::size_t* count) {
  require(status != nullptr);
  const auto stream = stream_of(handle);
  require(!capture_waited_for(*stream), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  *status = status_of(*stream);
  if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return;
  if (id != nullptr) *id = stream->capture->id;
  if (graph != nullptr) *graph = stream->capture->graph->handle;
  const Frontier& frontier = frontier_of(*stream);
  if (dependencies != nullptr) *dependencies = frontier.nodes.data();
  if (edges != nullptr) *edges = frontier.edges.data();
  if (count != nullptr) *count = frontier.nodes.size();
}

void cuStreamUpdateCaptureDependencies_v2(CUstream handle, CUgraphNode* dependencies,
                                          const CUgraphEdgeData* edges, std::size_t count,
                                          unsigned flags) {
  require_plain(edges, count);
  require(flags == CU_STREAM_ADD_CAPTURE_DEPENDENCIES ||
          flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES);
  const auto stream = stream_of(handle);
  require(stream->capture != nullptr, CUDA_ERROR_ILLEGAL_STATE);
  require_valid(*stream->capture);
  const std::vector<Node*> nodes = nodes_of(*stream->capture->graph, dependencies, count);
  if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) stream->frontier.clear();
  join(stream->frontier, nodes);
}

void cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  require(mode != nullptr && *mode >= CU_STREAM_CAPTURE_MODE_GLOBAL &&
          *mode <= CU_STREAM_CAPTURE_MODE_RELAXED);
  std::swap(*mode, thread_capture_mode());
}

}  // namespace simgpu::driver::api
