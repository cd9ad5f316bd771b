/// \file
/// Tensors made from nothing: constants, ranges, random numbers.
#pragma once

#include "random.h"
#include "tensor.h"

namespace sinter {

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

/// Uniform in [low, high), normal, Bernoulli. Draws are Philox4x32-10 keyed by the generator's seed
/// and a draw number: the same on every device, at any thread count, fused or not.
Tensor uniform(const Shape& shape, Generator& generator, double low = 0, double high = 1,
               DType dtype = f32, Where at = Where::current());
Tensor normal(const Shape& shape, Generator& generator, double mean = 0, double deviation = 1,
              DType dtype = f32, Where at = Where::current());
/// True with probability `p`.
Tensor bernoulli(const Shape& shape, double p, Generator& generator, Where at = Where::current());
/// Uniform integers in [low, high).
Tensor random_integers(const Shape& shape, std::int64_t low, std::int64_t high,
                       Generator& generator, DType dtype = i64, Where at = Where::current());

}  // namespace sinter
