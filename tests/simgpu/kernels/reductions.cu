// Many threads, one result: sums and extremes, scans, norms, sorting, and atomics of every type.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ int place() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ int lane() { return threadIdx.x & 31; }
__device__ int warp() { return threadIdx.x >> 5; }

extern "C" __global__ void tree_sum(int* out, const int* a) {
  extern __shared__ int sums[];
  sums[threadIdx.x] = a[place()];
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}
template <class T, class F>
__device__ T over_warp(T value, F combine) {
  for (int apart = 16; apart > 0; apart /= 2)
    value = combine(value, __shfl_xor_sync(~0u, value, apart));
  return value;
}
// Of a block with whole warps: every thread has it.
template <class T, class F>
__device__ T over_block(T value, F combine) {
  __shared__ T parts[32];
  value = over_warp(value, combine);
  __syncthreads();
  if (lane() == 0) parts[warp()] = value;
  __syncthreads();
  value = parts[0];
  for (int k = 1; k < blockDim.x / 32; ++k) value = combine(value, parts[k]);
  return value;
}
extern "C" __global__ void shuffled_sum(double* out, const double* a, int n) {
  double sum = 0;
  for (int i = place(); i < n; i += gridDim.x * blockDim.x) sum += a[i];
  sum = over_warp(sum, [](double x, double y) { return x + y; });
  if (lane() == 0) atomicAdd(out, sum);
}
extern "C" __global__ void row_extremes(float* out, const float* a, int columns) {
  float least = 3e38f, most = -3e38f;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    least = fminf(least, a[blockIdx.x * columns + i]);
    most = fmaxf(most, a[blockIdx.x * columns + i]);
  }
  least = over_block(least, [](float x, float y) { return fminf(x, y); });
  most = over_block(most, [](float x, float y) { return fmaxf(x, y); });
  if (threadIdx.x == 0) out[2 * blockIdx.x] = least, out[2 * blockIdx.x + 1] = most;
}
extern "C" __global__ void reduced_by_sync(unsigned* out, const unsigned* a) {
  const unsigned v = a[place()];
  unsigned* to = out + 8 * (place() / 32);
  const unsigned results[] = {__reduce_add_sync(~0u, v),
                              __reduce_min_sync(~0u, v),
                              __reduce_max_sync(~0u, v),
                              __reduce_and_sync(~0u, v | 15u),
                              __reduce_or_sync(~0u, v & 0xff00u),
                              __reduce_xor_sync(~0u, v),
                              (unsigned)__reduce_min_sync(~0u, (int)v),
                              (unsigned)__reduce_max_sync(~0u, (int)v)};
  if (lane() < 8) to[lane()] = results[lane()];
}
// The block that comes last adds up what the others have.
extern "C" __global__ void last_block(float* out, float* parts, unsigned* arrived, const float* a,
                                      int n) {
  __shared__ bool is_last;
  float sum = 0;
  for (int i = place(); i < n; i += gridDim.x * blockDim.x) sum += a[i];
  sum = over_block(sum, [](float x, float y) { return x + y; });
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = sum;
    __threadfence();
    is_last = atomicAdd(arrived, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  sum = threadIdx.x < gridDim.x ? parts[threadIdx.x] : 0;
  sum = over_block(sum, [](float x, float y) { return x + y; });
  if (threadIdx.x == 0) *out = sum;
}
extern "C" __global__ void row_argmax(long long* out, const float* a, int columns) {
  float most = -3e38f;
  int at = columns;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    if (a[blockIdx.x * columns + i] > most) most = a[blockIdx.x * columns + i], at = i;
  for (int apart = 16; apart > 0; apart /= 2) {
    const float other = __shfl_down_sync(~0u, most, apart);
    const int there = __shfl_down_sync(~0u, at, apart);
    if (other > most || (other == most && there < at)) most = other, at = there;
  }
  if (threadIdx.x == 0) out[blockIdx.x] = at;
}
// The greatest number and its place in one word of 64 bits.
extern "C" __global__ void atomic_argmax(unsigned long long* out, const float* a, int n) {
  const int i = place();
  if (i >= n) return;
  unsigned word = __float_as_uint(a[i]);
  word = word & 0x80000000u ? ~word : word | 0x80000000u;
  atomicMax(out, (unsigned long long)word << 32 | (unsigned)~i);
}
struct Moments {
  float count, mean, squares;
};
__device__ Moments merged(Moments a, Moments b) {
  const float count = a.count + b.count, apart = b.mean - a.mean;
  if (count == 0) return a;
  return {count, a.mean + apart * b.count / count,
          a.squares + b.squares + apart * apart * a.count * b.count / count};
}
extern "C" __global__ void layer_norm(float* out, const float* a, const float* gain,
                                      const float* bias, int columns, float epsilon) {
  __shared__ Moments parts[32];
  const float* row = a + blockIdx.x * columns;
  Moments m = {0, 0, 0};
  for (int i = threadIdx.x; i < columns; i += blockDim.x) m = merged(m, {1, row[i], 0});
  for (int apart = 16; apart > 0; apart /= 2)
    m = merged(m, {__shfl_xor_sync(~0u, m.count, apart), __shfl_xor_sync(~0u, m.mean, apart),
                   __shfl_xor_sync(~0u, m.squares, apart)});
  if (lane() == 0) parts[warp()] = m;
  __syncthreads();
  m = parts[0];
  for (int k = 1; k < blockDim.x / 32; ++k) m = merged(m, parts[k]);
  const float scale = rsqrtf(m.squares / columns + epsilon);
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    out[blockIdx.x * columns + i] = (row[i] - m.mean) * scale * gain[i] + bias[i];
}
extern "C" __global__ void rms_norm(__nv_bfloat16* out, const __nv_bfloat162* a,
                                    const __nv_bfloat162* gain, int columns, float epsilon) {
  const __nv_bfloat162* row = a + blockIdx.x * (columns / 2);
  float sum = 0;
  for (int i = threadIdx.x; i < columns / 2; i += blockDim.x) {
    const float2 v = __bfloat1622float2(row[i]);
    sum += v.x * v.x + v.y * v.y;
  }
  sum = over_block(sum, [](float x, float y) { return x + y; });
  const float scale = rsqrtf(sum / columns + epsilon);
  __nv_bfloat162* to = reinterpret_cast<__nv_bfloat162*>(out) + blockIdx.x * (columns / 2);
  for (int i = threadIdx.x; i < columns / 2; i += blockDim.x) {
    const float2 v = __bfloat1622float2(row[i]), g = __bfloat1622float2(gain[i]);
    to[i] = __floats2bfloat162_rn(v.x * scale * g.x, v.y * scale * g.y);
  }
}
extern "C" __global__ void softmax(float* out, const float* a, int columns, float scale) {
  extern __shared__ float row[];
  float most = -3e38f, sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    row[i] = a[blockIdx.x * columns + i] * scale;
    most = fmaxf(most, row[i]);
  }
  most = over_block(most, [](float x, float y) { return fmaxf(x, y); });
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += row[i] = __expf(row[i] - most);
  sum = over_block(sum, [](float x, float y) { return x + y; });
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    out[blockIdx.x * columns + i] = row[i] / sum;
}
// Loss and gradient in one pass of running maxima; a target may say that it does not count.
extern "C" __global__ void cross_entropy(float* out, const float* a, const long long* targets,
                                         int columns) {
  const float* row = a + blockIdx.x * columns;
  float most = -3e38f, sum = 0;
  const auto join = [&](float other_most, float other_sum) {
    const float both = fmaxf(most, other_most);
    sum = sum * __expf(most - both) + other_sum * __expf(other_most - both);
    most = both;
  };
  for (int i = threadIdx.x; i < columns; i += 32) join(row[i], 1);
  for (int apart = 16; apart > 0; apart /= 2)
    join(__shfl_xor_sync(~0u, most, apart), __shfl_xor_sync(~0u, sum, apart));
  const float total = most + logf(sum);
  const long long target = targets[blockIdx.x];
  float* to = out + blockIdx.x * (columns + 1);
  if (threadIdx.x == 0) to[columns] = target < 0 ? 0 : total - row[target];
  for (int i = threadIdx.x; i < columns; i += 32)
    to[i] = target < 0 ? 0 : __expf(row[i] - total) - (i == target);
}
__device__ int scanned(int value) {
  for (int apart = 1; apart < 32; apart *= 2) {
    const int left = __shfl_up_sync(~0u, value, apart);
    if (lane() >= apart) value += left;
  }
  return value;
}
extern "C" __global__ void block_scan(int* out, const int* a) {
  __shared__ int totals[32];
  int value = scanned(a[place()]);
  if (lane() == 31) totals[warp()] = value;
  __syncthreads();
  if (warp() == 0) totals[lane()] = scanned(lane() < blockDim.x / 32 ? totals[lane()] : 0);
  __syncthreads();
  if (warp() > 0) value += totals[warp() - 1];
  out[place()] = value;
}
// Sums that begin anew where a flag is.
extern "C" __global__ void segmented_scan(int* out, const int* a, const bool* starts) {
  int value = a[place()], start = starts[place()];
  for (int apart = 1; apart < 32; apart *= 2) {
    const int left = __shfl_up_sync(~0u, value, apart), flag = __shfl_up_sync(~0u, start, apart);
    if (lane() < apart) continue;
    if (!start) value += left;
    start |= flag;
  }
  out[place()] = value;
}
// What is positive, in order: places by ballots and counts of the warps before.
extern "C" __global__ void compacted(int* out, const int* a) {
  __shared__ int before[33];
  const int value = a[threadIdx.x];
  const unsigned kept = __ballot_sync(~0u, value > 0);
  if (lane() == 0) before[warp() + 1] = __popc(kept);
  if (threadIdx.x == 0) before[0] = 0;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int k = 0; k < blockDim.x / 32; ++k) before[k + 1] += before[k];
  __syncthreads();
  if (value > 0) out[1 + before[warp()] + __popc(kept & ((1u << lane()) - 1))] = value;
  if (threadIdx.x == 0) out[0] = before[blockDim.x / 32];
}
// One atomic for all lanes with the same key.
extern "C" __global__ void matched_histogram(int* out, const int* keys) {
  const int key = keys[place()];
  const unsigned same = __match_any_sync(~0u, key);
  if (lane() == __ffs(same) - 1) atomicAdd(&out[key], __popc(same));
}
extern "C" __global__ void barriers(int* out) {
  const int t = threadIdx.x;
  int value = __syncthreads_count(t % 3 == 0) + 1000 * __syncthreads_or(t == 77) +
              2000 * __syncthreads_and(t < 77);
  __shared__ int box[2];
  // Warps 0 and 1 meet at a barrier of their own; warp 2 tells them that it was there.
  if (warp() == 2) {
    if (lane() == 0) box[0] = 40000;
    __threadfence_block();
    asm volatile("bar.arrive 1, 96;" ::: "memory");
  } else if (warp() < 2) {
    asm volatile("bar.sync 1, 96;" ::: "memory");
    value += box[0];
  }
  __syncthreads();
  out[t] = value;
}
extern "C" __global__ void bitonic_sort(unsigned* out, const unsigned* a) {
  __shared__ unsigned keys[256];
  const int t = threadIdx.x;
  keys[t] = a[blockIdx.x * 256 + t];
  for (int size = 2; size <= 256; size *= 2)
    for (int apart = size / 2; apart > 0; apart /= 2) {
      __syncthreads();
      const int other = t ^ apart;
      if (other < t) continue;
      const bool rising = (t & size) == 0;
      if ((keys[t] > keys[other]) == rising) {
        const unsigned kept = keys[t];
        keys[t] = keys[other];
        keys[other] = kept;
      }
    }
  __syncthreads();
  out[blockIdx.x * 256 + t] = keys[t];
}
// By the lowest bit of each key, order kept: a pass of a radix sort.
extern "C" __global__ void radix_split(unsigned* out, const unsigned* a) {
  const unsigned key = a[place()], ones = __ballot_sync(~0u, key & 1);
  const unsigned before = (1u << lane()) - 1, zeros = 32 - __popc(ones);
  const int to = key & 1 ? zeros + __popc(ones & before) : __popc(~ones & before);
  out[place() - lane() + to] = key;
}

