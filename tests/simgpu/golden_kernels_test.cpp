// The kernels that fusion prints for a GPU, compiled by NVRTC and run on the simulated one.
#include <doctest/doctest.h>

#include "jit/emit.h"
#include "jit/nvrtc.h"
#include "tests/kernel_run.h"
#include "tests/simgpu/simulated_device.h"

namespace sinter::tests {
namespace {

/// A kernel of those that a device has loaded.
class SimulatedKernel final : public KernelGpu {
 public:
  SimulatedKernel(simgpu::SimulatedDevice& device, std::string name)
      : device_(device), name_(std::move(name)) {}
  ~SimulatedKernel() override {
    for (const void* memory : placed_) device_.free(memory);
  }

  void* place(std::span<const std::byte> bytes) override {
    placed_.push_back(device_.upload(bytes));
    return placed_.back();
  }
  void read(const void* memory, std::span<std::byte> bytes) override {
    std::memcpy(bytes.data(), memory, bytes.size());
  }
  void run(const jit::CudaLaunch& shape, std::int64_t shared_bytes,
           const kernels::LoopArguments* arguments) override {
    const simgpu::Size3 grid{static_cast<std::uint32_t>(shape.blocks)};
    const simgpu::Size3 block{static_cast<std::uint32_t>(shape.team_threads),
                              static_cast<std::uint32_t>(shape.teams)};
    const auto fault =
        device_.launch(name_, {grid, block, static_cast<std::uint32_t>(shared_bytes)}, arguments,
                       std::int64_t{0}, shape.units);
    if (fault) FAIL(fault->text);
  }

 private:
  simgpu::SimulatedDevice& device_;
  std::string name_;
  std::vector<void*> placed_;
};

std::string all_kernels() {
  std::string text;
  for (const NamedLoop& named : named_loops()) text += jit::emit(named.loop, named.name);
  return jit::cuda_source(text);
}

TEST_CASE("simgpu: what fusion prints for a GPU runs with the bits of the same text on the CPU" *
          doctest::skip(!simgpu::has_nvrtc())) {
  if (!host_kernels_run()) return;
  const std::string source = all_kernels();
  for (const int architecture : {80, 90, 100}) {
    simgpu::SimulatedDevice device("sm_" + std::to_string(architecture));
    device.load_ptx(jit::compile_cuda(source, architecture)->ptx.c_str());  // a zero ends it
    for (const NamedLoop& named : named_loops()) {
      CAPTURE(named.name);
      SimulatedKernel kernel(device, named.name);
      const bool special = !sums_columns(named.loop) && !named.name.starts_with("gather") &&
                           !named.name.starts_with("embedding");
      for (const auto& [rows, columns] : kernel_extents()) {
        CAPTURE(columns);
        KernelRun run(named.loop, rows, columns, special);
        const KernelMemory result = run.on_gpu(kernel);
        CHECK(run.fault()[0] == 0);
        CHECK(first_difference(named.loop, run.on_gpu(simulated_kernel(named.name)), result, 0) ==
              "");
        CHECK(first_difference(named.loop, run.on_host(host_kernel(named.name)), result,
                               gpu_tolerance(named)) == "");
      }
    }
  }
}

}  // namespace
}  // namespace sinter::tests
