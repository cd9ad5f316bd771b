// Tiles of matrices that asynchronous copies bring: tests/simgpu/kernels/attention.cu.
#include <algorithm>

#include "tests/simgpu/kernel_suite.h"

namespace simgpu {
namespace {

KernelRow attention_row(std::size_t times) {
  constexpr std::size_t heads = 2, width = 32;
  constexpr double scale = 0.17677669529663687;  // of the width
  const auto q = numbers<Brain>(heads * times * width, 1, -2, 2),
             k = numbers<Brain>(heads * times * width, 2, -2, 2),
             v = numbers<Brain>(heads * times * width, 3, -2, 2);
  std::vector<long double> wanted(q.size());
  for (std::size_t query = 0; query < heads * times; ++query) {
    const std::size_t first = query / times * times;
    std::vector<double> weights;
    double total = 0;
    for (std::size_t key = first; key <= query; ++key) {
      double score = 0;
      for (std::size_t i = 0; i < width; ++i)
        score += double{q[query * width + i]} * double{k[key * width + i]};
      weights.push_back(std::exp(score * scale));
      total += weights.back();
    }
    for (std::size_t key = first; key <= query; ++key)
      for (std::size_t i = 0; i < width; ++i)
        wanted[query * width + i] += weights[key - first] / total * double{v[key * width + i]};
  }
  const auto blocks = static_cast<std::uint32_t>((times + 63) / 64);
  // Weights are rounded to bf16 on their way.
  return row("attention", {{blocks, heads, 1}, {128, 1, 1}}, near<Brain>(wanted, 1, 0x1p-7), q, k,
             v, static_cast<std::int32_t>(times), static_cast<float>(scale * 1.4426950408889634));
}

KernelRow product_row(std::size_t m, std::size_t n, std::size_t k) {
  auto a = numbers<Half>(m * k, 4, -4, 4), b = numbers<Half>(n * k, 5, -4, 4);
  for (Half& each : a) each = std::floor(double{each});
  for (Half& each : b) each = std::floor(double{each});
  std::vector<float> product;
  for (std::size_t i = 0; i < m * n; ++i) {
    double sum = 0;
    for (std::size_t at = 0; at < k; ++at)
      sum += double{a[i / n * k + at]} * double{b[i % n * k + at]};
    product.push_back(static_cast<float>(sum));
  }
  const auto tiles = [](std::size_t extent) {
    return static_cast<std::uint32_t>(extent + 31) / 32;
  };
  return row("pipelined", {{tiles(n), tiles(m), 1}, {128, 1, 1}, 15360}, exactly(product), a, b,
             static_cast<std::int32_t>(m), static_cast<std::int32_t>(n),
             static_cast<std::int32_t>(k));
}

}  // namespace

TEST_CASE("simgpu suite: matrices in tiles that asynchronous copies bring" *
          doctest::skip(!has_nvrtc())) {
  auto a = numbers<float>(128, 6, -1, 1), reversed = a;
  std::reverse(reversed.begin(), reversed.end());
  check_kernels("attention.cu", {
                                    attention_row(64),
                                    attention_row(100),
                                    product_row(64, 32, 128),
                                    product_row(50, 45, 96),
                                    row("small_copies", grid(1, 128), exactly(reversed), a),
                                });
}

}  // namespace simgpu
