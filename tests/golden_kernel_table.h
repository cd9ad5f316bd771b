/// \file
/// The golden kernels as functions, and the ops that kernels are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace sinter::kernels {
struct LoopArguments;
}

namespace sinter::tests {

/// As LoopFunction of kernels/loop_arguments.h, which a prelude brings with it.
using GoldenKernel = void (*)(const kernels::LoopArguments* arguments, std::int64_t first_unit,
                              std::int64_t last_unit);

/// The kernel of that name (tests/pattern_chains.h) compiled for the CPU, or null.
GoldenKernel host_kernel(std::string_view name);
/// Compiled with the prelude of a GPU, to be called by simulate() (tests/simulated_gpu.h); or null.
GoldenKernel simulated_kernel(std::string_view name);

/// y = f(operands...) for n elements, a multiple of 16.
template <class T>
using RowFunction = void (*)(const T* const* operands, T* y, std::ptrdiff_t n);

/// An elementwise op in each compute type that it is for.
struct OpRow {
  std::string_view name;
  int arity;
  RowFunction<float> f32;
  RowFunction<double> f64;
  RowFunction<std::int64_t> i64;
};
/// To a storage type from each compute type: what is stored, and what is computed with after that.
struct CastRow {
  std::string_view name;
  void (*f32)(const float* x, void* stored, void* computed, std::ptrdiff_t n);
  void (*f64)(const double* x, void* stored, void* computed, std::ptrdiff_t n);
  void (*i64)(const std::int64_t* x, void* stored, void* computed, std::ptrdiff_t n);
};
/// Whether this machine has the instructions that the kernels of the host were compiled for.
bool host_kernels_run();
std::span<const OpRow> host_ops();
std::span<const OpRow> simulated_ops();
std::span<const CastRow> host_casts();
std::span<const CastRow> simulated_casts();

}  // namespace sinter::tests
