/// \file
/// The threads that share a row, and reductions over them.
///
/// A block is blockDim.y teams of blockDim.x threads, a multiple of 32. A team of 32 is a warp and
/// needs no barrier; a larger one is a whole block. The size of a team is a function of the number
/// of columns alone (jit/cuda_launch.h), and with it the order of a reduction: thread t takes the
/// columns t, t + blockDim.x, ... one after the other, then the lanes of each warp are combined by
/// halves, then the warps' results likewise.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/combine.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {

inline constexpr int warp_size = 32, most_warps = 32;

SINTER_INLINE bool team_is_warp() { return blockDim.x == warp_size; }
SINTER_INLINE int lane_of_warp() { return static_cast<int>(threadIdx.x) % warp_size; }
SINTER_INLINE unsigned team_of_grid() { return blockIdx.x * blockDim.y + threadIdx.y; }
SINTER_INLINE void wait_for_team() {
  if (team_is_warp()) __syncwarp();
  else __syncthreads();
}

/// The results of the lanes, in each of them: every way to combine commutes.
template <class F, class C>
SINTER_INLINE C combined_lanes(C x) {
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    x = F::of(x, __shfl_xor_sync(0xffffffffu, x, distance));
  return x;
}

/// What a thread has of a reduction.
template <class F, class C>
class ThreadReduction {
 public:
  SINTER_INLINE void add_term(C term) { value_ = F::of(value_, term); }

  SINTER_INLINE void combine_warp() { value_ = combined_lanes<F>(value_); }
  /// `warps` is memory of the team with room for the result of each.
  SINTER_INLINE void leave(std::uint64_t* warps) const {
    if (lane_of_warp() == 0) reinterpret_cast<C*>(warps)[threadIdx.x / warp_size] = value_;
  }
  SINTER_INLINE void take(const std::uint64_t* warps) {
    const int lane = lane_of_warp(), count = static_cast<int>(blockDim.x) / warp_size;
    value_ = lane < count ? reinterpret_cast<const C*>(warps)[lane] : F::template neutral<C>;
    combine_warp();
  }
  SINTER_INLINE C value() const { return value_; }

 private:
  C value_ = F::template neutral<C>;
};

/// Makes the value of each reduction that of the whole team. `memory` has most_warps words for each
/// reduction, which no other thread reads or writes since the last barrier.
template <class... Reductions>
SINTER_INLINE void combine_team(std::uint64_t* memory, Reductions&... reductions) {
  (reductions.combine_warp(), ...);
  if (team_is_warp()) return;
  std::uint64_t* warps = memory;
  ((reductions.leave(warps), warps += most_warps), ...);
  __syncthreads();
  warps = memory;
  ((reductions.take(warps), warps += most_warps), ...);
}

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
