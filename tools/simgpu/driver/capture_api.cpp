// cuStream*Capture*.
#include <algorithm>
#include <utility>

#include "tools/simgpu/driver/capture.h"
#include "tools/simgpu/driver/node_params.h"

namespace simgpu::driver {
namespace {

/// What cuStreamGetCaptureInfo points at until the stream's next call.
std::vector<CUgraphNode>& handles_of_frontier(const Stream& stream) {
  thread_local std::vector<CUgraphNode> handles;
  handles.clear();
  for (const Node* node : stream.frontier) handles.push_back(node->handle);
  return handles;
}

CUstreamCaptureStatus status_of(const Stream& stream) {
  if (!stream.capture) return CU_STREAM_CAPTURE_STATUS_NONE;
  return stream.capture->is_invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                    : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

CUresult info(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
              const CUgraphNode** dependencies, const CUgraphEdgeData** edges, std::size_t* count) {
  require(status != nullptr);
  const auto stream = stream_of(handle);
  *status = status_of(*stream);
  if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
  if (id != nullptr) *id = stream->capture->id;
  if (graph != nullptr) *graph = stream->capture->graph->handle;
  const auto& frontier = handles_of_frontier(*stream);
  if (dependencies != nullptr) *dependencies = frontier.data();
  if (edges != nullptr) *edges = nullptr;
  if (count != nullptr) *count = frontier.size();
  return CUDA_SUCCESS;
}

CUresult update(CUstream handle, const CUgraphNode* dependencies, std::size_t count,
                unsigned flags) {
  require(flags == CU_STREAM_ADD_CAPTURE_DEPENDENCIES ||
          flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES);
  const auto stream = stream_of(handle);
  require(stream->capture != nullptr, CUDA_ERROR_ILLEGAL_STATE);
  require(!stream->capture->is_invalid, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  const std::vector<Node*> nodes = nodes_of(*stream->capture->graph, dependencies, count);
  if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) stream->frontier.clear();
  for (Node* node : nodes)
    if (std::find(stream->frontier.begin(), stream->frontier.end(), node) == stream->frontier.end())
      stream->frontier.push_back(node);
  return CUDA_SUCCESS;
}

}  // namespace

namespace api {

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  const auto graph = std::make_shared<Graph>();
  begin_capture(stream_of(stream), mode, graph, {});
  table<Graph>().add(graph);
  return CUDA_SUCCESS;
}
CUresult cuStreamBeginCapture(CUstream stream) {
  return api::cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph_handle,
                                     const CUgraphNode* dependencies, const CUgraphEdgeData* edges,
                                     std::size_t count, CUstreamCaptureMode mode) {
  require_plain(edges, count);
  const auto graph = get<Graph>(graph_handle);
  require(!graph->is_child);
  begin_capture(stream_of(stream), mode, graph, nodes_of(*graph, dependencies, count)).is_given =
      true;
  return CUDA_SUCCESS;
}

/// Null where the capture failed.
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  require(graph != nullptr);
  *graph = nullptr;
  *graph = end_capture(stream_of(stream))->handle;
  return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return info(stream, status, nullptr, nullptr, nullptr, nullptr, nullptr);
}

CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id) {
  return info(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}
CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph* graph, const CUgraphNode** dependencies,
                                   std::size_t* count) {
  return info(stream, status, id, graph, dependencies, nullptr, count);
}
CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph* graph, const CUgraphNode** dependencies,
                                   const CUgraphEdgeData** edges, std::size_t* count) {
  return info(stream, status, id, graph, dependencies, edges, count);
}

CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* dependencies,
                                           std::size_t count, unsigned flags) {
  return update(stream, dependencies, count, flags);
}
CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode* dependencies,
                                              const CUgraphEdgeData* edges, std::size_t count,
                                              unsigned flags) {
  require_plain(edges, count);
  return update(stream, dependencies, count, flags);
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  require(mode != nullptr && *mode >= CU_STREAM_CAPTURE_MODE_GLOBAL &&
          *mode <= CU_STREAM_CAPTURE_MODE_RELAXED);
  std::swap(*mode, thread_capture_mode());
  return CUDA_SUCCESS;
}

}  // namespace api
}  // namespace simgpu::driver
