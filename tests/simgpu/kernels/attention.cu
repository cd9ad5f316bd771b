// Tiles of matrices that asynchronous copies bring: attention of a causal head, and a product whose
// next tiles are on their way while it works on those that are there.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ unsigned at_shared(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
// 16 bytes; zeros where it is not there.
__device__ void fetch(void* to, const void* from, bool there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at_shared(to)), "l"(from),
               "r"(there ? 16 : 0)
               : "memory");
}
__device__ void close_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int open>
__device__ void wait_for_groups() {
  asm volatile("cp.async.wait_group %0;" ::"n"(open) : "memory");
}
__device__ void load_4(unsigned (&x)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(at_shared(row)));
}
__device__ void load_2(unsigned (&x)[2], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
               : "=r"(x[0]), "=r"(x[1])
               : "r"(at_shared(row)));
}
__device__ void load_2_turned(unsigned (&x)[2], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
               : "=r"(x[0]), "=r"(x[1])
               : "r"(at_shared(row)));
}
#define MULTIPLY(name, type)                                                          \
  __device__ void name(float(&c)[4], const unsigned(&a)[4], const unsigned(&b)[2]) {  \
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." type "." type               \
                 ".f32 {%0,%1,%2,%3}, "                                               \
                 "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                             \
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                     \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])); \
  }
MULTIPLY(multiply_bf16, "bf16")
MULTIPLY(multiply_f16, "f16")

__device__ unsigned packed(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const unsigned*>(&pair);
}

// Blocks of 64 queries, 16 for each warp, by 32 keys at a time; heads of 32 numbers. Rows in shared
// memory are 40 numbers apart.
constexpr int width = 32, apart = 40;
__device__ void fetch_rows(__nv_bfloat16* to, const __nv_bfloat16* from, int rows, int first,
                           int times) {
  for (int i = threadIdx.x; i < rows * 4; i += 128) {
    const int row = i / 4, column = i % 4 * 8;
    const bool there = first + row < times;
    fetch(to + row * apart + column, from + (there ? first + row : 0) * width + column, there);
  }
}
/// sums += weights (16 x 32) times rows of `values`.
__device__ void add_weighted(float (*sums)[4], const float (*weights)[4],
                             const __nv_bfloat16* values, int lane) {
  for (int step = 0; step < 2; ++step) {
    const float(*w)[4] = weights + 2 * step;
    const unsigned a[4] = {packed(w[0][0], w[0][1]), packed(w[0][2], w[0][3]),
                           packed(w[1][0], w[1][1]), packed(w[1][2], w[1][3])};
    unsigned b[2];
    for (int n = 0; n < 4; ++n) {
      load_2_turned(b, values + (step * 16 + lane % 16) * apart + n * 8);
      multiply_bf16(sums[n], a, b);
    }
  }
}
extern "C" __global__ void __launch_bounds__(128)
    attention(__nv_bfloat16* out, const __nv_bfloat16* q, const __nv_bfloat16* k,
              const __nv_bfloat16* v, int times, float scale) {
  __shared__ __align__(16) __nv_bfloat16 queries[64 * apart], keys[32 * apart], values[32 * apart];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = blockIdx.x * 64;
  const int head = blockIdx.y * times * width;
  fetch_rows(queries, q + head, 64, first, times);
  float sums[4][4] = {}, most[2] = {-1e30f, -1e30f}, total[2] = {};
  for (int from = 0; from < min(times, first + 64); from += 32) {
    fetch_rows(keys, k + head, 32, from, times);
    fetch_rows(values, v + head, 32, from, times);
    close_group();
    wait_for_groups<0>();
    __syncthreads();
    float scores[4][4] = {};
    for (int step = 0; step < width; step += 16) {
      unsigned a[4], b[2];
      load_4(a, queries + (warp * 16 + lane % 16) * apart + step + lane / 16 * 8);
      for (int n = 0; n < 4; ++n) {
        load_2(b, keys + (n * 8 + lane % 8) * apart + step + lane / 8 % 2 * 8);
        multiply_bf16(scores[n], a, b);
      }
    }
    float before[2] = {most[0], most[1]};
    for (int n = 0; n < 4; ++n)
      for (int j = 0; j < 4; ++j) {
        const int key = from + n * 8 + lane % 4 * 2 + j % 2;
        const int query = first + warp * 16 + lane / 4 + j / 2 * 8;
        scores[n][j] = key <= query ? scores[n][j] * scale : -1e30f;
        most[j / 2] = fmaxf(most[j / 2], scores[n][j]);
      }
    for (int half = 0; half < 2; ++half) {
      most[half] = fmaxf(most[half], __shfl_xor_sync(~0u, most[half], 1));
      most[half] = fmaxf(most[half], __shfl_xor_sync(~0u, most[half], 2));
      const float shrink = exp2f(before[half] - most[half]);
      total[half] *= shrink;
      for (int n = 0; n < 4; ++n) sums[n][2 * half] *= shrink, sums[n][2 * half + 1] *= shrink;
    }
    for (int n = 0; n < 4; ++n)
      for (int j = 0; j < 4; ++j) total[j / 2] += scores[n][j] = exp2f(scores[n][j] - most[j / 2]);
    add_weighted(sums, scores, values, lane);
    __syncthreads();
  }
  for (int half = 0; half < 2; ++half) {
    total[half] += __shfl_xor_sync(~0u, total[half], 1);
    total[half] += __shfl_xor_sync(~0u, total[half], 2);
    const int query = first + warp * 16 + lane / 4 + half * 8;
    if (query >= times) continue;
    for (int n = 0; n < 4; ++n)
      *reinterpret_cast<unsigned*>(out + head + query * width + n * 8 + lane % 4 * 2) =
          packed(sums[n][2 * half] / total[half], sums[n][2 * half + 1] / total[half]);
  }
}

