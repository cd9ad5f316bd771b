// Functions of <cmath>, whose errors the CUDA C++ programming guide lists ("Mathematical
// functions"), and those that are fast.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ int place() { return blockIdx.x * blockDim.x + threadIdx.x; }

#define ONE(name, T, value)                             \
  extern "C" __global__ void name(T* out, const T* a) { \
    const T x = a[place()];                             \
    out[place()] = value;                               \
  }
#define TWO(name, T, value)                                         \
  extern "C" __global__ void name(T* out, const T* a, const T* b) { \
    const T x = a[place()], y = b[place()];                         \
    out[place()] = value;                                           \
  }

ONE(f32_exp, float, expf(x))
ONE(f32_exp2, float, exp2f(x))
ONE(f32_exp10, float, exp10f(x))
ONE(f32_expm1, float, expm1f(x))
ONE(f32_log, float, logf(x))
ONE(f32_log2, float, log2f(x))
ONE(f32_log10, float, log10f(x))
ONE(f32_log1p, float, log1pf(x))
ONE(f32_sqrt, float, sqrtf(x))
ONE(f32_rsqrt, float, rsqrtf(x))
ONE(f32_cbrt, float, cbrtf(x))
ONE(f32_sin, float, sinf(x))
ONE(f32_cos, float, cosf(x))
ONE(f32_tan, float, tanf(x))
ONE(f32_sinpi, float, sinpif(x))
ONE(f32_asin, float, asinf(x))
ONE(f32_acos, float, acosf(x))
ONE(f32_atan, float, atanf(x))
ONE(f32_sinh, float, sinhf(x))
ONE(f32_cosh, float, coshf(x))
ONE(f32_tanh, float, tanhf(x))
ONE(f32_asinh, float, asinhf(x))
ONE(f32_erf, float, erff(x))
ONE(f32_erfc, float, erfcf(x))
ONE(f32_lgamma, float, lgammaf(x))
ONE(f32_tgamma, float, tgammaf(x))
ONE(f32_reciprocal, float, 1 / x)
TWO(f32_pow, float, powf(x, y))
TWO(f32_atan2, float, atan2f(x, y))
TWO(f32_hypot, float, hypotf(x, y))
TWO(f32_fmod, float, fmodf(x, y))
TWO(f32_remainder, float, remainderf(x, y))
TWO(f32_quotient, float, x / y)
TWO(f32_ldexp, float, ldexpf(x, (int)y))
TWO(f32_nextafter, float, nextafterf(x, y))

ONE(f64_exp, double, exp(x))
ONE(f64_log, double, log(x))
ONE(f64_sqrt, double, sqrt(x))
ONE(f64_rsqrt, double, rsqrt(x))
ONE(f64_sin, double, sin(x))
ONE(f64_cos, double, cos(x))
ONE(f64_tanh, double, tanh(x))
ONE(f64_erf, double, erf(x))
ONE(f64_cbrt, double, cbrt(x))
TWO(f64_pow, double, pow(x, y))
TWO(f64_fmod, double, fmod(x, y))
TWO(f64_quotient, double, x / y)

ONE(fast_exp, float, __expf(x))
ONE(fast_log, float, __logf(x))
ONE(fast_sin, float, __sinf(x))
ONE(fast_cos, float, __cosf(x))
TWO(fast_quotient, float, __fdividef(x, y))
TWO(fast_pow, float, __powf(x, y))
extern "C" __global__ void fast_tanh(float* out, const float* a) {
  asm("tanh.approx.f32 %0, %1;" : "=f"(out[place()]) : "f"(a[place()]));
}

ONE(f16_exp, __half, hexp(x))
ONE(f16_log, __half, hlog(x))
ONE(f16_sqrt, __half, hsqrt(x))
ONE(f16_rsqrt, __half, hrsqrt(x))
ONE(f16_reciprocal, __half, hrcp(x))
ONE(f16_sin, __half, hsin(x))
ONE(f16_tanh, __half, htanh(x))
ONE(f16_floor, __half, hfloor(x))
ONE(bf16_exp, __nv_bfloat16, hexp(x))
ONE(bf16_log2, __nv_bfloat16, hlog2(x))
ONE(bf16_rsqrt, __nv_bfloat16, hrsqrt(x))
ONE(bf16_tanh, __nv_bfloat16, htanh(x))
ONE(bf16_rint, __nv_bfloat16, hrint(x))

// Activations, with a loop over the grid.
extern "C" __global__ void gelu_tanh(float* out, const float* a, long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = a[i];
  out[i] = 0.5f * x * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}
extern "C" __global__ void gelu_erf(__nv_bfloat16* out, const __nv_bfloat16* a, long long n) {
  for (long long i = place(); i < n; i += (long long)gridDim.x * blockDim.x) {
    const float x = __bfloat162float(a[i]);
    out[i] = __float2bfloat16(0.5f * x * (1 + erff(x * 0.70710678f)));
  }
}
extern "C" __global__ void silu(__half* out, const __half* a) {
  const float x = __half2float(a[place()]);
  out[place()] = __float2half(x / (1 + __expf(-x)));
}
// Numbers of a normal distribution, of uniform ones in a word each.
extern "C" __global__ void box_muller(float2* out, const uint2* a) {
  const uint2 words = a[place()];
  const float radius = sqrtf(-2 * logf((words.x + 1.0f) * 2.3283064e-10f));
  float sine, cosine;
  sincospif(2 * (words.y * 2.3283064e-10f), &sine, &cosine);
  out[place()] = make_float2(radius * sine, radius * cosine);
}
