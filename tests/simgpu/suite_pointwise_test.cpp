// One thread, one element: tests/simgpu/kernels/pointwise.cu.
#include <algorithm>

#include "tests/simgpu/kernel_suite.h"

namespace simgpu {
namespace {

constexpr std::size_t count = 960;
constexpr int n = count;

template <class T>
T mixed(std::size_t i, T a, T b) {
  switch (i % 12) {
    case 0: return static_cast<T>(a + b);
    case 1: return static_cast<T>(a - b);
    case 2: return static_cast<T>(a * b);
    case 3: return static_cast<T>(b == 0 ? a : a / b);
    case 4: return static_cast<T>(b == 0 ? a : a % b);
    case 5: return static_cast<T>(a & b);
    case 6: return static_cast<T>(a | ~b);
    case 7: return static_cast<T>(a ^ b);
    case 8: return static_cast<T>(a << (b & 7));
    case 9: return static_cast<T>(a >> (b & 7));
    case 10: return a < b ? a : b;
    default: return static_cast<T>(a > b ? a - 1 : -b);
  }
}

template <class T>
KernelRow integer_row(const char* name) {
  const std::vector<T> a = words<T>(count, 1), b = words<T>(count, 2);
  return row(name, threads(count), exactly(each<T>(mixed<T>, a, b)), a, b, n);
}

/// Small numbers are exact as doubles, and so are their sums and products here.
template <class T>
T blended(std::size_t i, T a, T b, T c) {
  const auto fused = [](auto x, auto y, auto z) { return T(std::fma(x, y, z)); };
  using Wide = std::conditional_t<is_small<T>, double, T>;
  const Wide x = a, y = b, z = c;
  switch (i % 9) {
    case 0: return T(x + y);
    case 1: return T(x - y);
    case 2: return T(x * y);
    case 3: return T(x / y);
    case 4: return fused(x, y, z);
    case 5: return x < y ? a : b;
    case 6: return T(-x);
    case 7: return x < y ? c : a;
    default: return T(Wide(T(x * y)) + z);
  }
}

template <class T>
KernelRow float_row(const char* name) {
  const std::vector<T> a = numbers<T>(count, 1, -8, 8), b = numbers<T>(count, 2, 0.5, 8),
                       c = numbers<T>(count, 3, -8, 8);
  // Fewer threads than elements.
  return row(name, grid(3, 96), exactly(each<T>(blended<T>, a, b, c)), a, b, c, n);
}

template <class T>
KernelRow pair_row(const char* name) {
  const std::vector<T> a = numbers<T>(2 * count, 1, -8, 8), b = numbers<T>(2 * count, 2, -8, 8);
  const auto one = [](std::size_t i, T p, T q) {
    const double x = p, y = q;
    switch (i / 2 % 9) {
      case 0: return T(x + y);
      case 1: return T(x - y);
      case 2: return T(x * y);
      case 3: return T(std::fma(x, y, x));
      case 4: return T(std::max(x, y));
      case 5: return T(std::min(x, y));
      case 6: return T(-x);
      case 7: return T(std::fabs(y));
      default: return T(x < y ? 1 : 0);
    }
  };
  return row(name, threads(count), exactly(each<T>(one, a, b)), a, b, n);
}

template <class T, std::size_t width>
using Vector = std::array<T, width>;

template <class T, std::size_t width>
std::vector<Vector<T, width>> vectors(std::uint64_t seed) {
  std::vector<Vector<T, width>> made(count);
  const std::vector<T> flat = std::is_floating_point_v<T>
                                  ? numbers<T>(count * width, seed, -100, 100)
                                  : words<T>(count * width, seed);
  for (std::size_t i = 0; i < flat.size(); ++i) made[i / width][i % width] = flat[i];
  return made;
}

/// A row whose kernel takes vectors.
template <class Out, class F, class... In>
KernelRow vector_row(const char* name, F f, const std::vector<In>&... in) {
  return row(name, threads(count), exactly(each<Out>(f, in...)), in...);
}

std::vector<KernelRow> vector_rows() {
  using F4 = Vector<float, 4>;
  using D2 = Vector<double, 2>;
  using B4 = Vector<std::uint8_t, 4>;
  using S4 = Vector<std::int16_t, 4>;
  using L2 = Vector<std::int64_t, 2>;
  const auto f4 = vectors<float, 4>(1), g4 = vectors<float, 4>(2);
  const auto add4 = [](F4 x, F4 y) {
    return F4{x[0] + y[3], x[1] - y[2], x[2] * y[1], x[3] + y[0]};
  };
  std::vector<KernelRow> rows;
  rows.push_back(row("vectors_float4", threads(count), exactly(each<F4>(add4, f4, g4)), f4, g4, n));
  rows.push_back(vector_row<D2>(
      "vectors_double2",
      [](D2 x) {
        return D2{x[1], x[0] + x[1]};
      },
      vectors<double, 2>(3)));
  rows.push_back(vector_row<B4>(
      "vectors_uchar4",
      [](B4 x, Vector<std::int8_t, 2> y) {
        const auto byte = [](int value) { return static_cast<std::uint8_t>(value); };
        return B4{x[3], byte(x[2] + y[0]), byte(x[1] * y[1]), byte(x[0] >> 1)};
      },
      vectors<std::uint8_t, 4>(4), vectors<std::int8_t, 2>(5)));
  rows.push_back(vector_row<S4>(
      "vectors_short",
      [](Vector<std::uint16_t, 2> x, S4 y) {
        const auto half = [](int value) { return static_cast<std::int16_t>(value); };
        return S4{half(y[3] + x[0]), half(y[2] - x[1]), y[1], half(-y[0])};
      },
      vectors<std::uint16_t, 2>(6), vectors<std::int16_t, 4>(7)));
  rows.push_back(vector_row<L2>(
      "vectors_long",
      [](L2 x, Vector<std::int32_t, 2> y) {
        return L2{x[1] * y[0], x[0] + y[1]};
      },
      vectors<std::int64_t, 2>(8), vectors<std::int32_t, 2>(9)));
  rows.push_back(vector_row<F4>(
      "masked",
      [](B4 m, F4 v) {
        for (std::size_t k = 0; k < 4; ++k)
          if (m[k] == 0) v[k] = 0;
        return v;
      },
      [] {
        auto masks = vectors<std::uint8_t, 4>(10);
        for (auto& mask : masks)
          for (auto& byte : mask) byte = byte % 3 == 0 ? 0 : byte;
        return masks;
      }(),
      f4));
  const std::vector<Brain> eights = numbers<Brain>(8 * count, 11, -4, 4);
  const auto scaled = each<Brain>([](Brain x) { return Brain(x * 0.75); }, eights);
  rows.push_back(row("vectors_bf16", threads(count), exactly(scaled), eights, 0.75f));
  return rows;
}

std::vector<KernelRow> other_rows() {
  using Byte = std::uint8_t;
  std::vector<float> a = numbers<float>(2 * count, 12, -1, 1);
  const std::vector<float> b = numbers<float>(count, 13, -1, 1);
  const std::vector<float> first(a.begin(), a.begin() + n);
  std::vector<float> holed = first;
  for (std::size_t i = 0; i < count; i += 7) holed[i] = std::nanf("");
  std::vector<Byte> mask = words<Byte>(count, 14);
  for (Byte& each : mask) each &= 1;
  std::vector<Byte> held(2 * count);
  std::vector<float> sums(3 * count);
  for (std::size_t i = 0; i < count; ++i) {
    const bool chosen = mask[i] != 0;
    held[i] = (chosen && holed[i] > b[i]) || !(b[i] <= 0) || std::isnan(holed[i]);
    held[count + i] = (chosen != (holed[i] < 0)) != (b[i] >= holed[i]);
    sums[i] = a[i] + a[i + count];
    sums[count + i] = a[i] - a[i + count];
    sums[2 * count + i] = a[i] * a[i + count];
  }
  const std::vector<float> any = words<float>(count, 15);
  std::vector<double> wide = words<double>(count, 16);
  for (std::size_t i = 0; i < count; i += 5)
    wide[i] = i % 2 == 0 ? std::numeric_limits<double>::infinity() : -std::nan("");
  const auto classes = each<std::int32_t>(
      [](float x, double y) {
        const auto of = [](auto v) {
          return int{std::isnan(v)} | int{std::isinf(v)} << 1 | int{std::isfinite(v)} << 2 |
                 int{std::signbit(v)} << 3;
        };
        return of(x) | of(y) << 4;
      },
      any, wide);
  return {
      row("predicates", threads(count), exactly(held), mask, holed, b, n),
      row("cached", threads(count), exactly(sums), a, n),
      row("classes", threads(count), exactly(classes), any, wide),
  };
}

}  // namespace

TEST_CASE("simgpu suite: one thread, one element" * doctest::skip(!has_nvrtc())) {
  std::vector<KernelRow> rows = {
      integer_row<std::int8_t>("integers_s8"),
      integer_row<std::uint8_t>("integers_u8"),
      integer_row<std::int16_t>("integers_s16"),
      integer_row<std::uint16_t>("integers_u16"),
      integer_row<std::int32_t>("integers_s32"),
      integer_row<std::uint32_t>("integers_u32"),
      integer_row<std::int64_t>("integers_s64"),
      integer_row<std::uint64_t>("integers_u64"),
      float_row<float>("floats_f32"),
      float_row<double>("floats_f64"),
      float_row<Half>("floats_f16"),
      float_row<Brain>("floats_bf16"),
      pair_row<Half>("pairs_f16"),
      pair_row<Brain>("pairs_bf16"),
  };
  for (auto make : {vector_rows, other_rows})
    for (KernelRow& each : make()) rows.push_back(std::move(each));
  check_kernels("pointwise.cu", rows, {"--fmad=false"});
}

}  // namespace simgpu
