/// \file
/// The builtins of g++ and clang that the kernels' headers call, in terms of CUDA, and what else
/// only CUDA's compiler knows. In the place of kernels/isa.h, which each of them includes.
///
/// Arithmetic, roots and roundings round once, as IEEE 754 has it; __builtin_bit_cast is there.
#pragma once

#include <cstdint>

#define SINTER_ISA cuda
#define SINTER_INLINE __forceinline__
#define SINTER_KEEP_ROLLED _Pragma("unroll 1")

namespace sinter::kernels {
inline namespace SINTER_ISA {

/// The shared memory that a launch adds to a block's.
SINTER_INLINE char* added_shared_memory() {
  extern __shared__ __align__(16) char memory[];
  return memory;
}

}  // namespace SINTER_ISA
}  // namespace sinter::kernels

#define __builtin_inf() __builtin_bit_cast(double, 0x7ff0000000000000)
#define __builtin_inff() __builtin_bit_cast(float, 0x7f800000)
#define __builtin_nanf(kind) __builtin_bit_cast(float, 0x7fc00000)

#define __builtin_fmaf ::__fmaf_rn
#define __builtin_fma ::__fma_rn
#define __builtin_sqrtf ::__fsqrt_rn
#define __builtin_sqrt ::__dsqrt_rn
#define __builtin_floorf ::floorf
#define __builtin_floor ::floor
#define __builtin_ceilf ::ceilf
#define __builtin_ceil ::ceil
#define __builtin_truncf ::truncf
#define __builtin_trunc ::trunc
#define __builtin_rintf ::rintf
#define __builtin_rint ::rint
#define __builtin_fabsf ::fabsf
#define __builtin_fabs ::fabs
#define __builtin_copysignf ::copysignf
#define __builtin_copysign ::copysign
#define __builtin_fmodf ::fmodf
#define __builtin_fmod ::fmod

// f64 functions, whose last bits differ from one library to another.
#define __builtin_exp ::exp
#define __builtin_exp2 ::exp2
#define __builtin_expm1 ::expm1
#define __builtin_log ::log
#define __builtin_log2 ::log2
#define __builtin_log10 ::log10
#define __builtin_log1p ::log1p
#define __builtin_sin ::sin
#define __builtin_cos ::cos
#define __builtin_tan ::tan
#define __builtin_asin ::asin
#define __builtin_acos ::acos
#define __builtin_atan ::atan
#define __builtin_sinh ::sinh
#define __builtin_cosh ::cosh
#define __builtin_tanh ::tanh
#define __builtin_asinh ::asinh
#define __builtin_acosh ::acosh
#define __builtin_atanh ::atanh
#define __builtin_erf ::erf
#define __builtin_erfc ::erfc
#define __builtin_pow ::pow
#define __builtin_atan2 ::atan2
