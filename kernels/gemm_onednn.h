/// \file
/// Products by oneDNN, on the calling thread alone.
#pragma once

#include "kernels/gemm_product.h"

namespace sinter::kernels {

/// c = a x b for f32 (c f32) or bf16 (c bf16 or f32; only where cpu::has_bf16_products()).
/// Matrices are plain, batch strides not negative, rows of c contiguous.
void library_multiply(DType dtype, DType out, const Block& block, const void* a, const void* b,
                      void* c);

}  // namespace sinter::kernels
