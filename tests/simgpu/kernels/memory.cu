// Where data lies: shared memory, static and dynamic, local arrays, constants and variables of the
// module, structures of parameters; and loops over what lies next to each other.

#include <cuda_bf16.h>

__device__ int place() { return blockIdx.x * blockDim.x + threadIdx.x; }

extern "C" __global__ void reversed(double* out, const double* a) {
  __shared__ double tile[96];
  tile[threadIdx.x] = a[place()];
  __syncthreads();
  out[place()] = tile[blockDim.x - 1 - threadIdx.x];
}
// Two arrays in dynamic shared memory, the second behind the first.
extern "C" __global__ void interleaved(int* out, const int* a, const short* b, int n) {
  extern __shared__ int whole[];
  short* halves = reinterpret_cast<short*>(whole + n);
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    whole[i] = a[i];
    halves[n - 1 - i] = b[i];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = whole[n - 1 - i] * halves[i];
}
// 32 x 33, so that columns lie in different banks.
template <class T>
__device__ void transpose(T* out, const T* a, int rows, int columns) {
  __shared__ T tile[32][33];
  int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += blockDim.y)
    if (row + k < rows && column < columns)
      tile[threadIdx.y + k][threadIdx.x] = a[(row + k) * columns + column];
  __syncthreads();
  column = blockIdx.y * 32 + threadIdx.x;
  row = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += blockDim.y)
    if (row + k < columns && column < rows)
      out[(row + k) * rows + column] = tile[threadIdx.x][threadIdx.y + k];
}
extern "C" __global__ void transposed_f32(float* out, const float* a, int rows, int columns) {
  transpose(out, a, rows, columns);
}
extern "C" __global__ void transposed_u8(unsigned char* out, const unsigned char* a, int rows,
                                         int columns) {
  transpose(out, a, rows, columns);
}
// The k greatest of a row, in a local array that insertion keeps in order.
extern "C" __global__ void greatest(float* out, int* places, const float* a, int columns, int k) {
  float values[8];
  int at[8];
  for (int i = 0; i < 8; ++i) values[i] = -3e38f, at[i] = -1;
  const float* row = a + place() * columns;
  for (int i = 0; i < columns; ++i) {
    int rank = k - 1;
    if (row[i] <= values[rank]) continue;
    for (; rank > 0 && values[rank - 1] < row[i]; --rank) {
      values[rank] = values[rank - 1];
      at[rank] = at[rank - 1];
    }
    values[rank] = row[i];
    at[rank] = i;
  }
  for (int i = 0; i < k; ++i) out[place() * k + i] = values[i], places[place() * k + i] = at[i];
}
// A permutation of a local array, twice.
extern "C" __global__ void permuted(int* out, const int* order) {
  int values[16], turned[16];
  for (int i = 0; i < 16; ++i) values[i] = place() * 100 + i;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 16; ++i) turned[order[(place() + i) & 15]] = values[i];
    for (int i = 0; i < 16; ++i) values[i] = turned[i];
  }
  for (int i = 0; i < 16; ++i) out[16 * place() + i] = values[i];
}

