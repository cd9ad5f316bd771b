// The golden kernels, compiled with the prelude of the CPU.
#include "kernels/generated_loop.h"
#include "runtime/cpu/probe.h"
#include "tests/golden_kernel_table.h"

#include "tests/golden_kernels.inc"

namespace sinter::tests {

GoldenKernel host_kernel(std::string_view name) {
  for (const auto& kernel : kernels::golden_kernels)
    if (kernel.name == name) return kernel.function;
  return nullptr;
}
bool host_kernels_run() { return cpu::processor().best >= cpu::InstructionSet::SINTER_ISA; }
std::span<const OpRow> host_ops() { return kernels::golden_ops; }
std::span<const CastRow> host_casts() { return kernels::golden_casts; }

}  // namespace sinter::tests
