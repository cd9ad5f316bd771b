// From one type of number to another, in each rounding that CUDA C++ has; sums and products in
// directed roundings.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

__device__ int place() { return blockIdx.x * blockDim.x + threadIdx.x; }

#define FOUR(out, stem, x)    \
  {                           \
    auto* to = (out) + 4 * i; \
    to[0] = stem##_rn(x);     \
    to[1] = stem##_rz(x);     \
    to[2] = stem##_rd(x);     \
    to[3] = stem##_ru(x);     \
  }
#define ROUNDED(name, Out, In, stem)                          \
  extern "C" __global__ void name(Out* out, const In* from) { \
    const int i = place();                                    \
    FOUR(out, stem, from[i])                                  \
  }
ROUNDED(float_to_s32, int, float, __float2int)
ROUNDED(float_to_u32, unsigned, float, __float2uint)
ROUNDED(float_to_s64, long long, float, __float2ll)
ROUNDED(float_to_u64, unsigned long long, float, __float2ull)
ROUNDED(double_to_s32, int, double, __double2int)
ROUNDED(double_to_s64, long long, double, __double2ll)
ROUNDED(double_to_u64, unsigned long long, double, __double2ull)
ROUNDED(s32_to_float, float, int, __int2float)
ROUNDED(u32_to_float, float, unsigned, __uint2float)
ROUNDED(s64_to_float, float, long long, __ll2float)
ROUNDED(u64_to_float, float, unsigned long long, __ull2float)
ROUNDED(s64_to_double, double, long long, __ll2double)
ROUNDED(u64_to_double, double, unsigned long long, __ull2double)
ROUNDED(double_to_float, float, double, __double2float)
ROUNDED(float_to_half, __half, float, __float2half)
ROUNDED(float_to_brain, __nv_bfloat16, float, __float2bfloat16)
ROUNDED(half_to_s32, int, __half, __half2int)
ROUNDED(half_to_u16, unsigned short, __half, __half2ushort)
ROUNDED(brain_to_s32, int, __nv_bfloat16, __bfloat162int)
ROUNDED(s32_to_half, __half, int, __int2half)
ROUNDED(u64_to_half, __half, unsigned long long, __ull2half)
ROUNDED(s32_to_brain, __nv_bfloat16, int, __int2bfloat16)
ROUNDED(reciprocal_f32, float, float, __frcp)
ROUNDED(root_f32, float, float, __fsqrt)
ROUNDED(reciprocal_f64, double, double, __drcp)
ROUNDED(root_f64, double, double, __dsqrt)

#define ROUNDED_PAIRS(name, T, stem)                                                \
  extern "C" __global__ void name(T* out, const T* a, const T* b) {                 \
    const int i = place();                                                          \
    out[4 * i] = stem##_rn(a[i], b[i]), out[4 * i + 1] = stem##_rz(a[i], b[i]);     \
    out[4 * i + 2] = stem##_rd(a[i], b[i]), out[4 * i + 3] = stem##_ru(a[i], b[i]); \
  }
ROUNDED_PAIRS(sum_f32, float, __fadd)
ROUNDED_PAIRS(product_f32, float, __fmul)
ROUNDED_PAIRS(quotient_f32, float, __fdiv)
ROUNDED_PAIRS(sum_f64, double, __dadd)
ROUNDED_PAIRS(product_f64, double, __dmul)
ROUNDED_PAIRS(quotient_f64, double, __ddiv)

extern "C" __global__ void fused_f32(float* out, const float* a, const float* b, const float* c) {
  const int i = place();
  out[4 * i] = __fmaf_rn(a[i], b[i], c[i]), out[4 * i + 1] = __fmaf_rz(a[i], b[i], c[i]);
  out[4 * i + 2] = __fmaf_rd(a[i], b[i], c[i]), out[4 * i + 3] = __fmaf_ru(a[i], b[i], c[i]);
}
extern "C" __global__ void fused_f64(double* out, const double* a, const double* b,
                                     const double* c) {
  const int i = place();
  out[4 * i] = __fma_rn(a[i], b[i], c[i]), out[4 * i + 1] = __fma_rz(a[i], b[i], c[i]);
  out[4 * i + 2] = __fma_rd(a[i], b[i], c[i]), out[4 * i + 3] = __fma_ru(a[i], b[i], c[i]);
}

// As a cast of C++ does it.
extern "C" __global__ void casts_from_float(long long* out, const float* a, const double* b) {
  const int i = place();
  const float x = a[i];
  const double y = b[i];
  long long* to = out + 8 * i;
  to[0] = (signed char)x, to[1] = (unsigned short)x, to[2] = (int)x, to[3] = (long long)x;
  to[4] = (int)y, to[5] = (unsigned)y, to[6] = (long long)y, to[7] = x ? 1 : 0;
}
extern "C" __global__ void casts_to_double(double* out, const float* a, const int* b,
                                           const unsigned char* c, const short* d) {
  const int i = place();
  double* to = out + 5 * i;
  to[0] = a[i], to[1] = b[i], to[2] = c[i], to[3] = d[i], to[4] = (float)(unsigned)b[i];
}
extern "C" __global__ void half_to_brain(__nv_bfloat16* out, const __half* a) {
  const int i = place();
  out[2 * i] = __float2bfloat16(__half2float(a[i]));
  out[2 * i + 1] = __double2bfloat16(__half2float(a[i]) * 0.1);
}
extern "C" __global__ void double_to_half(__half* out, const double* a) {
  out[place()] = __double2half(a[place()]);
}
extern "C" __global__ void eight_bits(unsigned char* out, const float2* a) {
  const int i = place();
  const __nv_fp8x2_e4m3 four(a[i]);
  const __nv_fp8x2_e5m2 five(a[i]);
  *(unsigned short*)(out + 4 * i) = four.__x;
  *(unsigned short*)(out + 4 * i + 2) = five.__x;
}
extern "C" __global__ void from_eight_bits(float* out, const unsigned char* a) {
  const int i = place();
  __nv_fp8_e4m3 four;
  __nv_fp8_e5m2 five;
  four.__x = five.__x = a[i];
  out[2 * i] = float(four);
  out[2 * i + 1] = float(five);
}
extern "C" __global__ void quantised(char4* out, const float4* a, float scale) {
  const int i = place();
  const float4 v = a[i];
  out[i] = make_char4(max(-127, min(127, __float2int_rn(v.x * scale))), __float2int_rd(v.y),
                      __float2int_ru(v.z), __float2int_rz(v.w));
}
extern "C" __global__ void rounded_to_integers(float* out, const float* a, const double* b) {
  const int i = place();
  float* to = out + 10 * i;
  to[0] = floorf(a[i]), to[1] = ceilf(a[i]), to[2] = truncf(a[i]), to[3] = rintf(a[i]);
  to[4] = roundf(a[i]), to[5] = floor(b[i]), to[6] = ceil(b[i]), to[7] = trunc(b[i]);
  to[8] = rint(b[i]), to[9] = __saturatef(a[i]);
}
extern "C" __global__ void same_bits(unsigned long long* out, const float* a, const double* b) {
  const int i = place();
  unsigned long long* to = out + 4 * i;
  to[0] = __float_as_uint(a[i]), to[1] = __double_as_longlong(b[i]);
  to[2] = __double2hiint(b[i]), to[3] = __double_as_longlong(__hiloint2double(i, -i));
}
extern "C" __global__ void brain_to_chars(short* out, const __nv_bfloat16* a) {
  const int i = place();
  out[2 * i] = __bfloat162char_rz(a[i]), out[2 * i + 1] = __bfloat162uchar_rz(a[i]);
}
