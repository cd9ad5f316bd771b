// Products of f32 that are summed in f64: both operands are converted once, then multiplied in
// panels. A product of two f32 is exact in f64, so it does not matter whether it is rounded before
// it is added: the bits are the same on every instruction set.
#include "kernels/gemm_blocks.h"
#include "kernels/panel_product.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {
namespace {

/// `a` with its rows or its columns without gaps, whichever of them are so in x.
void convert_a(const WideOperands& x, bool by_rows, double* to) {
  const std::int64_t lines = by_rows ? x.m : x.k, length = by_rows ? x.k : x.m;
  const std::int64_t step = by_rows ? x.a_row : x.a_column;
  for (std::int64_t i = 0; i < lines; ++i)
    each_vector(length, [&](std::ptrdiff_t j, auto part) SINTER_LOOP_BODY {
      part.store(to_f64(part.load(x.a + i * step + j, 0.0f)), to + i * length + j);
    });
}

/// Panels of sixteen columns, zeros past the last one.
void convert_panels(const WideOperands& x, double* to) {
  for (std::int64_t n = 0; n < x.n; n += vector_size, to += x.k * vector_size) {
    const float* const from = x.b + n * x.b_column;
    const std::int64_t columns = x.n - n < vector_size ? x.n - n : vector_size;
    if (x.b_column == 1 && columns == vector_size) {
      for (std::int64_t k = 0; k < x.k; ++k)
        to_f64(VecF::load(from + k * x.b_row)).store(to + k * vector_size);
      continue;
    }
    for (std::int64_t j = 0; j < vector_size; ++j)
      for (std::int64_t k = 0; k < x.k; ++k)
        to[k * vector_size + j] =
            j < columns ? static_cast<double>(from[k * x.b_row + j * x.b_column]) : 0.0;
  }
}

}  // namespace

void multiply_wide(const WideOperands& x) {
  const std::int64_t width = wide_columns(x.n);
  double* const a = x.work + x.k * width;
  const bool by_rows = x.a_column == 1 || x.k == 1;
  convert_panels(x, x.work);
  convert_a(x, by_rows, a);
  multiply<double>({a, by_rows ? x.k : 1, by_rows ? 1 : x.m, x.m, x.k, x.work, x.k * vector_size,
                    width / vector_size, x.c, width, false});
}

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