// C = A B' of f16 with rows of `k`: blocks of 32 x 32 by 4 warps, tiles of 32, three of each there.
extern "C" __global__ void __launch_bounds__(128)
    pipelined(float* c, const __half* a, const __half* b, int m, int n, int k) {
  extern __shared__ __align__(16) __half memory[];
  constexpr int tile = 32 * 40;
  __half *left = memory, *right = memory + 3 * tile;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row = blockIdx.y * 32, column = blockIdx.x * 32;
  const auto fetch_tile = [&](int number) {
    const int i = threadIdx.x / 4, at = threadIdx.x % 4 * 8, from = number * 32 + at;
    __half* to = left + number % 3 * tile + i * 40 + at;
    if (number * 32 < k) {
      fetch(to, a + (row + i < m ? (row + i) * k + from : 0), row + i < m);
      fetch(to + 3 * tile, b + (column + i < n ? (column + i) * k + from : 0), column + i < n);
    }
    close_group();
  };
  fetch_tile(0);
  fetch_tile(1);
  float sums[2][4] = {};
  for (int number = 0; number * 32 < k; ++number) {
    fetch_tile(number + 2);
    wait_for_groups<2>();
    __syncthreads();
    const __half *x = left + number % 3 * tile, *y = right + number % 3 * tile;
    for (int step = 0; step < 32; step += 16) {
      unsigned p[4], q[2];
      load_4(p, x + (warp / 2 * 16 + lane % 16) * 40 + step + lane / 16 * 8);
      for (int half = 0; half < 2; ++half) {
        const int first = warp % 2 * 16 + half * 8;
        load_2(q, y + (first + lane % 8) * 40 + step + lane / 8 % 2 * 8);
        multiply_f16(sums[half], p, q);
      }
    }
    __syncthreads();
  }
  for (int half = 0; half < 2; ++half)
    for (int j = 0; j < 4; ++j) {
      const int r = row + warp / 2 * 16 + lane / 4 + j / 2 * 8;
      const int s = column + warp % 2 * 16 + half * 8 + lane % 4 * 2 + j % 2;
      if (r < m && s < n) c[r * n + s] = sums[half][j];
    }
}
// Words of four bytes, waited for all at once.
extern "C" __global__ void small_copies(float* out, const float* a) {
  __shared__ float row[128];
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at_shared(row + threadIdx.x)),
               "l"(a + threadIdx.x)
               : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  out[threadIdx.x] = row[127 - threadIdx.x];
}
