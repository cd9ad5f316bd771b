// cuDevicePrimaryCtx*, cuCtx*.
#include "tools/simgpu/driver/allocation.h"
#include "tools/simgpu/driver/capture.h"
#include "tools/simgpu/driver/context.h"
#include "tools/simgpu/driver/stream.h"

namespace simgpu::driver {
namespace {

/// The one that users of a device share. Its handle is the same each time it is made.
struct Primary {
  CUcontext handle = nullptr;
  unsigned users = 0;
  unsigned flags = 0;

  std::shared_ptr<Context> active() const { return table<Context>().find(handle); }
  void deactivate() {
    if (const auto context = active()) destroy(context);
  }
};
Primary primary;

void require_context_flags(unsigned flags) {
  constexpr unsigned known = CU_CTX_FLAGS_MASK;
  const unsigned schedule = flags & CU_CTX_SCHED_MASK;
  require((flags & ~known) == 0 && schedule != 3 && schedule < 5);
}

}  // namespace

namespace api {

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  require_device(device);
  require(context != nullptr);
  if (!primary.active()) {
    const auto made = make_context(primary.flags);
    made->is_primary = true;
    if (primary.handle == nullptr) primary.handle = table<Context>().add(made);
    else table<Context>().put(made, primary.handle);
  }
  ++primary.users;
  *context = primary.handle;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  require_device(device);
  require(primary.users != 0, CUDA_ERROR_INVALID_CONTEXT);
  if (--primary.users == 0) primary.deactivate();
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return api::cuDevicePrimaryCtxRelease_v2(device);
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  require_device(device);
  primary.deactivate();
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  return api::cuDevicePrimaryCtxReset_v2(device);
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
  require_device(device);
  require_context_flags(flags);
  primary.flags = flags;
  if (const auto context = primary.active()) context->flags = flags | CU_CTX_MAP_HOST;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  return api::cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  require_device(device);
  require(flags != nullptr && active != nullptr);
  *flags = primary.flags;
  *active = primary.active() != nullptr ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device) {
  require_device(device);
  require(context != nullptr);
  require_context_flags(flags);
  *context = table<Context>().add(make_context(flags));
  context_stack().push_back(*context);
  return CUDA_SUCCESS;
}
CUresult cuCtxCreate(CUcontext* context, unsigned flags, CUdevice device) {
  return api::cuCtxCreate_v2(context, flags, device);
}
CUresult cuCtxCreate_v3(CUcontext* context, CUexecAffinityParam* affinities, int count,
                        unsigned flags, CUdevice device) {
  if (count != 0 || affinities != nullptr)
    refuse(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, "contexts have no share of the multiprocessors");
  return api::cuCtxCreate_v2(context, flags, device);
}
CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams* parameters, unsigned flags,
                        CUdevice device) {
  if (parameters != nullptr && parameters->cigParams != nullptr)
    refuse(CUDA_ERROR_NOT_SUPPORTED, "contexts have no graphics");
  if (parameters == nullptr) return api::cuCtxCreate_v2(context, flags, device);
  return api::cuCtxCreate_v3(context, parameters->execAffinityParams,
                             parameters->numExecAffinityParams, flags, device);
}

CUresult cuCtxDestroy_v2(CUcontext handle) {
  const auto context = get<Context>(handle);
  require(!context->is_primary, CUDA_ERROR_INVALID_CONTEXT);
  destroy(context);
  if (!context_stack().empty() && context_stack().back() == handle) context_stack().pop_back();
  return CUDA_SUCCESS;
}
CUresult cuCtxDestroy(CUcontext handle) { return api::cuCtxDestroy_v2(handle); }

CUresult cuCtxPushCurrent_v2(CUcontext handle) {
  get<Context>(handle);
  context_stack().push_back(handle);
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext handle) { return api::cuCtxPushCurrent_v2(handle); }

CUresult cuCtxPopCurrent_v2(CUcontext* handle) {
  require(!context_stack().empty() && context_stack().back() != nullptr,
          CUDA_ERROR_INVALID_CONTEXT);
  if (handle != nullptr) *handle = context_stack().back();
  context_stack().pop_back();
  return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent(CUcontext* handle) { return api::cuCtxPopCurrent_v2(handle); }

CUresult cuCtxSetCurrent(CUcontext handle) {
  if (handle != nullptr) get<Context>(handle);
  auto& stack = context_stack();
  if (!stack.empty()) stack.pop_back();
  if (handle != nullptr) stack.push_back(handle);
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* handle) {
  require(handle != nullptr);
  *handle = context_stack().empty() ? nullptr : context_stack().back();
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* device) {
  require(device != nullptr);
  current_context_in_any_state();
  *device = 0;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(unsigned* flags) {
  require(flags != nullptr);
  *flags = current_context_in_any_state()->flags;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetFlags(unsigned flags) {
  require_context_flags(flags);
  current_context()->flags = flags | CU_CTX_MAP_HOST;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long* id) {
  require(id != nullptr);
  *id = (handle == nullptr ? current_context() : get<Context>(handle))->id;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() {
  const auto context = current_context();
  forbid_in_capture();
  synchronise(context);
  require_no_error(*context);
  trim_pools();
  return CUDA_SUCCESS;
}

CUresult cuCtxSetLimit(CUlimit limit, std::size_t value) {
  require(limit >= 0 && limit < CU_LIMIT_MAX);
  if (limit > CU_LIMIT_PERSISTING_L2_CACHE_SIZE) refuse(CUDA_ERROR_UNSUPPORTED_LIMIT);
  current_context()->limits[limit] = value;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetLimit(std::size_t* value, CUlimit limit) {
  require(value != nullptr && limit >= 0 && limit < CU_LIMIT_MAX);
  if (limit > CU_LIMIT_PERSISTING_L2_CACHE_SIZE) refuse(CUDA_ERROR_UNSUPPORTED_LIMIT);
  *value = current_context()->limits[limit];
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  require(config != nullptr);
  *config = current_context()->cache_config;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  require(config >= CU_FUNC_CACHE_PREFER_NONE && config <= CU_FUNC_CACHE_PREFER_EQUAL);
  current_context()->cache_config = config;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetApiVersion(CUcontext handle, unsigned* version) {
  require(version != nullptr);
  if (handle != nullptr) get<Context>(handle);
  else current_context();
  *version = 3020;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  current_context();
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return CUDA_SUCCESS;
}

CUresult cuCtxResetPersistingL2Cache() {
  current_context();
  return CUDA_SUCCESS;
}

CUresult cuProfilerStart() {
  current_context();
  return CUDA_SUCCESS;
}
CUresult cuProfilerStop() {
  current_context();
  return CUDA_SUCCESS;
}

}  // namespace api
}  // namespace simgpu::driver
