/// \file
/// The memory that programs have: of the device; pinned memory of the host, which lies in the same
/// range so that kernels reach it; and what they registered, where it is. Under the lock of the
/// driver.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "tools/simgpu/driver/context.h"

namespace simgpu::driver {

struct Pool : Handled<CUmemoryPool> {
  static constexpr Identity identity{4, "memory pool", CUDA_ERROR_INVALID_VALUE};

  std::set<CUmemPool_attribute> forbidden;        ///< kinds of reuse
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

enum class MemoryKind : std::uint8_t { device, variable, pinned, registered };

struct MemoryBlock {
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  MemoryKind kind = MemoryKind::device;
  unsigned flags = 0;  ///< of cuMemHostAlloc or cuMemHostRegister
  std::uint64_t id = 0;
  std::shared_ptr<Context> context{};  ///< null of variables, which go with their module
  std::shared_ptr<Pool> pool{};
  bool is_being_freed = false;  ///< by a cuMemFreeAsync that has not run

  bool is_host() const { return kind == MemoryKind::pinned || kind == MemoryKind::registered; }
  bool holds(std::size_t bytes_from_address, CUdeviceptr from) const {
    return from - address < bytes && bytes_from_address <= bytes - (from - address);
  }
};

/// \throws Refusal where there is no room, or `bytes` is 0
MemoryBlock& allocate(std::size_t bytes, const std::shared_ptr<Context>& context,
                      MemoryKind kind = MemoryKind::device);
/// Makes a block of memory that the program has.
/// \throws Refusal where some of it is one already
void register_host(CUdeviceptr address, std::size_t bytes, unsigned flags,
                   const std::shared_ptr<Context>& context);
/// Of a block that is there.
void release(CUdeviceptr address, const std::string& freer);
void release_all_of(const Context& context);
/// The block that an address lies in; null where it is of none.
MemoryBlock* block_at(CUdeviceptr address);
/// Whether the block of a number, which began there, is there yet: threads may free it meanwhile.
bool is_there(CUdeviceptr address, std::uint64_t id);
/// The block that begins there, for its end.
/// \throws Refusal with `code` where there is none of the kind, or its end has come already
MemoryBlock& block_to_free(CUdeviceptr address, MemoryKind kind,
                           CUresult code = CUDA_ERROR_INVALID_VALUE);
/// \throws Refusal (CUDA_ERROR_INVALID_VALUE) where not all of the range is in one block
MemoryBlock& require_range(CUdeviceptr address, std::size_t bytes, const char* what);
/// What there is at an address, for people.
std::string describe(CUdeviceptr address);
/// What is wrong with an access: `source of a copy: 8 bytes at 0x...: no memory of the device`.
std::string describe_access(CUdeviceptr address, std::size_t bytes, const char* what);
/// Pinned memory of the host in use.
std::size_t host_bytes();

/// What was never freed, with who allocated it.
void tell_leaks();

}  // namespace simgpu::driver
