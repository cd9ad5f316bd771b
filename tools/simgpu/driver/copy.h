/// \file
/// Copies: one form for all of them, in up to three dimensions.
#pragma once

#include "tools/simgpu/driver/stream.h"

namespace simgpu::driver {

/// Where a copy reads or writes.
struct CopySide {
  bool is_device = false;
  std::uint64_t address = 0;  ///< of its first byte
  std::size_t pitch = 0, slice = 0;
  std::uint64_t row(std::size_t y, std::size_t z) const { return address + y * pitch + z * slice; }
};
CopySide source(const CUDA_MEMCPY3D& copy);
CopySide destination(const CUDA_MEMCPY3D& copy);

/// \throws Refusal for a copy that leaves its allocations, has arrays, or rows that overlap
void check_copy(const CUDA_MEMCPY3D& copy);
void check_set(const CUDA_MEMSET_NODE_PARAMS& set);

// These wait as the toolkit documents it in "API synchronization behavior".
void submit_copy(const std::shared_ptr<Stream>& stream, const CUDA_MEMCPY3D& copy);
void submit_set(const std::shared_ptr<Stream>& stream, const CUDA_MEMSET_NODE_PARAMS& set);

}  // namespace simgpu::driver
