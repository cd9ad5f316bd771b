// Matrices by mma.sync, from shared memory by ldmatrix: C = A B + C, a tile of 16 x 8 for each
// warp. A is M x K, row after row; B is N x K, so that a column lies together.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ unsigned at_shared(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

// K steps of 16; rows of 24 elements in shared memory, so that they lie apart.
template <class T>
__device__ void tile_16(const T* a, const T* b, float* c, int k, bool is_half) {
  __shared__ __align__(16) T rows_a[16 * 24], rows_b[8 * 24];
  const int lane = threadIdx.x;
  a += blockIdx.y * 16 * k;
  b += blockIdx.x * 8 * k;
  float sums[4] = {};
  for (int from = 0; from < k; from += 16) {
    for (int i = lane; i < 16 * 16; i += 32)
      rows_a[i / 16 * 24 + i % 16] = a[i / 16 * k + from + i % 16];
    for (int i = lane; i < 8 * 16; i += 32)
      rows_b[i / 16 * 24 + i % 16] = b[i / 16 * k + from + i % 16];
    __syncthreads();
    unsigned x[4], y[2];
    const unsigned row_a = at_shared(rows_a + lane % 16 * 24 + lane / 16 * 8);
    const unsigned row_b = at_shared(rows_b + lane % 8 * 24 + lane / 8 % 2 * 8);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(row_a));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                 : "=r"(y[0]), "=r"(y[1])
                 : "r"(row_b));
    if (is_half)
      asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
          "{%8,%9}, "
          "{%0,%1,%2,%3};"
          : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
          : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    else
      asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
          "{%8,%9}, {%0,%1,%2,%3};"
          : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
          : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    __syncthreads();
  }
  const int n = gridDim.x * 8;
  for (int i = 0; i < 4; ++i)
    c[(blockIdx.y * 16 + lane / 4 + i / 2 * 8) * n + blockIdx.x * 8 + lane % 4 * 2 + i % 2] +=
        sums[i];
}

extern "C" __global__ void product_bf16(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c,
                                        int k) {
  tile_16(a, b, c, k, false);
}
extern "C" __global__ void product_f16(const __half* a, const __half* b, float* c, int k) {
  tile_16(a, b, c, k, true);
}

// B is K x N here: a transposed load makes columns of its rows. Sums of f16.
extern "C" __global__ void product_rows(const __half* a, const __half* b, __half* c) {
  __shared__ __align__(16) __half rows[16 * 8];
  const int lane = threadIdx.x;
  for (int i = lane; i < 16 * 8; i += 32) rows[i] = b[i];
  __syncthreads();
  unsigned x[4], y[2], sums[2] = {};
  const unsigned* words = (const unsigned*)a;
  for (int i = 0; i < 4; ++i) x[i] = words[(lane / 4 + i % 2 * 8) * 8 + lane % 4 + i / 2 * 4];
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
               : "=r"(y[0]), "=r"(y[1])
               : "r"(at_shared(rows + lane % 16 * 8)));
  asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
      : "+r"(sums[0]), "+r"(sums[1])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  unsigned* to = (unsigned*)c;
  for (int i = 0; i < 2; ++i) to[(lane / 4 + i * 8) * 4 + lane % 4] = sums[i];
}

// 16 x 32 times 32 x 8, of bytes.
extern "C" __global__ void product_s8(const signed char* a, const signed char* b, int* c) {
  const int lane = threadIdx.x, *words_a = (const int*)a, *words_b = (const int*)b;
  int x[4], y[2], sums[4] = {};
  for (int i = 0; i < 4; ++i) x[i] = words_a[(lane / 4 + i % 2 * 8) * 8 + lane % 4 + i / 2 * 4];
  for (int i = 0; i < 2; ++i) y[i] = words_b[lane / 4 * 8 + lane % 4 + i * 4];
  asm("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
      "{%8,%9}, {%0,%1,%2,%3};"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  for (int i = 0; i < 4; ++i) c[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = sums[i];
}

// 8 x 4 times 4 x 8, of doubles.
extern "C" __global__ void product_f64(const double* a, const double* b, double* c) {
  const int lane = threadIdx.x;
  double sums[2] = {};
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
      : "+d"(sums[0]), "+d"(sums[1])
      : "d"(a[lane]), "d"(b[lane]));
  for (int i = 0; i < 2; ++i) c[lane / 4 * 8 + lane % 4 * 2 + i] = sums[i];
}

// 16 x 8 times 8 x 8, of tf32.
extern "C" __global__ void product_tf32(const float* a, const float* b, float* c) {
  const int lane = threadIdx.x;
  unsigned x[4], y[2];
  float sums[4] = {};
  for (int i = 0; i < 4; ++i) {
    const float value = a[(lane / 4 + i % 2 * 8) * 8 + lane % 4 + i / 2 * 4];
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(x[i]) : "f"(value));
  }
  for (int i = 0; i < 2; ++i)
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y[i]) : "f"(b[lane / 4 * 8 + lane % 4 + i * 4]));
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  for (int i = 0; i < 4; ++i) c[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = sums[i];
}

// An 8 x 8 matrix and its transpose, by movmatrix.
extern "C" __global__ void transposed(const unsigned* from, unsigned* to) {
  asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;"
      : "=r"(to[threadIdx.x])
      : "r"(from[threadIdx.x]));
}

// Wrong: a row that begins between two multiples of 16 bytes; one that nobody has written.
extern "C" __global__ void bad_row(unsigned* out, int misaligned) {
  __shared__ __align__(16) unsigned short rows[8 * 8 + 8];
  for (int i = threadIdx.x; i < (misaligned ? 72 : 56); i += 32) rows[i] = i;
  __syncthreads();
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(out[threadIdx.x])
               : "r"(at_shared(rows) + threadIdx.x % 8 * 16 + misaligned * 8));
}

#if __CUDA_ARCH__ >= 900
// 16 x 16 numbers go to shared memory in one step.
extern "C" __global__ void stored(const unsigned* from, unsigned short* to) {
  __shared__ __align__(16) unsigned short rows[16 * 16];
  const int lane = threadIdx.x;
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(
                   at_shared(rows + lane % 16 * 16 + lane / 16 * 8)),
               "r"(from[lane]), "r"(from[32 + lane]), "r"(from[64 + lane]), "r"(from[96 + lane])
               : "memory");
  __syncthreads();
  for (int i = lane; i < 16 * 16; i += 32) to[i] = rows[i];
}

// 16 x 32 times 32 x 8, of e4m3 and e5m2.
extern "C" __global__ void product_f8(const unsigned* a, const unsigned* b, float* c) {
  const int lane = threadIdx.x;
  unsigned x[4], y[2];
  float sums[4] = {};
  for (int i = 0; i < 4; ++i) x[i] = a[(lane / 4 + i % 2 * 8) * 8 + lane % 4 + i / 2 * 4];
  for (int i = 0; i < 2; ++i) y[i] = b[lane / 4 * 8 + lane % 4 + i * 4];
  asm("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  for (int i = 0; i < 4; ++i) c[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = sums[i];
}

// One lane is elected, and writes for all.
extern "C" __global__ void elected(int* out) {
  unsigned is_leader;
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}"
               : "=r"(is_leader));
  if (is_leader) atomicAdd(out, 1);
}
#endif