extern "C" __global__ void atomic_words(unsigned* out, unsigned* old, const unsigned* a) {
  const unsigned v = a[place()];
  atomicAdd(out, v), atomicSub(out + 1, v), atomicMin(out + 2, v), atomicMax(out + 3, v);
  atomicAnd(out + 4, v | 0xff), atomicOr(out + 5, v & 0xff00), atomicXor(out + 6, v);
  atomicInc(out + 7, 99), atomicDec(out + 8, 99);
  atomicMin((int*)out + 9, (int)v), atomicMax((int*)out + 10, (int)v);
  old[place()] = atomicExch(out + 11, v);
}
extern "C" __global__ void atomic_longs(unsigned long long* out, const unsigned long long* a) {
  const unsigned long long v = a[place()];
  atomicAdd(out, v), atomicMin(out + 1, v), atomicMax(out + 2, v);
  atomicAnd(out + 3, v | 0xff), atomicOr(out + 4, v & 0xff00), atomicXor(out + 5, v);
  atomicMin((long long*)out + 6, (long long)v), atomicMax((long long*)out + 7, (long long)v);
}
extern "C" __global__ void atomic_floats(float* singles, double* doubles, __half* halves,
                                         __nv_bfloat16* brains, __half2* pairs, int n) {
  if (place() >= n) return;
  atomicAdd(singles, 0.5f), atomicAdd(doubles, -0.25), atomicAdd(halves, __float2half(0.125f));
  atomicAdd(brains, __float2bfloat16(1));
  atomicAdd(pairs, __halves2half2(__float2half(1), __float2half(-2)));
}
// What has no atomic of its own, by compare and swap.
extern "C" __global__ void swapped(float* out, unsigned short* half, const float* a) {
  const float value = a[place()];
  unsigned* word = reinterpret_cast<unsigned*>(out);
  unsigned seen = *(volatile unsigned*)word;
  while (__uint_as_float(seen) < value) {
    const unsigned found = atomicCAS(word, seen, __float_as_uint(value));
    if (found == seen) break;
    seen = found;
  }
  unsigned short known = *(volatile unsigned short*)half;
  while (true) {
    const unsigned short found = atomicCAS(half, known, (unsigned short)(known + 3));
    if (found == known) break;
    known = found;
  }
}
extern "C" __global__ void shared_atomics(int* out, const int* a) {
  __shared__ int words[8];
  __shared__ float number;
  if (threadIdx.x < 8) words[threadIdx.x] = threadIdx.x == 2 ? 1000 : 0;
  if (threadIdx.x == 0) number = 0;
  __syncthreads();
  const int v = a[place()];
  atomicAdd(words, v), atomicMax(words + 1, v), atomicMin(words + 2, v);
  atomicOr(words + 3, 1 << (v & 31)), atomicAdd(&number, 0.5f);
  __syncthreads();
  if (threadIdx.x < 4) out[5 * blockIdx.x + threadIdx.x] = words[threadIdx.x];
  if (threadIdx.x == 4) out[5 * blockIdx.x + 4] = (int)(2 * number);
}
