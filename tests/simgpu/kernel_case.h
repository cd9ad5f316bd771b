/// \file
/// A kernel of CUDA C++ that is run with several numbers, some of which make it commit a fault.
///
///     KernelCase c(kernel("more[i + n] = data[i];"));
///     CHECK(c.run(4, 128) == std::nullopt);
///     CHECK(c.run(4, 128, 1 << 20) == FaultKind::out_of_bounds);
#pragma once

#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "tests/simgpu/simulated_device.h"

namespace simgpu {

constexpr auto nothing = std::nullopt;

/// A kernel `k(int* data, int* more, int n)`, whose memory begins as 0, 1, 2 ... and as zeros.
struct KernelCase {
  static constexpr std::size_t words = 4096;

  explicit KernelCase(const std::string& source) { device.load_cuda(source, {"-lineinfo"}); }

  std::optional<FaultKind> run(std::uint32_t blocks, std::uint32_t threads, int n = 0,
                               std::uint32_t dynamic_shared = 0) {
    std::vector<int> values(words);
    std::iota(values.begin(), values.end(), 0);
    data = device.upload(values);
    more = device.upload(std::vector<int>(words));
    const auto report =
        device.launch("k", {{blocks, 1, 1}, {threads, 1, 1}, dynamic_shared}, data, more, n);
    text = report ? report->text : "";
    if (!report) return nothing;
    return report->kind;
  }
  int word(const int* from, std::size_t index) const { return device.download(from + index, 1)[0]; }

  SimulatedDevice device;
  int *data = nullptr, *more = nullptr;
  std::string text;
};

inline std::string kernel(const std::string& body, const std::string& before = "") {
  return before + "\nextern \"C\" __global__ void k(int* data, int* more, int n) {\n" +
         "  int t = threadIdx.x, b = blockIdx.x, i = b * blockDim.x + t;\n" + body + "\n}\n";
}

}  // namespace simgpu
