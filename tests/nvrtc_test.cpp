#include "jit/nvrtc.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>

#include "jit/emit.h"
#include "runtime/cuda/nvrtc_library.h"
#include "runtime/error.h"
#include "tests/pattern_chains.h"
#include "tests/pattern_loops.h"

namespace sinter::tests {
namespace {

bool is_missing() {
  if (cuda::nvrtc_library() != nullptr) return false;
  std::fputs("NVRTC is not installed (SINTER_CUDA_PATH): kernels are not compiled for GPUs\n",
             stderr);
  return true;
}
/// The most a kernel takes; 128 are there for each thread of the largest block.
constexpr int most_registers = 120;

const bool missing = is_missing();

std::string all_kernels() {
  std::string text;
  for (const NamedLoop& named : named_loops()) text += jit::emit(named.loop, named.name);
  return jit::cuda_source(text);
}

TEST_CASE("nvrtc: every pattern compiles for each architecture without spills" *
          doctest::skip(missing)) {
  const std::string source = all_kernels();
  for (const int architecture : {80, 90, 100}) {
    const auto start = std::chrono::steady_clock::now();
    const auto code = jit::compile_cuda(source, architecture);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    REQUIRE(code);
    REQUIRE(code->kernels.size() == named_loops().size());
    CHECK(code->ptx.find(fmt::format(".target sm_{}", architecture)) != std::string::npos);
    CHECK(
        code->cubin.starts_with("\x7f"
                                "ELF"));
    std::string table = fmt::format("sm_{}: {:.2f} s\n", architecture, seconds.count());
    for (const jit::KernelResources& kernel : code->kernels) {
      CAPTURE(kernel.name);
      CHECK(kernel.registers > 0);
      CHECK(kernel.registers <= most_registers);
      CHECK(kernel.spilled == 0);
      CHECK(kernel.stack == 0);
      CHECK(kernel.shared_memory <= 8192);
      table += fmt::format("  {:36} {:3} registers, {:4} bytes of shared memory\n", kernel.name,
                           kernel.registers, kernel.shared_memory);
    }
    MESSAGE(table);
  }
}

TEST_CASE("nvrtc: two compilations give the same bytes" * doctest::skip(missing)) {
  const jit::Loop loop = gelu_chain_loop(DType::bf16);
  const std::string source = jit::cuda_source(jit::emit(loop, "gelu_chain"));
  const auto first = jit::compile_cuda(source, 90), second = jit::compile_cuda(source, 90);
  CHECK(first->cubin == second->cubin);
  CHECK(first->ptx == second->ptx);
}

TEST_CASE("nvrtc: no product and sum is contracted, and nothing flushes denormals" *
          doctest::skip(missing)) {
  const auto code = jit::compile_cuda(jit::cuda_source(jit::emit(adam_loop(), "adam")), 90);
  CHECK(code->ptx.find("mul.rn.f32") != std::string::npos);
  CHECK(code->ptx.find("div.rn.f32") != std::string::npos);
  CHECK(code->ptx.find("sqrt.rn.f32") != std::string::npos);
  for (const char* wrong : {".ftz", "fma.", "approx"})
    CHECK(code->ptx.find(wrong) == std::string::npos);
}

TEST_CASE("nvrtc: an error carries the log and the kept source" * doctest::skip(missing)) {
  const std::string source = "__global__ void broken() { nothing(); }\n";
  try {
    jit::compile_cuda(source, 90);
    FAIL("it compiled");
  } catch (const CompileError& error) {
    CHECK(error.log().find("\"nothing\" is undefined") != std::string::npos);
    CHECK(std::string(error.what()).find(error.source_path()) != std::string::npos);
    CHECK(std::filesystem::file_size(error.source_path()) == source.size());
    std::filesystem::remove(error.source_path());
  }
  CHECK_THROWS_AS(jit::compile_cuda(source, 1), CompileError);
}

TEST_CASE("nvrtc: resources are read from the log") {
  const auto kernels = jit::parse_resources(
      "ptxas info    : 473 bytes gmem\n"
      "ptxas info    : Compiling entry function 'first' for 'sm_90'\n"
      "ptxas info    : Function properties for first\n"
      "ptxas         .     40 bytes stack frame, 36 bytes spill stores, 44 bytes spill loads\n"
      "ptxas info    : Used 64 registers, used 1 barriers, 40 bytes cumulative stack size, 4608 "
      "bytes smem\n"
      "ptxas info    : Compiling entry function 'second' for 'sm_90'\n"
      "ptxas info    : Used 255 registers, 376 bytes cmem[0]");
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].name == "first");
  CHECK(kernels[0].registers == 64);
  CHECK(kernels[0].spilled == 80);
  CHECK(kernels[0].stack == 40);
  CHECK(kernels[0].shared_memory == 4608);
  CHECK(kernels[1].name == "second");
  CHECK(kernels[1].registers == 255);
  CHECK(kernels[1].spilled == 0);
}

}  // namespace
}  // namespace sinter::tests
