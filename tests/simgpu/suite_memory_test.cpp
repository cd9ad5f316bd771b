// Where data lies: tests/simgpu/kernels/memory.cu.
#include <algorithm>
#include <array>

#include "tests/simgpu/kernel_suite.h"

namespace simgpu {
namespace {

using S64 = std::int64_t;

/// Numbers whose sums and products are exact.
std::vector<float> small_integers(std::size_t count, std::uint64_t seed) {
  std::vector<float> made = numbers<float>(count, seed, -8, 8);
  for (float& each : made) each = std::floor(each);
  return made;
}

std::vector<KernelRow> shared_rows() {
  const auto a = numbers<double>(960, 1, -1, 1);
  std::vector<double> reversed = a;
  for (std::size_t i = 0; i < a.size(); i += 96) std::reverse(&reversed[i], &reversed[i] + 96);
  const auto b = words<std::int32_t>(100, 2);
  const auto c = words<std::int16_t>(100, 3);
  std::vector<std::int32_t> interleaved =
      each<std::int32_t>([](std::int32_t x, std::int16_t y) { return x * y; }, b, c);
  std::reverse(interleaved.begin(), interleaved.end());
  const auto singles = numbers<float>(70 * 45, 4, -1, 1);
  const auto bytes = words<std::uint8_t>(70 * 45, 5);
  auto turned_singles = singles;
  auto turned_bytes = bytes;
  for (std::size_t r = 0; r < 70; ++r)
    for (std::size_t k = 0; k < 45; ++k) {
      turned_singles[k * 70 + r] = singles[r * 45 + k];
      turned_bytes[k * 70 + r] = bytes[r * 45 + k];
    }
  const LaunchConfiguration tiles = {{2, 3, 1}, {32, 8, 1}};
  const auto line = small_integers(400, 6);
  constexpr float weights[] = {1, -2, 3, -4, 5};
  std::vector<float> stencil(400);
  for (std::size_t i = 0; i < 400; ++i)
    for (std::size_t k = 0; k < 5; ++k)
      if (i + k >= 2 && i + k - 2 < 400) stencil[i] += weights[k] * line[i + k - 2];
  return {
      row("reversed", threads(960), exactly(reversed), a),
      row("interleaved", grid(1, 64, 600), exactly(interleaved), b, c, 100),
      row("transposed_f32", tiles, exactly(turned_singles), singles, 70, 45),
      row("transposed_u8", tiles, exactly(turned_bytes), bytes, 70, 45),
      row("stencil", threads(400), exactly(stencil), line, 400),
  };
}

std::vector<KernelRow> local_rows() {
  const auto a = numbers<float>(96 * 50, 7, -1, 1);
  std::vector<float> greatest;
  std::vector<std::int32_t> places;
  for (std::size_t r = 0; r < 96; ++r) {
    std::vector<std::int32_t> order(50);
    for (std::int32_t i = 0; i < 50; ++i) order[static_cast<std::size_t>(i)] = i;
    const auto at = [&](std::int32_t i) { return a[r * 50 + static_cast<std::size_t>(i)]; };
    std::sort(order.begin(), order.end(), [&](auto x, auto y) { return at(x) > at(y); });
    for (std::size_t k = 0; k < 5; ++k) {
      places.push_back(order[k]);
      greatest.push_back(at(order[k]));
    }
  }
  std::vector<std::int32_t> order(16), permuted;
  for (std::int32_t i = 0; i < 16; ++i) order[static_cast<std::size_t>(i)] = (i * 5 + 3) % 16;
  for (std::int32_t t = 0; t < 96; ++t) {
    std::array<std::int32_t, 16> values{}, turned{};
    for (std::size_t i = 0; i < 16; ++i) values[i] = t * 100 + static_cast<std::int32_t>(i);
    for (int round = 0; round < 2; ++round) {
      for (std::size_t i = 0; i < 16; ++i)
        turned[static_cast<std::size_t>(order[(static_cast<std::size_t>(t) + i) % 16])] = values[i];
      values = turned;
    }
    permuted.insert(permuted.end(), values.begin(), values.end());
  }
  return {
      row("greatest", threads(96), exactly(greatest), exactly(places), a, 50, 5),
      row("permuted", threads(96), exactly(permuted), order),
  };
}

struct Slices {
  float* slices[4];
  std::int32_t sizes[4];
};
struct Tail {
  char head;
  std::int64_t numbers[3];
  std::int16_t tail;
};

/// Slices of one array: a row whose parameter holds addresses.
KernelRow slices_row() {
  return {
      "scaled_slices", [](SimulatedDevice& device) {
        const auto a = numbers<float>(500, 8, -1, 1);
        float* memory = device.upload(a);
        const Slices slices{{memory, memory + 100, memory + 101, memory + 350}, {100, 1, 249, 150}};
        float* out = device.allocate<float>(500);
        const LaunchConfiguration sizes = {{2, 4, 1}, {64, 1, 1}};
        check_ran(device.launch("scaled_slices", sizes, out, slices, 0.5f));
        const auto halved = each<float>([](float x) { return x * 0.5f; }, a);
        CHECK(difference(exactly(halved), device.download(out, 500)) == "");
      }};
}

std::vector<KernelRow> module_rows() {
  constexpr double weights[] = {1, -2, 3, -4, 5, -6, 7, -8};
  constexpr double squares[] = {0, 1, 4, 9, 16, 25, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0};
  std::vector<double> constants(96);
  for (std::size_t i = 0; i < 96; ++i)
    constants[i] = weights[i % 8] * 0.5 - 7 + squares[i % 4 * 4 + i / 4 % 4];
  const auto bytes = words<std::uint8_t>(5000, 9);
  std::vector<std::uint32_t> bins(256);
  for (const std::uint8_t each : bytes) ++bins[each];
  const Tail given{'Z', {10, -20, std::int64_t{1} << 40}, -5};
  std::vector<S64> changed;
  for (std::size_t t = 0; t < 12; ++t) {
    for (std::size_t k = 0; k < 3; ++k)
      changed.push_back(given.numbers[k] + (k == t % 3 ? given.tail + 3 : 0));
    changed.push_back(given.head ^ static_cast<char>(t));
  }
  const std::vector<std::int32_t> all{288};
  return {
      row("constants", threads(96), exactly(constants)),
      row("counted", threads(96), exactly(all), 3),
      row("counted", threads(96), exactly(all), 3),  // once more: it is as before
      row("histogram", grid(3, 128), exactly(bins, std::vector<std::uint32_t>(256)), bytes, 5000),
      slices_row(),
      row("changed_parameters", grid(1, 12), exactly(changed), given, char{3}),
  };
}

std::vector<KernelRow> loop_rows() {
  constexpr std::size_t m = 33, n = 20, k = 40;
  const auto a = small_integers(m * k, 10), b = small_integers(k * n, 11);
  std::vector<float> product(m * n);
  for (std::size_t i = 0; i < m * n; ++i)
    for (std::size_t j = 0; j < k; ++j) product[i] += a[i / n * k + j] * b[j * n + i % n];
  constexpr std::ptrdiff_t images = 2, channels = 3, height = 8, width = 12, filters = 4;
  const auto image = small_integers(images * channels * height * width, 12);
  const auto w = small_integers(filters * channels * 9, 13);
  std::vector<float> convolved;
  for (std::ptrdiff_t i = 0; i < images * filters * height * width; ++i) {
    const std::ptrdiff_t x = i % width, y = i / width % height;
    const std::ptrdiff_t filter = i / width / height % filters, of = i / width / height / filters;
    float sum = 0;
    for (std::ptrdiff_t j = 0; j < channels * 9; ++j) {
      const std::ptrdiff_t c = j / 9, from_y = y + j % 9 / 3 - 1, from_x = x + j % 3 - 1;
      if (from_y < 0 || from_y >= height || from_x < 0 || from_x >= width) continue;
      const auto at = ((of * channels + c) * height + from_y) * width + from_x;
      sum += image[static_cast<std::size_t>(at)] *
             w[static_cast<std::size_t>(filter * channels * 9 + j)];
    }
    convolved.push_back(sum);
  }
  const auto plane = numbers<float>(24 * 16, 14, -1, 1);
  std::vector<float> pooled;
  std::vector<std::int32_t> places;
  for (std::size_t i = 0; i < 96; ++i) {
    const std::size_t first = i / 12 * 2 * 24 + i % 12 * 2;
    std::size_t best = first;
    for (const std::size_t at : {first + 1, first + 24, first + 25})
      if (plane[at] > plane[best]) best = at;
    pooled.push_back(plane[best]);
    places.push_back(static_cast<std::int32_t>(best));
  }
  return {
      row("product", {{2, 3, 1}, {16, 16, 1}}, exactly(product), a, b, 33, 20, 40),
      row("convolution", threads(768), exactly(convolved), image, w, 3, 8, 12, 4, 3),
      row("pooled", threads(96), exactly(pooled), exactly(places), plane, 24),
  };
}

std::vector<KernelRow> network_rows() {
  std::vector<Brain> gradient = numbers<Brain>(480, 15, -4, 4);
  for (Brain& each : gradient) each = std::floor(double{each});
  std::vector<S64> rows = words<S64>(40, 16);
  for (S64& each : rows) each = (each % 10 + 10) % 10;
  std::vector<float> table(120);
  for (std::size_t i = 0; i < 480; ++i)
    table[static_cast<std::size_t>(rows[i / 12]) * 12 + i % 12] +=
        static_cast<float>(double{gradient[i]});
  const auto q = numbers<Brain>(2 * 192, 17, -2, 2);
  const auto cosines = numbers<float>(48, 18, -1, 1), sines = numbers<float>(48, 19, -1, 1);
  std::vector<Brain> rotated;
  for (std::size_t i = 0; i < 192; ++i) {
    const auto x = static_cast<float>(double{q[2 * i]}),
               y = static_cast<float>(double{q[2 * i + 1]});
    const std::size_t at = i / 8 / 2 % 6 * 8 + i % 8;
    rotated.push_back(Brain(double{x * cosines[at] - y * sines[at]}));
    rotated.push_back(Brain(double{x * sines[at] + y * cosines[at]}));
  }
  const auto weight = numbers<float>(480, 20, -1, 1), first = numbers<float>(480, 21, -1, 1),
             second = numbers<float>(480, 22, 0, 1);
  auto new_weight = weight, new_first = first, new_second = second;
  std::vector<Brain> copy(480);
  for (std::size_t i = 0; i < 480; ++i) {
    const auto g = static_cast<float>(double{gradient[i]});
    const float m = new_first[i] = 0.9f * first[i] + 0.1f * g;
    const float v = new_second[i] = 0.99f * second[i] + 0.01f * g * g;
    const float step = m / 0.5f / (std::sqrt(v / 0.25f) + 1e-8f) + 0.01f * weight[i];
    copy[i] = Brain(double{new_weight[i] = weight[i] - 0.1f * step});
  }
  return {
      row("embedding_gradient", threads(480), exactly(table, std::vector<float>(120)), gradient,
          rows, 12, 480),
      row("rotated", threads(192), exactly(rotated), q, cosines, sines, 2, 8, 6),
      row("adam", threads(480), exactly(new_weight, weight), exactly(new_first, first),
          exactly(new_second, second), exactly(copy), gradient, 0.1f, 0.01f, 0.5f, 0.25f, 480),
  };
}

}  // namespace

TEST_CASE("simgpu suite: where data lies, and loops over it" * doctest::skip(!has_nvrtc())) {
  std::vector<KernelRow> rows;
  for (auto make : {shared_rows, local_rows, module_rows, loop_rows, network_rows})
    for (KernelRow& each : make()) rows.push_back(std::move(each));
  check_kernels("memory.cu", rows, {"--fmad=false"});
}

}  // namespace simgpu
