/// \file
/// Elementwise ops: operators, and the rows of ops.def as functions.
///
/// Shapes broadcast by NumPy's rule; dtypes promote by PyTorch's (dtype.h), host numbers are weak.
/// Arithmetic on f16 and bf16 is done in f32 and rounded once to the result's dtype; integers wrap;
/// comparisons and isnan/isinf/isfinite/logical_* give bool. NaN propagates through minimum,
/// maximum, clamp and relu; round rounds ties to even. `/` and the functions of real numbers (exp,
/// sqrt, ...) give f32 for integers and bool. Integer floor_divide, remainder and fmod by zero, and
/// an integer to a negative power, are errors thrown when the result is evaluated. Shifts by counts
/// outside 0..63 shift everything out. Results are the same bits on every machine (f64
/// transcendentals excepted); kernels/MATH.md has the largest error of each function in f32.
/// \throws UsageError naming op, shapes or dtypes and the caller's line.
#pragma once

#include "tensor.h"

namespace sinter {

#define SINTER_UNARY(name, ...) Tensor name(const Tensor& a, Where at = Where::current());
#define SINTER_BINARY(name, ...) Tensor name(Operand a, Operand b, Where at = Where::current());
#define SINTER_TERNARY(name, ...) \
  Tensor name(Operand a, Operand b, Operand c, Where at = Where::current());
#include "ops.def"

/// `a` limited to [low, high]; NaN if any of the three is. The gradient is that of the operand
/// chosen, 1 for `a` at the limits themselves.
Tensor clamp(const Tensor& a, Operand low, Operand high, Where at = Where::current());

/// `start + weight * (end - start)`.
Tensor lerp(const Tensor& start, const Tensor& end, Operand weight, Where at = Where::current());

/// `a` where positive, else `slope * a`.
Tensor leaky_relu(const Tensor& a, double slope = 0.01, Where at = Where::current());

/// `a` where positive, else `alpha * expm1(a)`.
Tensor elu(const Tensor& a, double alpha = 1.0, Where at = Where::current());

/// The elements converted to `dtype`: floats to integers truncate towards zero (out of range and
/// NaN: the lowest integer), to narrower floats round to nearest even (from f64 to f16 and bf16 by
/// way of f32, so twice), to bool is `!= 0`.
Tensor cast(const Tensor& a, DType dtype, Where at = Where::current());

Tensor operator-(Operand a);
Tensor operator+(Operand a, Operand b);
Tensor operator-(Operand a, Operand b);
Tensor operator*(Operand a, Operand b);
Tensor operator/(Operand a, Operand b);
Tensor operator%(Operand a, Operand b);  ///< remainder: the sign of the divisor
Tensor operator<(Operand a, Operand b);
Tensor operator<=(Operand a, Operand b);
Tensor operator>(Operand a, Operand b);
Tensor operator>=(Operand a, Operand b);
Tensor operator==(Operand a, Operand b);
Tensor operator!=(Operand a, Operand b);
Tensor operator&(Operand a, Operand b);
Tensor operator|(Operand a, Operand b);
Tensor operator^(Operand a, Operand b);
Tensor operator<<(Operand a, Operand b);
Tensor operator>>(Operand a, Operand b);
Tensor operator!(Operand a);
Tensor operator~(Operand a);
Tensor& operator+=(Tensor& a, Operand b);  ///< rebinds `a`; other handles keep the old value
Tensor& operator-=(Tensor& a, Operand b);
Tensor& operator*=(Tensor& a, Operand b);
Tensor& operator/=(Tensor& a, Operand b);

}  // namespace sinter
