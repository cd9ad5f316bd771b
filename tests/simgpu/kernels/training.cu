// A step of training of two layers: rectified, then softmax with cross entropy; Adam. Rows are
// samples. One thread for each result, but for the mean.

__device__ int place() { return blockIdx.x * blockDim.x + threadIdx.x; }

extern "C" __global__ void layer(float* out, const float* in, const float* weight,
                                 const float* bias, int rows, int inputs, int outputs,
                                 int rectified) {
  const int row = place() / outputs, column = place() % outputs;
  if (row >= rows) return;
  float sum = bias[column];
  for (int k = 0; k < inputs; ++k) sum += in[row * inputs + k] * weight[k * outputs + column];
  out[place()] = rectified ? fmaxf(sum, 0) : sum;
}
// What a row costs, and the gradient of the mean.
extern "C" __global__ void cross_entropy(float* losses, float* gradient, const float* logits,
                                         const int* targets, int rows, int classes) {
  const int row = place();
  if (row >= rows) return;
  const float* own = logits + row * classes;
  float most = own[0], sum = 0;
  for (int k = 1; k < classes; ++k) most = fmaxf(most, own[k]);
  for (int k = 0; k < classes; ++k) sum += expf(own[k] - most);
  losses[row] = logf(sum) + most - own[targets[row]];
  for (int k = 0; k < classes; ++k)
    gradient[row * classes + k] = (expf(own[k] - most) / sum - (k == targets[row])) / rows;
}
// By one warp.
extern "C" __global__ void mean(float* out, const float* values, int count) {
  float sum = 0;
  for (int i = threadIdx.x; i < count; i += 32) sum += values[i];
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(~0u, sum, apart);
  if (threadIdx.x == 0) *out = sum / count;
}
// The rows of the weight, and below them that of the bias.
extern "C" __global__ void weight_gradient(float* out, const float* in, const float* gradient,
                                           int rows, int inputs, int outputs) {
  const int k = place() / outputs, column = place() % outputs;
  if (k > inputs) return;
  float sum = 0;
  for (int row = 0; row < rows; ++row)
    sum += (k < inputs ? in[row * inputs + k] : 1) * gradient[row * outputs + column];
  out[place()] = sum;
}
// Of what the rectified layer gave.
extern "C" __global__ void input_gradient(float* out, const float* gradient, const float* weight,
                                          const float* given, int rows, int inputs, int outputs) {
  const int row = place() / inputs, k = place() % inputs;
  if (row >= rows) return;
  float sum = 0;
  for (int j = 0; j < outputs; ++j) sum += gradient[row * outputs + j] * weight[k * outputs + j];
  out[place()] = given[place()] > 0 ? sum : 0;
}
extern "C" __global__ void adam(float* weight, float* first, float* second, const float* gradient,
                                int count, float rate, int step) {
  const int i = place();
  if (i >= count) return;
  const float g = gradient[i];
  const float m = first[i] = 0.9f * first[i] + 0.1f * g;
  const float v = second[i] = 0.99f * second[i] + 0.01f * g * g;
  const float corrected = m / (1 - powf(0.9f, step));
  weight[i] -= rate * corrected / (sqrtf(v / (1 - powf(0.99f, step))) + 1e-8f);
}
