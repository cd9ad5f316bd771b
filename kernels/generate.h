/// \file
/// Kernels that make tensors from nothing: constants, ranges, random numbers.
#pragma once

#include <cstdint>

#include "kernels/view.h"
#include "runtime/op.h"

namespace sinter::kernels {

/// Every element is `value`, converted to out's dtype once.
void fill(double value, const View& out);
void fill_integer(std::int64_t value, const View& out);

/// Element i of `out`, of rank 1, is start + i * step, rounded after each of the two operations, in
/// the compute type of out's dtype (to which start and step are converted first).
void arange(double start, double step, const View& out);
void arange_integer(std::int64_t start, std::int64_t step, const View& out);

/// random_uniform and random_normal (f32, converted to out's dtype) or random_bits (i64): see
/// philox.h.
void random(Op op, std::uint64_t seed, std::uint64_t ordinal, const View& out);

}  // namespace sinter::kernels
