/// \file
/// Which instruction set this translation unit is compiled for, and the namespace that keeps its
/// inline functions apart from those of another one.
///
/// Kernel files are compiled several times (`-DSINTER_ISA=portable|avx2|avx512` with the matching
/// `-m` flags). Everything inline in kernels/*.h lives in the inline namespace `SINTER_ISA`, so the
/// linker never takes a function compiled for a machine that is not there. For the same reason
/// these headers call compiler builtins and not inline functions of the standard library.
#pragma once

#if defined __AVX512F__ && defined __AVX512DQ__ && defined __AVX512VL__ && defined __AVX512BW__ && \
    defined __FMA__ && defined __F16C__
#define SINTER_AVX512 1
#elif defined __AVX2__ && defined __FMA__ && defined __F16C__
#define SINTER_AVX2 1
#endif

#ifndef SINTER_ISA
#if defined SINTER_AVX512
#define SINTER_ISA avx512
#elif defined SINTER_AVX2
#define SINTER_ISA avx2
#else
#define SINTER_ISA portable
#endif
#endif

/// For small functions: a vector passed to a real call goes through memory.
#define SINTER_INLINE [[gnu::always_inline]] inline

namespace sinter::kernels {
inline namespace SINTER_ISA {

/// Bytes of one register.
#if defined SINTER_AVX512
inline constexpr int register_bytes = 64;
#elif defined SINTER_AVX2
inline constexpr int register_bytes = 32;
#else
inline constexpr int register_bytes = 16;
#endif

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
