/// \file
/// Streams and events. A stream is a queue of operations, run in its order by the device thread; an
/// operation may have to wait for others, which is all there is to events and to the default
/// stream's ways with the rest.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <vector>

#include "tools/simgpu/driver/context.h"
#include "tools/simgpu/driver/work.h"

namespace simgpu::driver {

struct Capture;
struct Node;

struct Operation {
  enum class State : std::uint8_t { waiting, running, done };

  Work work;
  std::shared_ptr<Stream> stream;
  std::vector<std::shared_ptr<Operation>> waits;
  std::vector<std::shared_ptr<const void>> keep;  ///< what must be there until it is done
  std::uint64_t number = 0;                       ///< in the order of the process
  Origin origin;
  State state = State::waiting;
  std::chrono::steady_clock::time_point finished;

  bool is_done() const { return state == State::done; }
};

struct Stream : Handled<CUstream> {
  static constexpr Identity identity{2, "stream"};

  std::shared_ptr<Context> context;
  unsigned flags = CU_STREAM_DEFAULT;
  int priority = 0;
  unsigned long long id = 0;
  bool is_legacy = false;                        ///< the default stream of the context
  bool is_destroyed = false;                     ///< what is left in its queue is still done
  std::deque<std::shared_ptr<Operation>> queue;  ///< what is not done
  std::shared_ptr<Operation> last;               ///< that was added, done or not
  std::shared_ptr<Capture> capture;              ///< while it captures
  std::vector<Node*> frontier;                   ///< of the graph: what its next node comes after

  /// Whether it and the legacy stream wait for each other.
  bool is_blocking() const { return !is_legacy && (flags & CU_STREAM_NON_BLOCKING) == 0; }
};

struct Event : Handled<CUevent> {
  static constexpr Identity identity{3, "event"};

  std::shared_ptr<Context> context;
  unsigned flags = 0;
  std::shared_ptr<Operation> operation;  ///< that recorded it last; null before
  /// Of the stream that recorded it last, if that captured; and what it had come to.
  std::shared_ptr<Capture> capture;
  std::vector<Node*> frontier;
};

/// The stream that a handle names in this call, whose context has no error.
/// \throws Refusal
std::shared_ptr<Stream> stream_of(CUstream handle);
std::shared_ptr<Stream> make_stream(const std::shared_ptr<Context>& context, unsigned flags,
                                    int priority);

/// Gives the stream work; a stream that captures makes a node of it, and null is given back.
std::shared_ptr<Operation> submit(const std::shared_ptr<Stream>& stream, Work work);
/// Of a stream that does not capture.
/// \param after has to be done before, if there is one
std::shared_ptr<Operation> enqueue(const std::shared_ptr<Stream>& stream, Work work,
                                   const std::shared_ptr<Operation>& after = nullptr);

/// What has to be done before all that is in the stream now is.
std::vector<std::shared_ptr<Operation>> pending(const Stream& stream);
/// Waits, without the lock of the driver.
void wait_for(const std::vector<std::shared_ptr<Operation>>& operations);
void synchronise(const std::shared_ptr<Context>& context);
/// The same, and then for the operation that the device is at, since other threads may have given
/// it more meanwhile. It starts none before the call ends or waits: memory may go.
void quiesce(const std::shared_ptr<Context>& context);

/// The device thread ends after the operation that it is at.
void stop_device();

}  // namespace simgpu::driver
