/// \file
/// Tensors made from nothing: constants, ranges, random numbers. Shapes with a negative size or too
/// many elements are a UsageError.
#pragma once

#include "random.h"
#include "tensor.h"

namespace sinter {

/// Every element is `value`. \throws UsageError where an integer dtype or bool does not hold it:
/// a fraction, NaN, an infinity, a number out of range. Floating dtypes round it.
Tensor full(const Shape& shape, double value, DType dtype = f32, Where at = Where::current());
/// As full with a value that need not fit a double.
Tensor full_integer(const Shape& shape, std::int64_t value, DType dtype = i64,
                    Where at = Where::current());
Tensor zeros(const Shape& shape, DType dtype = f32, Where at = Where::current());
Tensor ones(const Shape& shape, DType dtype = f32, Where at = Where::current());
Tensor zeros_like(const Tensor& a, Where at = Where::current());
Tensor ones_like(const Tensor& a, Where at = Where::current());

/// `start, start + step, ...` below `stop` (above it for a negative step): shape [n],
/// n = ceil((stop - start) / step). Element i is `start + i * step`, in the compute type.
/// \throws UsageError where `step` is 0, a number is not finite, or the dtype does not hold the
/// range.
Tensor arange(double start, double stop, double step = 1, DType dtype = i64,
              Where at = Where::current());
/// 0, 1, ..., count - 1.
Tensor arange(std::int64_t count, DType dtype = i64, Where at = Where::current());

/// Ones where row + offset == column, else zeros: shape [rows, columns].
Tensor eye(std::int64_t rows, std::int64_t columns, std::int64_t offset = 0, DType dtype = f32,
           Where at = Where::current());

/// `indices` [...] (integers in [0, classes), others give a row of zeros) -> [..., classes].
Tensor one_hot(const Tensor& indices, std::int64_t classes, DType dtype = f32,
               Where at = Where::current());

/// Draws are Philox4x32-10 keyed by the generator's seed and a draw number: the same on every
/// device, at any thread count, fused or not.
///
/// Uniform in [low, high), never `high` itself whatever is rounded; where both are equal, that
/// number. f32, f16 and bf16 are made from draws of 24 bits, f64 from 53. \throws UsageError where
/// the dtype has no number in the range or overflows on it.
Tensor uniform(const Shape& shape, Generator& generator, double low = 0, double high = 1,
               DType dtype = f32, Where at = Where::current());
/// Normal. f64 is computed in f64 from two draws, the others in f32 from one.
Tensor normal(const Shape& shape, Generator& generator, double mean = 0, double deviation = 1,
              DType dtype = f32, Where at = Where::current());
/// True with probability `p`.
Tensor bernoulli(const Shape& shape, double p, Generator& generator, Where at = Where::current());
/// Uniform integers in [low, high). \throws UsageError for an empty range, one of 2^63 or more
/// integers, or one that the dtype does not hold.
Tensor random_integers(const Shape& shape, std::int64_t low, std::int64_t high,
                       Generator& generator, DType dtype = i64, Where at = Where::current());

}  // namespace sinter
