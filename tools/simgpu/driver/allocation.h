/// \file
/// The memory that programs have: of the device, and pinned memory of the host, which lies in the
/// same range so that kernels reach it. Under the lock of the driver.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "tools/simgpu/driver/context.h"

namespace simgpu::driver {

struct Pool {
  using Handle = CUmemoryPool;
  static constexpr std::uint64_t kind = 4;
  static constexpr const char* noun = "memory pool";
  static constexpr CUresult invalid = CUDA_ERROR_INVALID_VALUE;

  CUmemoryPool handle = nullptr;
  bool is_default = false;
  std::set<CUmemPool_attribute> reuse;            ///< that the program forbade
  std::uint64_t release_threshold = 0, most = 0;  ///< `most` bytes; 0 without a limit
  std::uint64_t used = 0, used_high = 0, reserved = 0, reserved_high = 0;

  void take(std::uint64_t bytes);
  void give_back(std::uint64_t bytes) { used -= bytes; }
  /// What is beyond goes back to the device.
  void trim(std::uint64_t keep);
};
/// Of the device.
const std::shared_ptr<Pool>& default_pool();
/// What a synchronisation does to pools: they keep no more than their threshold.
void trim_pools();

struct Block {
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  bool is_host = false;  ///< pinned
  unsigned flags = 0;    ///< of cuMemHostAlloc
  std::uint64_t id = 0;
  std::shared_ptr<Context> context;  ///< null of what a library placed
  std::shared_ptr<Pool> pool;
  bool is_being_freed = false;  ///< by a cuMemFreeAsync that has not run
};

/// \throws Refusal where there is no room, or `bytes` is 0
Block& allocate(std::size_t bytes, const std::shared_ptr<Context>& context, bool is_host = false);
/// Of a block that is there.
void release(CUdeviceptr address, const std::string& freer);
/// Blocks, and registrations.
void release_all_of(const Context& context);
/// The block that an address lies in; null where it is of none.
Block* block_at(CUdeviceptr address);
/// \throws Refusal (CUDA_ERROR_INVALID_VALUE) where not all of the range is in one block
Block& require_range(CUdeviceptr address, std::size_t bytes, const char* what);
/// What there is at an address, for people.
std::string describe(CUdeviceptr address);
/// Pinned memory of the host in use.
std::size_t host_bytes();

/// Memory of the program that it registered.
struct Registration {
  std::size_t bytes = 0;
  unsigned flags = 0;
  std::shared_ptr<Context> context;
};
std::map<std::uint64_t, Registration>& registrations();
/// The registration that all of a range lies in.
const std::pair<const std::uint64_t, Registration>* registration_at(const void* host,
                                                                    std::size_t bytes);
/// Whether the host's memory can be copied while the program goes on.
bool is_pinned(const void* host, std::size_t bytes);

/// What was never freed, with who allocated it.
void tell_leaks();

}  // namespace simgpu::driver
