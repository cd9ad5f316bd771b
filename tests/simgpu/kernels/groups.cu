// Groups of threads as <cooperative_groups.h> makes them.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

// What a block says of itself, and a sum over it in shared memory.
extern "C" __global__ void of_block(int* out, const int* a) {
  __shared__ int sums[128];
  const cg::thread_block block = cg::this_thread_block();
  const unsigned rank = block.thread_rank();
  sums[rank] = a[block.group_index().x * block.size() + rank];
  for (unsigned step = block.size() / 2; step > 0; step /= 2) {
    block.sync();
    if (rank < step) sums[rank] += sums[rank + step];
  }
  if (rank == 0) out[block.group_index().x] = sums[0] + (int)block.dim_threads().x;
}
// Tiles of a warp and of a quarter of one.
template <class Tile>
__device__ int by_shuffles(const Tile& tile, int value) {
  for (unsigned step = tile.size() / 2; step > 0; step /= 2) value += tile.shfl_down(value, step);
  return tile.shfl(value, 0);
}
extern "C" __global__ void of_tiles(int* warps, int* eights, unsigned* places, const int* a) {
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const auto eight = cg::tiled_partition<8>(warp);
  const unsigned t = block.thread_rank();
  warps[t] = by_shuffles(warp, a[t]);
  eights[t] = by_shuffles(eight, a[t]);
  const unsigned odd = eight.ballot(a[t] & 1);
  const unsigned same = eight.match_any(a[t] & 3);
  places[t] = eight.thread_rank() | eight.meta_group_rank() << 4 | odd << 8 | same << 16 |
              (unsigned)eight.any(a[t] > 0) << 24 | (unsigned)eight.all(a[t] > 0) << 25;
}
// The lanes that went the same way.
extern "C" __global__ void of_coalesced(int* out, int* counter, const int* a) {
  const int t = threadIdx.x;
  out[t] = -1;
  if (a[t] % 3 == 0) {
    const cg::coalesced_group together = cg::coalesced_threads();
    int first = 0;
    if (together.thread_rank() == 0) first = atomicAdd(counter, (int)together.size());
    out[t] = together.shfl(first, 0) - together.shfl(first, 0) + (int)together.thread_rank();
    const auto even = cg::binary_partition(together, a[t] % 2 == 0);
    out[t] |= (int)even.size() << 8;
    out[t] |= (cg::reduce(together, a[t], cg::plus<int>()) & 0xff) << 16;
  }
}
// Reductions and scans that the header brings.
extern "C" __global__ void reduced(int* sums, int* least, float* floats, int* scanned, const int* a,
                                   const float* b) {
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const int t = threadIdx.x;
  sums[t] = cg::reduce(tile, a[t], cg::plus<int>());
  least[t] = cg::reduce(tile, a[t], cg::less<int>());
  floats[t] = cg::reduce(tile, b[t], cg::greater<float>());
  scanned[t] = cg::exclusive_scan(tile, a[t], cg::plus<int>());
}
// A group of several warps, which meets by memory that the system keeps.
extern "C" __global__ void of_warps(int* out, const int* a) {
  __shared__ cg::block_tile_memory<256> memory;
  __shared__ int box[256];
  const cg::thread_block block = cg::this_thread_block(memory);
  const auto half = cg::tiled_partition<128>(block);
  const int t = threadIdx.x;
  box[t] = a[t];
  half.sync();
  const int other = box[half.meta_group_rank() * 128 + 127 - half.thread_rank()];
  out[t] = cg::reduce(half, a[t], cg::plus<int>()) + other;
}
// All blocks of a cooperative launch.
extern "C" __global__ void of_grid(int* data, int rounds) {
  const cg::grid_group grid = cg::this_grid();
  const unsigned count = grid.size(), rank = grid.thread_rank();
  if (!grid.is_valid()) {
    data[rank] = -1;
    return;
  }
  for (int round = 0; round < rounds; ++round) {
    const int left = data[(rank + 1) % count];
    grid.sync();
    data[rank] = left;
    grid.sync();
  }
}
// Copies by all threads of a group, which is smaller than what it copies.
extern "C" __global__ void copied(int* out, const int* a) {
  __shared__ alignas(16) int box[256];
  const cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, box, a + blockIdx.x * 256, sizeof box);
  cg::wait(block);
  const int t = threadIdx.x;
  out[blockIdx.x * 64 + t] = box[t] + box[255 - t] + box[64 + t];
}
