#include "tools/simgpu/driver/capture.h"

#include <algorithm>
#include <utility>

namespace simgpu::driver {
namespace {

/// That have not ended.
std::vector<std::shared_ptr<Capture>>& captures() {
  static auto& never_destroyed = *new std::vector<std::shared_ptr<Capture>>;
  return never_destroyed;
}

/// All streams of all contexts that take part in a capture.
std::vector<std::shared_ptr<Stream>> streams_of(const Capture& capture) {
  std::vector<std::shared_ptr<Stream>> found;
  for (const auto& [number, context] : table<Context>().objects())
    for (const auto& stream : context->streams)
      if (stream->capture.get() == &capture) found.push_back(stream);
  return found;
}

[[noreturn]] void refuse_in(Capture& capture, CUresult code, const char* text) {
  invalidate(capture);
  refuse(code, text);
}

void forbid_implicit_wait(const Stream& stream) {
  if (Capture* capture = capture_waited_for(stream))
    refuse_in(*capture, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
              "the legacy stream would wait for a stream that captures");
}

/// Whether the nodes have others after them that streams have come to.
bool are_joined(const std::vector<Node*>& nodes, const std::vector<std::shared_ptr<Stream>>& by) {
  return std::all_of(nodes.begin(), nodes.end(), [&](const Node* node) {
    return std::any_of(by.begin(), by.end(), [node](const auto& stream) {
      return std::any_of(stream->frontier.begin(), stream->frontier.end(),
                         [node](const Node* end) { return reaches(*node, *end); });
    });
  });
}

/// Its streams capture no more.
void finish(Capture& capture, bool destroys_graph) {
  for (const auto& stream : streams_of(capture)) {
    stream->capture.reset();
    stream->frontier.clear();
  }
  capture.is_active = false;
  std::erase_if(captures(), [&](const auto& one) { return one.get() == &capture; });
  const std::shared_ptr<Graph> graph = std::move(capture.graph);
  if (destroys_graph && !capture.is_given && table<Graph>().find(graph->handle))
    table<Graph>().remove(graph->handle);
}

}  // namespace

CUstreamCaptureMode& thread_capture_mode() {
  thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  return mode;
}

void invalidate(Capture& capture) { capture.is_invalid = true; }

void require_valid(const Capture& capture) {
  require(!capture.is_invalid, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

void join(std::vector<Node*>& frontier, const std::vector<Node*>& with) {
  for (Node* node : with)
    if (std::find(frontier.begin(), frontier.end(), node) == frontier.end())
      frontier.push_back(node);
}

Capture* capture_waited_for(const Stream& stream) {
  if (!stream.is_legacy) return nullptr;
  for (const auto& other : stream.context->streams)
    if (other->is_blocking() && other->capture) return other->capture.get();
  return nullptr;
}

Capture& begin_capture(const std::shared_ptr<Stream>& stream, CUstreamCaptureMode mode,
                       const std::shared_ptr<Graph>& graph, std::vector<Node*> frontier) {
  static unsigned long long ids = 0;
  require(mode >= CU_STREAM_CAPTURE_MODE_GLOBAL && mode <= CU_STREAM_CAPTURE_MODE_RELAXED);
  if (stream->is_legacy)
    refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the legacy stream cannot capture");
  require(!stream->capture, CUDA_ERROR_ILLEGAL_STATE);
  auto capture = std::make_shared<Capture>();
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->id = ++ids;
  capture->graph = graph;
  capture->origin = stream.get();
  stream->capture = capture;
  stream->frontier = std::move(frontier);
  captures().push_back(capture);
  return *capture;
}

std::shared_ptr<Graph> end_capture(const std::shared_ptr<Stream>& stream) {
  require(stream->capture != nullptr, CUDA_ERROR_ILLEGAL_STATE);
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture->origin != stream.get())
    refuse_in(*capture, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "another stream began the capture");
  if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED)
    require(capture->thread == std::this_thread::get_id(), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  bool all_joined = true;
  for (const auto& other : streams_of(*capture))
    all_joined &= are_joined(other->frontier, {stream});
  std::shared_ptr<Graph> graph = capture->graph;
  finish(*capture, !all_joined || capture->is_invalid);
  require_valid(*capture);
  if (!all_joined)
    refuse(CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
           "a stream that took part was not waited for before the end");
  return graph;
}

void abandon_capture(const std::shared_ptr<Stream>& stream) {
  const std::shared_ptr<Capture> capture = std::exchange(stream->capture, nullptr);
  if (!capture) return;
  const std::vector<Node*> left = std::exchange(stream->frontier, {});
  if (capture->origin == stream.get()) {
    invalidate(*capture);
    finish(*capture, true);
  } else if (!are_joined(left, streams_of(*capture))) {
    invalidate(*capture);
  }
}

void forbid_in_capture() {
  if (thread_capture_mode() == CU_STREAM_CAPTURE_MODE_RELAXED) return;
  bool is_forbidden = false;
  for (const auto& capture : captures()) {
    const bool is_mine = capture->thread == std::this_thread::get_id();
    const bool is_in_the_way = is_mine ? capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED
                                       : capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                                             thread_capture_mode() == CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (!is_in_the_way) continue;
    invalidate(*capture);
    is_forbidden = true;
  }
  if (is_forbidden)
    refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
           "while a stream captures, in a mode that forbids it");
}

void forbid_if_capturing(const Stream& stream) {
  forbid_implicit_wait(stream);
  if (stream.capture)
    refuse_in(*stream.capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
              "of a stream that captures: its work has not begun");
}

void forbid_if_captured(const Event& event) {
  if (!event.capture) return;
  if (event.capture->is_active) invalidate(*event.capture);
  refuse(CUDA_ERROR_CAPTURED_EVENT, "the event was last recorded by a stream that captured");
}

void forbid_memory_node(const Stream& stream) {
  forbid_implicit_wait(stream);
  if (stream.capture)
    refuse_in(*stream.capture, CUDA_ERROR_NOT_SUPPORTED,
              "the graphs of the simulated GPU have no memory nodes");
}

std::shared_ptr<Operation> submit(const std::shared_ptr<Stream>& stream, Work work) {
  forbid_implicit_wait(*stream);
  if (!stream->capture) return enqueue(stream, std::move(work));
  require_valid(*stream->capture);
  stream->frontier = {add_node(*stream->capture->graph, stream->frontier, std::move(work))};
  return nullptr;
}

void record_in(const std::shared_ptr<Stream>& stream, const std::shared_ptr<Event>& event,
               unsigned flags) {
  const bool is_external = (flags & CU_EVENT_RECORD_EXTERNAL) != 0;
  if (stream->capture && !is_external) {
    require_valid(*stream->capture);
    event->capture = stream->capture;
    event->frontier = stream->frontier;
    return;
  }
  submit(stream, RecordWork{event});
  event->capture.reset();
}

void wait_in(const std::shared_ptr<Stream>& stream, const std::shared_ptr<Event>& event,
             unsigned flags) {
  const bool is_external = (flags & CU_EVENT_WAIT_EXTERNAL) != 0;
  if (!event->capture || (stream->capture && is_external)) {
    if (stream->capture && !is_external)
      refuse_in(*stream->capture, CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
                "the event was recorded outside of the capture");
    submit(stream, WaitWork{event});
    return;
  }
  if (!event->capture->is_active) forbid_if_captured(*event);
  require_valid(*event->capture);
  if (stream->is_legacy)
    refuse_in(*event->capture, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
              "the legacy stream would take part in a capture");
  if (!stream->capture) {
    stream->capture = event->capture;
    stream->frontier = event->frontier;
  } else if (stream->capture == event->capture) {
    join(stream->frontier, event->frontier);
  } else {
    invalidate(*stream->capture);
    refuse_in(*event->capture, CUDA_ERROR_STREAM_CAPTURE_MERGE, "the event is of another capture");
  }
}

}  // namespace simgpu::driver
