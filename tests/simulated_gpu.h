/// \file
/// As much of a GPU as generated kernels use, in C++ on the host: the threads of a block take
/// turns, each up to its next barrier or exchange. For the device's prelude it stands in the place
/// of kernels/cuda/builtins.cuh.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming): CUDA's names

#define SINTER_ISA simulated
#define SINTER_INLINE inline
#define SINTER_KEEP_ROLLED
#define __shared__ static

namespace sinter::tests {

struct Index3 {
  unsigned x = 0, y = 0, z = 0;
};
/// What the thread whose turn it is sees.
struct SimulatedThread {
  Index3 block_size, grid_size, block, thread;
};
extern SimulatedThread simulated_thread;

enum class SimulatedWait { none, block_barrier, warp_barrier, exchange };
/// Ends the turn of the thread until all others that it waits for have come as far.
void simulated_wait(SimulatedWait kind);
/// The word of lane `lane` of the warp, all of whose lanes call it together.
std::uint64_t simulated_exchange(std::uint64_t word, unsigned lane);
char* simulated_shared_memory();

/// Runs a kernel on blocks of `threads` by `teams` threads with added shared memory.
/// \throws InternalError where threads of a team wait for different things.
void simulate(unsigned blocks, unsigned threads, unsigned teams, std::size_t shared_bytes,
              const std::function<void()>& kernel);

}  // namespace sinter::tests

#define threadIdx ::sinter::tests::simulated_thread.thread
#define blockIdx ::sinter::tests::simulated_thread.block
#define blockDim ::sinter::tests::simulated_thread.block_size
#define gridDim ::sinter::tests::simulated_thread.grid_size

inline void __syncthreads() {
  sinter::tests::simulated_wait(sinter::tests::SimulatedWait::block_barrier);
}
inline void __syncwarp() {
  sinter::tests::simulated_wait(sinter::tests::SimulatedWait::warp_barrier);
}
template <class T>
T __shfl_xor_sync(unsigned, T x, int mask) {
  std::uint64_t word = 0;
  std::memcpy(&word, &x, sizeof x);
  word = sinter::tests::simulated_exchange(word, threadIdx.x % 32 ^ static_cast<unsigned>(mask));
  std::memcpy(&x, &word, sizeof x);
  return x;
}
inline unsigned long long atomicCAS(unsigned long long* at, unsigned long long expected,
                                    unsigned long long desired) {
  const unsigned long long old = *at;
  if (old == expected) *at = desired;
  return old;
}

namespace sinter::kernels {
inline namespace SINTER_ISA {

inline char* added_shared_memory() { return tests::simulated_shared_memory(); }

}  // namespace SINTER_ISA
}  // namespace sinter::kernels

// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)
