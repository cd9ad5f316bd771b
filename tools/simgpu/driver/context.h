/// \file
/// Contexts. There is one device, so they differ in what they own and in their errors.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "tools/simgpu/driver/handles.h"

namespace simgpu::driver {

struct Stream;

struct Context : Handled<CUcontext> {
  static constexpr Identity identity{1, "context", CUDA_ERROR_INVALID_CONTEXT};

  unsigned flags = 0;
  unsigned long long id = 0;
  /// Of a kernel or copy that failed: every later call gives it.
  CUresult sticky = CUDA_SUCCESS;
  std::array<std::size_t, CU_LIMIT_MAX> limits{};
  CUfunc_cache cache_config = CU_FUNC_CACHE_PREFER_NONE;
  std::shared_ptr<Stream> legacy;
  std::map<std::thread::id, std::shared_ptr<Stream>> per_thread;
  /// All that are there or have work left, the default ones included.
  std::vector<std::shared_ptr<Stream>> streams;
};

/// Contexts that the thread has pushed, the current one last; null handles included.
std::vector<CUcontext>& context_stack();

/// The current context, which has no error.
/// \throws Refusal
std::shared_ptr<Context> current_context();
/// The same whatever its errors are.
std::shared_ptr<Context> current_context_in_any_state();
/// \throws Refusal with the context's error
void require_no_error(const Context& context);

std::shared_ptr<Context> make_context(unsigned flags);
/// Waits for its work, then destroys all that it owns.
void destroy(const std::shared_ptr<Context>& context);

inline void require_cache_config(CUfunc_cache config) {
  require(config >= CU_FUNC_CACHE_PREFER_NONE && config <= CU_FUNC_CACHE_PREFER_EQUAL);
}
/// Of streams; the least is 0.
inline constexpr int greatest_priority = -5;

}  // namespace simgpu::driver
