// Products by <mma.h>: D = A B + C of one warp, whose matrices are parts of larger ones.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

namespace wmma = nvcuda::wmma;

template <int m, int n, int k, class T, class OrderA, class OrderB, class Sum, class Memory>
__device__ void product(const Memory* a, const Memory* b, const Sum* c, Sum* d, int stride_a,
                        int stride_b, int stride_c) {
  wmma::fragment<wmma::matrix_a, m, n, k, T, OrderA> x;
  wmma::fragment<wmma::matrix_b, m, n, k, T, OrderB> y;
  wmma::fragment<wmma::accumulator, m, n, k, Sum> sums;
  wmma::load_matrix_sync(x, a, stride_a);
  wmma::load_matrix_sync(y, b, stride_b);
  wmma::load_matrix_sync(sums, c, stride_c, wmma::mem_row_major);
  for (int i = 0; i < sums.num_elements; ++i) sums.x[i] = sums.x[i] + sums.x[i];
  wmma::mma_sync(sums, x, y, sums);
  wmma::store_matrix_sync(d, sums, stride_c, wmma::mem_row_major);
}

#define PRODUCT(name, m, n, k, T, order_a, order_b, Sum, Memory)                                 \
  extern "C" __global__ void name(const Memory* a, const Memory* b, const Sum* c, Sum* d,        \
                                  int stride_a, int stride_b, int stride_c) {                    \
    product<m, n, k, T, wmma::order_a, wmma::order_b>(a, b, c, d, stride_a, stride_b, stride_c); \
  }

PRODUCT(half_16_16, 16, 16, 16, __half, row_major, col_major, float, __half)
PRODUCT(half_8_32, 8, 32, 16, __half, col_major, row_major, float, __half)
PRODUCT(half_32_8, 32, 8, 16, __half, row_major, row_major, float, __half)
PRODUCT(brain_16_16, 16, 16, 16, __nv_bfloat16, col_major, col_major, float, __nv_bfloat16)
PRODUCT(brain_8_32, 8, 32, 16, __nv_bfloat16, row_major, col_major, float, __nv_bfloat16)
PRODUCT(brain_32_8, 32, 8, 16, __nv_bfloat16, row_major, row_major, float, __nv_bfloat16)
PRODUCT(bytes_16_16, 16, 16, 16, signed char, row_major, col_major, int, signed char)
PRODUCT(bytes_32_8, 32, 8, 16, unsigned char, col_major, row_major, int, unsigned char)
PRODUCT(single_16_16, 16, 16, 8, wmma::precision::tf32, row_major, col_major, float, float)
PRODUCT(double_8_8, 8, 8, 4, double, row_major, col_major, double, double)

// Sums of f16, and matrices in shared memory with padded rows.
extern "C" __global__ void half_sums(const __half* a, const __half* b, __half* d) {
  __shared__ __align__(32) __half rows_a[16 * 24], rows_b[16 * 24], sums[16 * 24];
  for (int i = threadIdx.x; i < 256; i += 32) {
    rows_a[i / 16 * 24 + i % 16] = a[i];
    rows_b[i / 16 * 24 + i % 16] = b[i];
  }
  __syncwarp();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> y;
  wmma::fragment<wmma::accumulator, 16, 16, 16, __half> z;
  wmma::fill_fragment(z, __float2half(1.0f));
  wmma::load_matrix_sync(x, rows_a, 24);
  wmma::load_matrix_sync(y, rows_b, 24);
  wmma::mma_sync(z, x, y, z);
  wmma::store_matrix_sync(sums, z, 24, wmma::mem_col_major);
  __syncwarp();
  for (int i = threadIdx.x; i < 256; i += 32) d[i] = sums[i / 16 * 24 + i % 16];
}
