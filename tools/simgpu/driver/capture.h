/// \file
/// Captures: streams whose work becomes a graph. Source: CUDA C++ programming guide, "Creating a
/// graph using stream capture", and the Driver API's documentation of
/// cuThreadExchangeStreamCaptureMode.
#pragma once

#include <memory>
#include <thread>

#include "tools/simgpu/driver/graph.h"
#include "tools/simgpu/driver/stream.h"

namespace simgpu::driver {

struct Capture {
  CUstreamCaptureMode mode{};
  std::thread::id thread;  ///< that began it
  unsigned long long id = 0;
  std::shared_ptr<Graph> graph;
  Stream* origin = nullptr;
  bool is_given = false;  ///< the graph was there before
  bool is_active = true;
  bool is_invalid = false;  ///< something was called that no graph can hold
};

/// Of this thread: what cuThreadExchangeStreamCaptureMode exchanges.
CUstreamCaptureMode& thread_capture_mode();
/// The legacy stream waits for all streams that do not say otherwise; no graph can hold that. A
/// capture that it would have to wait for, or null.
Capture* capture_waited_for(const Stream& stream);
/// It must be ended all the same.
void invalidate(Capture& capture);
void require_valid(const Capture& capture);
/// Adds nodes to a frontier that are not in it.
void join(std::vector<Node*>& frontier, const std::vector<Node*>& with);
Capture& begin_capture(const std::shared_ptr<Stream>& stream, CUstreamCaptureMode mode,
                       const std::shared_ptr<Graph>& graph, std::vector<Node*> frontier);
/// The graph. One that is not finished is destroyed.
/// \throws Refusal where the capture is invalid or has streams that were not joined
std::shared_ptr<Graph> end_capture(const std::shared_ptr<Stream>& stream);
/// The stream is destroyed: its capture cannot be finished.
void abandon_capture(const std::shared_ptr<Stream>& stream);

// Each of these throws Refusal, and invalidates the captures that are in the way.

/// In a call that a capture may not contain, but that touches no stream.
void forbid_in_capture();
/// In one that asks how far a stream has come.
void forbid_if_capturing(const Stream& stream);
/// In one that asks whether an event has come.
void forbid_if_captured(const Event& event);
/// In an allocation of a stream: graphs have no nodes of memory.
void forbid_memory_node(const Stream& stream);

void record_in(const std::shared_ptr<Stream>& stream, const std::shared_ptr<Event>& event,
               unsigned flags);
void wait_in(const std::shared_ptr<Stream>& stream, const std::shared_ptr<Event>& event,
             unsigned flags);

}  // namespace simgpu::driver
