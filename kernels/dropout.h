/// \file
/// Dropout: elements zeroed at random, the others scaled up.
///
/// Element i in row-major order is kept where u[i] >= float(p), u being what random_uniform draws
/// for the same seed and ordinal (kernels/philox.h): y[i] = x[i] * scale, else 0 (also where x[i]
/// is NaN). scale = 1 / (1 - p) rounded from double to the compute type of x (float for f16, bf16
/// and f32; double). The gradient is the same with g for x.
#pragma once

#include <cstdint>

#include "kernels/view.h"

namespace sinter::kernels {

/// `y` has x's shape; it may be the memory of x where both are contiguous and of one dtype.
void dropout(const ConstView& x, double p, std::uint64_t seed, std::uint64_t ordinal,
             const View& y);

}  // namespace sinter::kernels
