// The prelude of a GPU, run on the host by a simulated one.
#include <doctest/doctest.h>

#include <cstring>

#include "tests/kernel_run.h"
#include "tests/pattern_chains.h"
#include "tests/pattern_loops.h"

namespace sinter::tests {
namespace {

TEST_CASE("cuda: a GPU's prelude gives the bits of the CPU's, sums over columns nearly so") {
  if (!host_kernels_run()) return;
  for (const NamedLoop& named : named_loops()) {
    CAPTURE(named.name);
    const GoldenKernel on_host = host_kernel(named.name), on_gpu = simulated_kernel(named.name);
    REQUIRE(static_cast<bool>(on_host));
    REQUIRE(static_cast<bool>(on_gpu));
    const bool ordered = sums_columns(named.loop);
    for (const auto& [rows, columns] : kernel_extents()) {
      CAPTURE(columns);
      KernelRun run(
          named.loop, rows, columns,
          !ordered && !named.name.starts_with("gather") && !named.name.starts_with("embedding"));
      const KernelMemory expected = run.on_host(on_host), result = run.on_gpu(on_gpu);
      CHECK(expected != run.memory());
      CHECK(first_difference(named.loop, expected, result, gpu_tolerance(named)) == "");
      CHECK(run.fault()[0] == 0);
    }
  }
}

TEST_CASE("cuda: row buffers may lie in device memory") {
  const jit::Loop loop = cross_entropy_grad_loop(DType::f32);
  const GoldenKernel kernel = simulated_kernel("cross_entropy_grad_f32");
  for (const auto& [rows, columns] : kernel_extents()) {
    KernelRun run(loop, rows, columns, false);
    CHECK(run.on_gpu(kernel) == run.on_gpu(kernel, true));
  }
}

float f32_at(const std::vector<std::byte>& memory, std::size_t element) {
  float x = 0;
  std::memcpy(&x, &memory[element * sizeof x], sizeof x);
  return x;
}

/// As kernels/cuda/team.cuh says: each thread its columns, the lanes of a warp, the warps.
float product_of_row(const std::vector<std::byte>& memory, std::size_t row, std::size_t columns) {
  const std::size_t threads = columns <= 1024 ? 32 : columns <= 16384 ? 256 : 512;
  std::vector<float> terms(threads, 1.0f);
  for (std::size_t i = 0; i < columns; ++i) terms[i % threads] *= f32_at(memory, row * columns + i);
  const auto halve = [&](std::size_t first, std::size_t count, std::size_t step) {
    for (std::size_t half = count / 2; half > 0; half /= 2)
      for (std::size_t i = 0; i < half; ++i)
        terms[first + i * step] *= terms[first + (i + half) * step];
  };
  for (std::size_t warp = 0; warp < threads; warp += 32) halve(warp, 32, 1);
  halve(0, threads / 32, 32);
  return terms[0];
}

TEST_CASE("cuda: the order of a reduction is the documented one, wherever its row lies") {
  const jit::Loop loop = row_extremes_loop();
  const GoldenKernel kernel = simulated_kernel("row_extremes");
  for (const std::size_t columns : {1, 31, 33, 700, 1024, 1025, 16384, 16385}) {
    CAPTURE(columns);
    KernelRun run(loop, {9}, static_cast<std::int64_t>(columns), false);
    std::vector<std::byte>& terms = run.memory()[0];
    for (std::size_t i = 0; i < terms.size() / sizeof(float); ++i) {
      const float x = 0.995f + static_cast<float>(i * i % 101) * 1e-4f;
      std::memcpy(&terms[i * sizeof x], &x, sizeof x);
    }
    const KernelMemory result = run.on_gpu(kernel);
    for (std::size_t row = 0; row < 9; ++row)
      CHECK(f32_at(result[4], row * columns) == product_of_row(terms, row, columns));
  }
}

TEST_CASE("cuda: an index out of range is told and taken as 0") {
  const jit::Loop loop = gather_loop(DType::f32);
  const GoldenKernel kernel = simulated_kernel("gather_f32");
  for (const std::int64_t index : {std::int64_t{-1}, std::int64_t{40}, INT64_MIN, INT64_MAX}) {
    KernelRun run(loop, {2}, 40, false);
    std::memcpy(&run.memory()[1][7 * sizeof index], &index, sizeof index);
    const KernelMemory result = run.on_gpu(kernel);
    CHECK(run.fault()[0] == 1);
    CHECK(run.fault()[1] == index);
    CHECK(f32_at(result[2], 7) == f32_at(result[0], 7));
  }
}

}  // namespace
}  // namespace sinter::tests
