// cuEvent*.
#include "tools/simgpu/driver/capture.h"
#include "tools/simgpu/driver/stream.h"

namespace simgpu::driver {
namespace {

constexpr unsigned event_flags =
    CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;

bool is_complete(const Event& event) { return !event.operation || event.operation->is_done(); }

}  // namespace

namespace api {

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  require(event != nullptr && (flags & ~event_flags) == 0);
  if ((flags & CU_EVENT_INTERPROCESS) != 0)
    refuse(CUDA_ERROR_NOT_SUPPORTED, "the simulated GPU shares no events between processes");
  auto made = std::make_shared<Event>();
  made->context = current_context();
  made->flags = flags;
  *event = table<Event>().add(made);
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent handle) {
  table<Event>().remove(handle);
  return CUDA_SUCCESS;
}
CUresult cuEventDestroy(CUevent handle) { return api::cuEventDestroy_v2(handle); }

CUresult cuEventRecordWithFlags(CUevent handle, CUstream stream_handle, unsigned flags) {
  require((flags & ~unsigned{CU_EVENT_RECORD_EXTERNAL}) == 0);
  const auto event = get<Event>(handle);
  const auto stream = stream_of(stream_handle);
  require(event->context == stream->context, CUDA_ERROR_INVALID_HANDLE);
  record_in(stream, event, flags);
  return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  return api::cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_DEFAULT);
}

CUresult cuEventQuery(CUevent handle) {
  const auto event = get<Event>(handle);
  require_no_error(*event->context);
  forbid_if_captured(*event);
  return is_complete(*event) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuEventSynchronize(CUevent handle) {
  const auto event = get<Event>(handle);
  require_no_error(*event->context);
  forbid_if_captured(*event);
  if (event->operation) wait_for({event->operation});
  require_no_error(*event->context);
  return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  require(milliseconds != nullptr);
  const auto from = get<Event>(start), to = get<Event>(end);
  require_no_error(*from->context);
  for (const auto& event : {from, to})
    require(event->operation && (event->flags & CU_EVENT_DISABLE_TIMING) == 0,
            CUDA_ERROR_INVALID_HANDLE);
  if (!is_complete(*from) || !is_complete(*to)) return CUDA_ERROR_NOT_READY;
  const std::chrono::duration<float, std::milli> elapsed =
      to->operation->finished - from->operation->finished;
  *milliseconds = elapsed.count();
  return CUDA_SUCCESS;
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return api::cuEventElapsedTime_v2(milliseconds, start, end);
}

}  // namespace api
}  // namespace simgpu::driver
