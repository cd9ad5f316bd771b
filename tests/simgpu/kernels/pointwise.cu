// One thread, one element: numbers of every type, vectors, predicates, what a cache is told.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ int place() { return blockIdx.x * blockDim.x + threadIdx.x; }

template <class T>
__device__ T mixed(T a, T b, int choice) {
  switch (choice) {
    case 0: return a + b;
    case 1: return a - b;
    case 2: return a * b;
    case 3: return b == 0 ? a : a / b;
    case 4: return b == 0 ? a : a % b;
    case 5: return a & b;
    case 6: return a | ~b;
    case 7: return a ^ b;
    case 8: return a << (b & 7);
    case 9: return a >> (b & 7);
    case 10: return a < b ? a : b;
    default: return a > b ? a - 1 : -b;
  }
}
#define INTEGERS(name, T)                                                             \
  extern "C" __global__ void integers_##name(T* out, const T* a, const T* b, int n) { \
    const int i = place();                                                            \
    if (i < n) out[i] = mixed<T>(a[i], b[i], i % 12);                                 \
  }
INTEGERS(s8, signed char)
INTEGERS(u8, unsigned char)
INTEGERS(s16, short)
INTEGERS(u16, unsigned short)
INTEGERS(s32, int)
INTEGERS(u32, unsigned)
INTEGERS(s64, long long)
INTEGERS(u64, unsigned long long)

__device__ float fused(float a, float b, float c) { return fmaf(a, b, c); }
__device__ double fused(double a, double b, double c) { return fma(a, b, c); }
__device__ __half fused(__half a, __half b, __half c) { return __hfma(a, b, c); }
__device__ __nv_bfloat16 fused(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
  return __hfma(a, b, c);
}
__device__ float least(float a, float b) { return fminf(a, b); }
__device__ double least(double a, double b) { return fmin(a, b); }
__device__ __half least(__half a, __half b) { return __hmin(a, b); }
__device__ __nv_bfloat16 least(__nv_bfloat16 a, __nv_bfloat16 b) { return __hmin(a, b); }

template <class T>
__device__ T blended(T a, T b, T c, int choice) {
  switch (choice) {
    case 0: return a + b;
    case 1: return a - b;
    case 2: return a * b;
    case 3: return a / b;
    case 4: return fused(a, b, c);
    case 5: return least(a, b);
    case 6: return -a;
    case 7: return a < b ? c : a;
    default: return a * b + c;
  }
}
#define FLOATS(name, T)                                                                         \
  extern "C" __global__ void floats_##name(T* out, const T* a, const T* b, const T* c, int n) { \
    for (int i = place(); i < n; i += gridDim.x * blockDim.x)                                   \
      out[i] = blended<T>(a[i], b[i], c[i], i % 9);                                             \
  }
FLOATS(f32, float)
FLOATS(f64, double)
FLOATS(f16, __half)
FLOATS(bf16, __nv_bfloat16)

// Pairs of f16 and bf16, in one register each.
template <class Pair>
__device__ Pair paired(Pair a, Pair b, int choice) {
  switch (choice) {
    case 0: return __hadd2(a, b);
    case 1: return __hsub2(a, b);
    case 2: return __hmul2(a, b);
    case 3: return __hfma2(a, b, a);
    case 4: return __hmax2(a, b);
    case 5: return __hmin2(a, b);
    case 6: return __hneg2(a);
    case 7: return __habs2(b);
    default: return __hlt2(a, b);
  }
}
extern "C" __global__ void pairs_f16(__half2* out, const __half2* a, const __half2* b, int n) {
  const int i = place();
  if (i < n) out[i] = paired(a[i], b[i], i % 9);
}
extern "C" __global__ void pairs_bf16(__nv_bfloat162* out, const __nv_bfloat162* a,
                                      const __nv_bfloat162* b, int n) {
  const int i = place();
  if (i < n) out[i] = paired(a[i], b[i], i % 9);
}

extern "C" __global__ void vectors_float4(float4* out, const float4* a, const float4* b, int n) {
  const int i = place();
  if (i >= n) return;
  const float4 x = a[i], y = b[i];
  out[i] = make_float4(x.x + y.w, x.y - y.z, x.z * y.y, x.w + y.x);
}
extern "C" __global__ void vectors_double2(double2* out, const double2* a) {
  const double2 x = a[place()];
  out[place()] = make_double2(x.y, x.x + x.y);
}
extern "C" __global__ void vectors_uchar4(uchar4* out, const uchar4* a, const char2* b) {
  const uchar4 x = a[place()];
  const char2 y = b[place()];
  out[place()] = make_uchar4(x.w, x.z + y.x, x.y * y.y, x.x >> 1);
}
extern "C" __global__ void vectors_short(short4* out, const ushort2* a, const short4* b) {
  const ushort2 x = a[place()];
  const short4 y = b[place()];
  out[place()] = make_short4(y.w + x.x, y.z - x.y, y.y, -y.x);
}
extern "C" __global__ void vectors_long(longlong2* out, const longlong2* a, const int2* b) {
  const longlong2 x = a[place()];
  const int2 y = b[place()];
  out[place()] = make_longlong2(x.y * y.x, x.x + y.y);
}
// Eight numbers of 16 bits in one load.
extern "C" __global__ void vectors_bf16(uint4* out, const uint4* a, float scale) {
  uint4 eight = a[place()];
  __nv_bfloat162* pairs = reinterpret_cast<__nv_bfloat162*>(&eight);
  for (int k = 0; k < 4; ++k) {
    const float2 both = __bfloat1622float2(pairs[k]);
    pairs[k] = __floats2bfloat162_rn(both.x * scale, both.y * scale);
  }
  out[place()] = eight;
}

extern "C" __global__ void predicates(bool* out, const bool* mask, const float* a, const float* b,
                                      int n) {
  const int i = place();
  if (i >= n) return;
  const bool chosen = mask[i];
  out[i] = (chosen && a[i] > b[i]) || !(b[i] <= 0) || a[i] != a[i];
  out[n + i] = chosen ^ (a[i] < 0) ^ (b[i] >= a[i]);
}
extern "C" __global__ void masked(float4* out, const uchar4* mask, const float4* a) {
  const uchar4 m = mask[place()];
  const float4 v = a[place()];
  out[place()] = make_float4(m.x ? v.x : 0, m.y ? v.y : 0, m.z ? v.z : 0, m.w ? v.w : 0);
}
// What a cache is told changes no value.
extern "C" __global__ void cached(float* out, const float* a, int n) {
  const int i = place();
  if (i >= n) return;
  __stcs(out + i, __ldg(a + i) + __ldcs(a + i + n));
  __stcg(out + n + i, __ldcg(a + i) - __ldca(a + i + n));
  __stwt(out + 2 * n + i, __ldcv(a + i) * __ldlu(a + i + n));
}
extern "C" __global__ void classes(int* out, const float* a, const double* b) {
  const float x = a[place()];
  const double y = b[place()];
  out[place()] = isnan(x) | isinf(x) << 1 | isfinite(x) << 2 | signbit(x) << 3 | isnan(y) << 4 |
                 isinf(y) << 5 | isfinite(y) << 6 | signbit(y) << 7;
}
