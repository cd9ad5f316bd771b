// The golden kernels, compiled with the prelude of a GPU, for the simulated one.
#include "tests/golden_kernel_table.h"
#include "tests/simulated_prelude.h"

#undef SINTER_KERNEL
#define SINTER_KERNEL(name)                                                           \
  void name([[maybe_unused]] const LoopArguments* arguments, std::int64_t first_unit, \
            std::int64_t last_unit)

namespace sinter::kernels {
namespace {

#include "tests/golden_kernels.inc"
#include "tests/golden_ops.inc"

}  // namespace
}  // namespace sinter::kernels

namespace sinter::tests {

GoldenKernel simulated_kernel(std::string_view name) {
  for (const auto& kernel : kernels::golden_kernels)
    if (kernel.name == name) return kernel.function;
  return nullptr;
}
std::span<const OpRow> simulated_ops() { return kernels::golden_ops; }
std::span<const CastRow> simulated_casts() { return kernels::golden_casts; }

}  // namespace sinter::tests
