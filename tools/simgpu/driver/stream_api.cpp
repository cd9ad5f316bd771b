// cuStream*, cuEvent*, cuLaunchHostFunc.
#include <algorithm>

#include "tools/simgpu/driver/allocation.h"
#include "tools/simgpu/driver/capture.h"
#include "tools/simgpu/driver/stream.h"

namespace simgpu::driver::api {
namespace {

constexpr unsigned event_flags =
    CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;

bool is_complete(const Event& event) { return !event.operation || event.operation->is_done(); }

/// One whose context has no error, and that no capture holds.
std::shared_ptr<Event> event_to_ask(CUevent handle) {
  auto event = get<Event>(handle);
  require_no_error(*event->context);
  forbid_if_captured(*event);
  return event;
}

std::shared_ptr<Stream> stream_to_ask(CUstream handle) {
  auto stream = stream_of(handle);
  forbid_if_capturing(*stream);
  return stream;
}

}  // namespace

CUstream cuStreamCreateWithPriority(unsigned flags, int priority) {
  require((flags & ~unsigned{CU_STREAM_NON_BLOCKING}) == 0);
  return table<Stream>().add(
      make_stream(current_context(), flags, std::clamp(priority, greatest_priority, 0)));
}

/// What is in the stream is still done.
void cuStreamDestroy_v2(CUstream handle) {
  const auto stream = table<Stream>().remove(handle);
  abandon_capture(stream);
  stream->is_destroyed = true;
  if (stream->queue.empty()) std::erase(stream->context->streams, stream);
}

int cuStreamGetPriority(CUstream stream) { return stream_of(stream)->priority; }

unsigned cuStreamGetFlags(CUstream stream) { return stream_of(stream)->flags; }

unsigned long long cuStreamGetId(CUstream stream) { return stream_of(stream)->id; }

CUcontext cuStreamGetCtx(CUstream stream) { return stream_of(stream)->context->handle; }

CUdevice cuStreamGetDevice(CUstream stream) {
  stream_of(stream);
  return 0;
}

void cuStreamQuery(CUstream handle) {
  require(pending(*stream_to_ask(handle)).empty(), CUDA_ERROR_NOT_READY);
}

void cuStreamSynchronize(CUstream handle) {
  const auto stream = stream_to_ask(handle);
  wait_for(pending(*stream));
  require_no_error(*stream->context);
  trim_pools();
}

void cuStreamWaitEvent(CUstream handle, CUevent event, unsigned flags) {
  require((flags & ~unsigned{CU_EVENT_WAIT_EXTERNAL}) == 0);
  const auto stream = stream_of(handle);
  wait_in(stream, get<Event>(event), flags);
}

void cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void* data, unsigned flags) {
  require(callback != nullptr && flags == 0);
  const auto stream = stream_of(handle);
  if (stream->capture) {
    invalidate(*stream->capture);
    refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "callbacks are in no graph: cuLaunchHostFunc");
  }
  submit(stream, CallbackWork{callback, handle, data});
}

void cuLaunchHostFunc(CUstream handle, CUhostFn function, void* data) {
  require(function != nullptr);
  submit(stream_of(handle), HostWork{.function = function, .data = data});
}

void cuStreamAttachMemAsync(CUstream, CUdeviceptr, std::size_t, unsigned) {
  refuse(CUDA_ERROR_NOT_SUPPORTED, "the simulated GPU has no managed memory");
}

CUevent cuEventCreate(unsigned flags) {
  require((flags & ~event_flags) == 0);
  if ((flags & CU_EVENT_INTERPROCESS) != 0)
    refuse(CUDA_ERROR_NOT_SUPPORTED, "the simulated GPU shares no events between processes");
  auto made = std::make_shared<Event>();
  made->context = current_context();
  made->flags = flags;
  return table<Event>().add(made);
}

void cuEventDestroy_v2(CUevent handle) { table<Event>().remove(handle); }

void cuEventRecordWithFlags(CUevent handle, CUstream stream_handle, unsigned flags) {
  require((flags & ~unsigned{CU_EVENT_RECORD_EXTERNAL}) == 0);
  const auto event = get<Event>(handle);
  const auto stream = stream_of(stream_handle);
  require(event->context == stream->context, CUDA_ERROR_INVALID_HANDLE);
  record_in(stream, event, flags);
}

void cuEventQuery(CUevent handle) {
  require(is_complete(*event_to_ask(handle)), CUDA_ERROR_NOT_READY);
}

void cuEventSynchronize(CUevent handle) {
  const auto event = event_to_ask(handle);
  if (event->operation) wait_for({event->operation});
  require_no_error(*event->context);
}

float cuEventElapsedTime_v2(CUevent start, CUevent end) {
  const auto from = event_to_ask(start), to = event_to_ask(end);
  for (const auto& event : {from, to})
    require(event->operation && (event->flags & CU_EVENT_DISABLE_TIMING) == 0,
            CUDA_ERROR_INVALID_HANDLE);
  require(is_complete(*from) && is_complete(*to), CUDA_ERROR_NOT_READY);
  return std::chrono::duration<float, std::milli>(to->operation->finished -
                                                  from->operation->finished)
      .count();
}

}  // namespace simgpu::driver::api
