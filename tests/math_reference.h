/// \file
/// What the f32 functions of kernels/math.h are held against: the same functions in double.
#pragma once

#include <span>
#include <string_view>

namespace sinter {

struct MathReference {
  std::string_view name;
  double (*value)(double);
  /// The largest error allowed, in units of the last place of the result; `x_of_zero` as below.
  double allowed;
  /// A zero that is the difference of numbers near 1/2, where only the absolute error is small:
  /// within 1 of it the unit is 2^-24. NaN where there is none.
  double x_of_zero;
};

std::span<const MathReference> math_references();

/// The error of `got` for f(x), in units of the last place of the float nearest to f(x). Infinite
/// where one is NaN or infinite and the other is not, and for the wrong sign of f(0).
double error_in_ulp(const MathReference& f, float x, float got);

}  // namespace sinter
