// cuStream*, cuLaunchHostFunc.
#include <algorithm>

#include "tools/simgpu/driver/allocation.h"
#include "tools/simgpu/driver/capture.h"
#include "tools/simgpu/driver/stream.h"

namespace simgpu::driver {

std::shared_ptr<Stream> make_stream(const std::shared_ptr<Context>& context, unsigned flags,
                                    int priority) {
  static unsigned long long ids = 0;
  auto stream = std::make_shared<Stream>();
  stream->context = context;
  stream->flags = flags;
  stream->priority = priority;
  stream->id = ++ids;
  stream->maker = Call::current().origin();
  context->streams.push_back(stream);
  return stream;
}

std::shared_ptr<Stream> stream_of(CUstream handle) {
  if (handle != nullptr && handle != CU_STREAM_LEGACY && handle != CU_STREAM_PER_THREAD) {
    auto stream = get<Stream>(handle);
    require_no_error(*stream->context);
    return stream;
  }
  const auto context = current_context();
  const bool is_per_thread =
      handle == CU_STREAM_PER_THREAD || (handle == nullptr && Call::current().per_thread_stream());
  if (!is_per_thread) return context->legacy;
  auto& stream = context->per_thread[std::this_thread::get_id()];
  if (!stream) stream = make_stream(context, CU_STREAM_DEFAULT, 0);
  return stream;
}

namespace api {

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  require(stream != nullptr && (flags & ~unsigned{CU_STREAM_NON_BLOCKING}) == 0);
  const auto context = current_context();
  *stream = table<Stream>().add(make_stream(context, flags, std::clamp(priority, -5, 0)));
  return CUDA_SUCCESS;
}
CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return api::cuStreamCreateWithPriority(stream, flags, 0);
}

/// What is in the stream is still done.
CUresult cuStreamDestroy_v2(CUstream handle) {
  require(handle != nullptr && handle != CU_STREAM_LEGACY && handle != CU_STREAM_PER_THREAD,
          CUDA_ERROR_INVALID_HANDLE);
  const auto stream = table<Stream>().remove(handle);
  abandon_capture(stream);
  stream->is_destroyed = true;
  if (stream->queue.empty()) std::erase(stream->context->streams, stream);
  return CUDA_SUCCESS;
}
CUresult cuStreamDestroy(CUstream handle) { return api::cuStreamDestroy_v2(handle); }

CUresult cuStreamGetPriority(CUstream handle, int* priority) {
  require(priority != nullptr);
  *priority = stream_of(handle)->priority;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetFlags(CUstream handle, unsigned* flags) {
  require(flags != nullptr);
  *flags = stream_of(handle)->flags;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetId(CUstream handle, unsigned long long* id) {
  require(id != nullptr);
  *id = stream_of(handle)->id;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext* context) {
  require(context != nullptr);
  *context = stream_of(handle)->context->handle;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetDevice(CUstream handle, CUdevice* device) {
  require(device != nullptr);
  stream_of(handle);
  *device = 0;
  return CUDA_SUCCESS;
}

CUresult cuStreamQuery(CUstream handle) {
  const auto stream = stream_of(handle);
  forbid_if_capturing(*stream);
  return pending(*stream).empty() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuStreamSynchronize(CUstream handle) {
  const auto stream = stream_of(handle);
  forbid_if_capturing(*stream);
  wait_for(pending(*stream));
  require_no_error(*stream->context);
  trim_pools();
  return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned flags) {
  require((flags & ~unsigned{CU_EVENT_WAIT_EXTERNAL}) == 0);
  const auto stream = stream_of(handle);
  wait_in(stream, get<Event>(event), flags);
  return CUDA_SUCCESS;
}

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void* data,
                             unsigned flags) {
  require(callback != nullptr && flags == 0);
  const auto stream = stream_of(handle);
  if (stream->capture) {
    invalidate(*stream->capture);
    refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "callbacks are in no graph: cuLaunchHostFunc");
  }
  submit(stream, CallbackWork{callback, handle, data});
  return CUDA_SUCCESS;
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void* data) {
  require(function != nullptr);
  HostWork work;
  work.function = function;
  work.data = data;
  submit(stream_of(handle), std::move(work));
  return CUDA_SUCCESS;
}

CUresult cuStreamAttachMemAsync(CUstream, CUdeviceptr, std::size_t, unsigned) {
  refuse(CUDA_ERROR_NOT_SUPPORTED, "the simulated GPU has no managed memory");
}

}  // namespace api
}  // namespace simgpu::driver
