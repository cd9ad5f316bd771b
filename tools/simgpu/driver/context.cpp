#include "tools/simgpu/driver/context.h"

#include "tools/simgpu/driver/allocation.h"
#include "tools/simgpu/driver/capture.h"
#include "tools/simgpu/driver/module.h"
#include "tools/simgpu/driver/stream.h"

namespace simgpu::driver {

std::vector<CUcontext>& context_stack() {
  thread_local std::vector<CUcontext> stack;
  return stack;
}

std::shared_ptr<Context> current_context_in_any_state() {
  require(!context_stack().empty() && context_stack().back() != nullptr,
          CUDA_ERROR_INVALID_CONTEXT);
  std::shared_ptr<Context> context = table<Context>().find(context_stack().back());
  if (!context) refuse(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the current context was destroyed");
  return context;
}

void require_no_error(const Context& context) {
  require(context.sticky == CUDA_SUCCESS, context.sticky);
}

std::shared_ptr<Context> current_context() {
  std::shared_ptr<Context> context = current_context_in_any_state();
  require_no_error(*context);
  return context;
}

std::shared_ptr<Context> make_context(unsigned flags) {
  static unsigned long long ids = 0;
  auto context = std::make_shared<Context>();
  context->flags = flags | CU_CTX_MAP_HOST;
  context->id = ++ids;
  context->limits[CU_LIMIT_STACK_SIZE] = 1024;
  context->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 7 << 20;
  context->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
  context->limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
  context->legacy = make_stream(context, CU_STREAM_DEFAULT, 0);
  context->legacy->is_legacy = true;
  return context;
}

void destroy(const std::shared_ptr<Context>& context) {
  quiesce(context);
  for (const auto& stream : context->streams) abandon_capture(stream);
  const auto is_its = [&](const auto& object) { return object.context == context; };
  table<Event>().remove_if(is_its);
  table<Stream>().remove_if(is_its);
  destroy_modules_of(*context);
  release_all_of(*context);
  context->legacy.reset();
  context->per_thread.clear();
  context->streams.clear();
  table<Context>().remove(context->handle);
}

}  // namespace simgpu::driver
