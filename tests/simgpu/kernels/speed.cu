// Simple kernels, which show how fast the simulation is.

__device__ int place() { return blockIdx.x * blockDim.x + threadIdx.x; }

extern "C" __global__ void polynomial(float* out, int times) {
  const float x = place() * 1e-6f;
  float y = 1;
  for (int k = 0; k < times; ++k) y = fmaf(fmaf(fmaf(y, x, 0.5f), x, 0.25f), x, -0.125f);
  out[place()] = y;
}
extern "C" __global__ void hash(unsigned* out, int times) {
  unsigned h = place();
  for (int k = 0; k < times; ++k) {
    h = (h ^ h >> 16) * 0x7feb352du;
    h = (h ^ h >> 15) * 0x846ca68bu + k;
  }
  out[place()] = h;
}
extern "C" __global__ void axpy(float* y, const float* x, float a, int count) {
  for (int i = place(); i < count; i += gridDim.x * blockDim.x) y[i] = fmaf(a, x[i], y[i]);
}
// By blocks of 256.
extern "C" __global__ void row_sums(float* out, const float* in, int rows) {
  __shared__ float parts[256];
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    parts[threadIdx.x] = in[row * 256 + threadIdx.x];
    for (int apart = 128; apart > 0; apart /= 2) {
      __syncthreads();
      if (threadIdx.x < apart) parts[threadIdx.x] += parts[threadIdx.x + apart];
    }
    if (threadIdx.x == 0) out[row] = parts[0];
    __syncthreads();
  }
}
