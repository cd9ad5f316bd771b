// cuDevicePrimaryCtx*, cuCtx*.
#include "tools/simgpu/driver/allocation.h"
#include "tools/simgpu/driver/capture.h"
#include "tools/simgpu/driver/context.h"
#include "tools/simgpu/driver/stream.h"

namespace simgpu::driver::api {
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

std::size_t& limit_of(Context& context, CUlimit limit) {
  require(limit >= 0 && limit < CU_LIMIT_MAX);
  require(limit <= CU_LIMIT_PERSISTING_L2_CACHE_SIZE, CUDA_ERROR_UNSUPPORTED_LIMIT);
  return context.limits[limit];
}

}  // namespace

CUcontext cuDevicePrimaryCtxRetain() {
  if (!primary.active()) {
    const auto made = make_context(primary.flags);
    if (primary.handle == nullptr) primary.handle = table<Context>().add(made);
    else table<Context>().put(made, primary.handle);
  }
  ++primary.users;
  return primary.handle;
}

void cuDevicePrimaryCtxRelease_v2() {
  require(primary.users != 0, CUDA_ERROR_INVALID_CONTEXT);
  if (--primary.users == 0) primary.deactivate();
}

void cuDevicePrimaryCtxReset_v2() { primary.deactivate(); }

void cuDevicePrimaryCtxSetFlags_v2(unsigned flags) {
  require_context_flags(flags);
  primary.flags = flags;
  if (const auto context = primary.active()) context->flags = flags | CU_CTX_MAP_HOST;
}

void cuDevicePrimaryCtxGetState(unsigned* flags, int* active) {
  require(flags != nullptr && active != nullptr);
  *flags = primary.flags;
  *active = primary.active() != nullptr ? 1 : 0;
}

CUcontext cuCtxCreate_v2(unsigned flags) {
  require_context_flags(flags);
  return context_stack().emplace_back(table<Context>().add(make_context(flags)));
}
CUcontext cuCtxCreate_v3(CUexecAffinityParam* affinities, int count, unsigned flags) {
  if (count != 0 || affinities != nullptr)
    refuse(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, "contexts have no share of the multiprocessors");
  return api::cuCtxCreate_v2(flags);
}
CUcontext cuCtxCreate_v4(CUctxCreateParams* parameters, unsigned flags) {
  if (parameters == nullptr) return api::cuCtxCreate_v2(flags);
  if (parameters->cigParams != nullptr)
    refuse(CUDA_ERROR_NOT_SUPPORTED, "contexts have no graphics");
  return api::cuCtxCreate_v3(parameters->execAffinityParams, parameters->numExecAffinityParams,
                             flags);
}

void cuCtxDestroy_v2(CUcontext handle) {
  const auto context = get<Context>(handle);
  require(handle != primary.handle, CUDA_ERROR_INVALID_CONTEXT);
  destroy(context);
  if (!context_stack().empty() && context_stack().back() == handle) context_stack().pop_back();
}

void cuCtxPushCurrent_v2(CUcontext handle) {
  get<Context>(handle);
  context_stack().push_back(handle);
}

void cuCtxPopCurrent_v2(CUcontext* handle) {
  auto& stack = context_stack();
  require(!stack.empty() && stack.back() != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  if (handle != nullptr) *handle = stack.back();
  stack.pop_back();
}

void cuCtxSetCurrent(CUcontext handle) {
  if (handle != nullptr) get<Context>(handle);
  auto& stack = context_stack();
  if (!stack.empty()) stack.pop_back();
  if (handle != nullptr) stack.push_back(handle);
}

CUcontext cuCtxGetCurrent() { return context_stack().empty() ? nullptr : context_stack().back(); }

CUdevice cuCtxGetDevice() {
  current_context_in_any_state();
  return 0;
}

unsigned cuCtxGetFlags() { return current_context_in_any_state()->flags; }

void cuCtxSetFlags(unsigned flags) {
  require_context_flags(flags);
  current_context()->flags = flags | CU_CTX_MAP_HOST;
}

unsigned long long cuCtxGetId(CUcontext handle) {
  return (handle == nullptr ? current_context() : get<Context>(handle))->id;
}

void cuCtxSynchronize() {
  const auto context = current_context();
  forbid_in_capture();
  synchronise(context);
  require_no_error(*context);
  trim_pools();
}

void cuCtxSetLimit(CUlimit limit, std::size_t value) {
  limit_of(*current_context(), limit) = value;
}

std::size_t cuCtxGetLimit(CUlimit limit) { return limit_of(*current_context(), limit); }

CUfunc_cache cuCtxGetCacheConfig() { return current_context()->cache_config; }

void cuCtxSetCacheConfig(CUfunc_cache config) {
  require_cache_config(config);
  current_context()->cache_config = config;
}

unsigned cuCtxGetApiVersion(CUcontext handle) {
  if (handle != nullptr) get<Context>(handle);
  else current_context();
  return 3020;
}

void cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  current_context();
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = greatest_priority;
}

void cuCtxResetPersistingL2Cache() { current_context(); }

void cuProfilerStart() { current_context(); }

}  // namespace simgpu::driver::api
