/// \file
/// The f32 functions of kernels/math.h as each instruction set computes them, for comparison.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace sinter {

struct MathFunction {
  const char* name;
  /// y[i] = f(x[i], z[i]) for n elements, a multiple of 16; a function of one argument ignores z.
  void (*vector)(const float* x, const float* z, float* y, std::ptrdiff_t n);
  /// The same through the scalar form.
  void (*scalar)(const float* x, const float* z, float* y, std::ptrdiff_t n);
  bool binary;
};

/// No std::span: an inline function of the standard library compiled for one instruction set could
/// be the copy that the whole program uses.
struct MathTable {
  const MathFunction* first;
  std::size_t count;
};

/// The function of that name; it must be there.
const MathFunction& find(const MathTable& table, std::string_view name);

struct MathPath {
  std::string_view name;
  bool runs_here;  ///< This machine has the instructions.
  MathTable (*table)();
  /// What the checks of kernels/vector.h found wrong first, or null.
  const char* (*vector_fault)();
};

/// The instruction sets this program is compiled for; `portable` is the first.
std::span<const MathPath> math_paths();

}  // namespace sinter