__constant__ float weights[8] = {1, -2, 3, -4, 5, -6, 7, -8};
__constant__ struct {
  short first;
  double second;
} mixture = {-7, 0.5};
__device__ int counter = 100;
__device__ int squares[4][4] = {{0, 1, 4, 9}, {16, 25}, {64}};
extern "C" __global__ void constants(double* out) {
  const int i = place();
  out[i] = weights[i & 7] * mixture.second + mixture.first + squares[i & 3][i >> 2 & 3];
}
extern "C" __global__ void counted(int* out, int calls) {
  for (int k = 0; k < calls; ++k) atomicAdd(&counter, 1);
  __syncthreads();
  if (threadIdx.x == 0) *out = counter - 100;
  if (threadIdx.x == 0) counter = 100;
}
// What has been found out of 256 values, counted in shared memory first.
extern "C" __global__ void histogram(unsigned* out, const unsigned char* a, int n) {
  __shared__ unsigned bins[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  for (int i = place(); i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[a[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    if (bins[i] != 0) atomicAdd(&out[i], bins[i]);
}
struct Slices {
  float* slices[4];
  int sizes[4];
};
extern "C" __global__ void scaled_slices(float* out, const __grid_constant__ Slices all,
                                         float scale) {
  float* slice = all.slices[blockIdx.y];
  for (int i = place(); i < all.sizes[blockIdx.y]; i += gridDim.x * blockDim.x)
    out[slice - all.slices[0] + i] = slice[i] * scale;
}
struct Tail {
  char head;
  long long numbers[3];
  short tail;
};
extern "C" __global__ void changed_parameters(long long* out, Tail given, char more) {
  given.numbers[threadIdx.x % 3] += given.tail + more;
  given.head ^= threadIdx.x;
  for (int k = 0; k < 3; ++k) out[4 * threadIdx.x + k] = given.numbers[k];
  out[4 * threadIdx.x + 3] = given.head;
}
// Sums over five neighbours, the ones beyond the block with it.
extern "C" __global__ void stencil(float* out, const float* a, int n) {
  __shared__ float tile[96 + 4];
  const int i = place(), at = threadIdx.x + 2;
  tile[at] = i < n ? a[i] : 0;
  if (threadIdx.x < 2) {
    tile[threadIdx.x] = i >= 2 ? a[i - 2] : 0;
    const int right = i + blockDim.x;
    tile[at + blockDim.x] = right < n ? a[right] : 0;
  }
  __syncthreads();
  if (i >= n) return;
  float sum = 0;
  for (int k = -2; k <= 2; ++k) sum += weights[k + 2] * tile[at + k];
  out[i] = sum;
}
extern "C" __global__ void product(float* out, const float* a, const float* b, int m, int n,
                                   int k) {
  __shared__ float left[16][16], right[16][17];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0;
  for (int from = 0; from < k; from += 16) {
    left[y][x] = row < m && from + x < k ? a[row * k + from + x] : 0;
    right[y][x] = from + y < k && column < n ? b[(from + y) * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += left[y][i] * right[i][x];
    __syncthreads();
  }
  if (row < m && column < n) out[row * n + column] = sum;
}
extern "C" __global__ void convolution(float* out, const float* a, const float* w, int channels,
                                       int height, int width, int filters, int size) {
  const int i = place(), x = i % width, y = i / width % height;
  const int filter = i / (width * height) % filters, image = i / (width * height * filters);
  float sum = 0;
  for (int c = 0; c < channels; ++c)
    for (int r = 0; r < size; ++r)
      for (int q = 0; q < size; ++q) {
        const int from_y = y + r - size / 2, from_x = x + q - size / 2;
        if (from_y < 0 || from_y >= height || from_x < 0 || from_x >= width) continue;
        sum = fmaf(a[((image * channels + c) * height + from_y) * width + from_x],
                   w[((filter * channels + c) * size + r) * size + q], sum);
      }
  out[i] = sum;
}
extern "C" __global__ void pooled(float* out, int* places, const float* a, int width) {
  const int i = place(), x = i % (width / 2), y = i / (width / 2);
  float most = -3e38f;
  int at = -1;
  for (int k = 0; k < 4; ++k) {
    const int j = (2 * y + k / 2) * width + 2 * x + k % 2;
    if (a[j] > most) most = a[j], at = j;
  }
  out[i] = most;
  places[i] = at;
}
extern "C" __global__ void embedding_gradient(float* out, const __nv_bfloat16* gradient,
                                              const long long* rows, int columns, int n) {
  const int i = place();
  if (i < n)
    atomicAdd(out + rows[i / columns] * columns + i % columns, __bfloat162float(gradient[i]));
}
extern "C" __global__ void rotated(__nv_bfloat162* out, const __nv_bfloat162* q,
                                   const float* cosines, const float* sines, int heads, int half,
                                   int times) {
  const int i = place(), d = i % half, t = i / half / heads % times;
  const float2 v = __bfloat1622float2(q[i]);
  const float c = cosines[t * half + d], s = sines[t * half + d];
  out[i] = __floats2bfloat162_rn(v.x * c - v.y * s, v.x * s + v.y * c);
}
// A step of Adam with weight decay, gradients and a copy of the weights in bf16.
extern "C" __global__ void adam(float* weight, float* first, float* second, __nv_bfloat16* copy,
                                const __nv_bfloat16* gradient, float rate, float decay, float c1,
                                float c2, int n) {
  const int i = place();
  if (i >= n) return;
  const float g = __bfloat162float(gradient[i]);
  const float m = first[i] = 0.9f * first[i] + 0.1f * g;
  const float v = second[i] = 0.99f * second[i] + 0.01f * g * g;
  const float w = weight[i] - rate * (m / c1 / (sqrtf(v / c2) + 1e-8f) + decay * weight[i]);
  weight[i] = w;
  copy[i] = __float2bfloat16(w);
}
