// cuFunc*, cuKernel*: attributes; cuOccupancy*.
#include <algorithm>

#include "tools/simgpu/driver/module.h"
#include "tools/simgpu/machine/occupancy.h"
#include "tools/simgpu/machine/profile.h"

namespace simgpu::driver::api {
namespace {

int blocks_that_fit(const Function& function, int threads, std::size_t dynamic) {
  if (dynamic > static_cast<std::size_t>(profile().shared_per_block_optin)) return 0;
  return blocks_per_multiprocessor(*function.kernel, static_cast<std::uint64_t>(threads), dynamic,
                                   profile());
}

constexpr unsigned occupancy_flags = CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE;

int most_threads(const Function& function) {
  const auto own = static_cast<int>(function.kernel->most_threads);
  int most = profile().most_threads_per_block;
  if (own != 0) most = std::min(most, own);
  while (most > 0 && blocks_that_fit(function, most, 0) == 0)
    most = (most - 1) / warp_size * warp_size;
  return most;
}

/// Without the lock of the driver: the program's function may make calls of its own.
std::size_t dynamic_bytes(CUoccupancyB2DSize dynamic_of, int threads, std::size_t otherwise) {
  if (dynamic_of == nullptr) return otherwise;
  Call::current().lock().unlock();
  const std::size_t bytes = dynamic_of(threads);
  Call::current().lock().lock();
  return bytes;
}

/// Of the kernel's rounds on a multiprocessor, the one with the most threads; of those that tie,
/// the largest block.
int best_block(const Function& function, CUoccupancyB2DSize dynamic_of, std::size_t dynamic,
               int limit) {
  int best = 0, most_resident = 0;
  int most = most_threads(function);
  if (limit > 0) most = std::min(most, limit);
  const int last_warp = (most + warp_size - 1) / warp_size * warp_size;
  for (int warps_end = last_warp; warps_end > 0; warps_end -= warp_size) {
    const int threads = std::min(most, warps_end);
    const std::size_t shared = dynamic_bytes(dynamic_of, threads, dynamic);
    const int resident = threads * blocks_that_fit(function, threads, shared);
    if (resident > most_resident) most_resident = resident, best = threads;
  }
  return best;
}

/// All constant variables of the module: each of its functions can reach them.
int constant_bytes(const Function& function) {
  std::size_t bytes = 0;
  for (const auto& [name, variable] : function.code->loaded.variables)
    if (variable.is_constant) bytes += variable.bytes;
  return static_cast<int>(bytes);
}

int attribute_of(const Function& function, CUfunction_attribute attribute) {
  const Kernel& kernel = *function.kernel;
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: return most_threads(function);
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: return static_cast<int>(kernel.static_shared_bytes);
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: return constant_bytes(function);
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: return static_cast<int>(kernel.local_bytes);
    case CU_FUNC_ATTRIBUTE_NUM_REGS: return kernel.registers_per_thread;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: return profile().major * 10 + profile().minor;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: return function.most_dynamic_shared;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: return function.carveout;
    default: require(attribute >= 0 && attribute < CU_FUNC_ATTRIBUTE_MAX); return 0;
  }
}

void set_attribute(Function& function, CUfunction_attribute attribute, int value) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      require(value >= 0 &&
              value + static_cast<std::int64_t>(function.kernel->static_shared_bytes) <=
                  profile().shared_per_block_optin);
      function.most_dynamic_shared = value;
      return;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      require(value >= -1 && value <= 100);
      function.carveout = value;
      return;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      refuse(CUDA_ERROR_NOT_SUPPORTED, "the simulated GPU has no clusters of blocks");
    default: refuse(CUDA_ERROR_INVALID_VALUE);
  }
}

}  // namespace

int cuFuncGetAttribute(CUfunction_attribute attribute, CUfunction function) {
  return attribute_of(*function_of(function), attribute);
}
int cuKernelGetAttribute(CUfunction_attribute attribute, CUkernel kernel) {
  return attribute_of(*function_of(kernel), attribute);
}

void cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  set_attribute(*function_of(function), attribute, value);
}
void cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel) {
  set_attribute(*function_of(kernel), attribute, value);
}

/// Caches are not simulated: nothing changes.
void cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
  function_of(function);
  require_cache_config(config);
}
void cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config) {
  function_of(kernel);
  require_cache_config(config);
}

int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(CUfunction handle, int threads,
                                                         std::size_t dynamic, unsigned flags) {
  require(threads > 0 && (flags & ~occupancy_flags) == 0);
  const auto function = function_of(handle);
  return threads > most_threads(*function) ? 0 : blocks_that_fit(*function, threads, dynamic);
}

void cuOccupancyMaxPotentialBlockSizeWithFlags(int* blocks, int* threads, CUfunction handle,
                                               CUoccupancyB2DSize dynamic_of, std::size_t dynamic,
                                               int limit, unsigned flags) {
  require(blocks != nullptr && threads != nullptr && limit >= 0 && (flags & ~occupancy_flags) == 0);
  const auto function = function_of(handle);
  *threads = best_block(*function, dynamic_of, dynamic, limit);
  require(*threads != 0);
  const std::size_t shared = dynamic_bytes(dynamic_of, *threads, dynamic);
  *blocks = profile().multiprocessors * blocks_that_fit(*function, *threads, shared);
}

/// What is left of a multiprocessor's shared memory to each of so many blocks, of which a launch of
/// the function may take no more than its attribute says.
std::size_t cuOccupancyAvailableDynamicSMemPerBlock(CUfunction handle, int blocks, int threads) {
  constexpr int unit = 128;
  require(blocks > 0 && threads > 0);
  const auto function = function_of(handle);
  require(blocks <= blocks_that_fit(*function, threads, 0));
  const auto fixed = static_cast<int>(function->kernel->static_shared_bytes);
  const int each = profile().shared_per_multiprocessor / blocks / unit * unit -
                   profile().shared_reserved_per_block - fixed;
  return static_cast<std::size_t>(std::max(0, std::min(each, function->most_dynamic_shared)));
}

}  // namespace simgpu::driver::api
