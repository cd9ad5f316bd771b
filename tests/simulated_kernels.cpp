// The golden kernels, compiled with the prelude of a GPU, for the simulated one.
#include "tests/golden_kernel_table.h"
#include "tests/simulated_prelude.cuh"

#include "tests/golden_kernels.inc"

namespace sinter::tests {

GoldenKernel simulated_kernel(std::string_view name) {
  for (const auto& kernel : kernels::golden_kernels)
    if (kernel.name == name) return kernel.function;
  return nullptr;
}
std::span<const OpRow> simulated_ops() { return kernels::golden_ops; }
std::span<const CastRow> simulated_casts() { return kernels::golden_casts; }

}  // namespace sinter::tests
