/// \file
/// How a generated kernel is spread over a GPU: a function of the loop and its extents alone, and
/// with it the order of its reductions.
#pragma once

#include <cstdint>

#include "jit/loop.h"

namespace sinter::jit {

struct CudaLaunch {
  int team_threads;  ///< that share a unit: 32, or all of a block (kernels/cuda/team.cuh)
  int teams;         ///< of a block
  std::int64_t blocks;

  std::int64_t unit_rows, unit_columns, pieces_of_row, units;

  std::int64_t buffer_bytes;  ///< of one row buffer
  std::int64_t shared_bytes;  ///< what a block's row buffers take in shared memory, or 0
  std::int64_t global_bytes;  ///< what they take in device memory where shared memory is short
};

/// Shared memory that every supported GPU can give to one block beside a kernel's own.
inline constexpr std::int64_t cuda_shared_bytes = 90 * 1024;

CudaLaunch cuda_launch(const Loop& loop, std::int64_t rows, std::int64_t columns);

}  // namespace sinter::jit
