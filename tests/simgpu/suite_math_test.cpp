// Functions of <cmath>: tests/simgpu/kernels/math.cu, within the errors that the CUDA C++
// programming guide lists ("Mathematical functions", "Intrinsic functions"). The references have 64
// bits.
#include "tests/simgpu/kernel_suite.h"
#include "tools/simgpu/machine/settings.h"

namespace simgpu {
namespace {

constexpr std::size_t count = 480;
constexpr long double pi = 3.14159265358979323846264338327950288L;

using Wide = long double;
using One = Wide (*)(Wide);
using Two = Wide (*)(Wide, Wide);

/// With SIMGPU_PERTURB instructions are off by as much as the PTX ISA grants, two units of ex2 and
/// 2^-20.5 of sin and cos; the errors of the guide are those of GPUs, which are off by less.
double usual_or_granted(double usual, double granted) {
  return perturbation() == nullptr ? usual : granted;
}

/// `ulps` 0 is exact.
template <class T, class Function, class... In>
KernelRow approximate(const char* name, Function function, double ulps, double absolute,
                      const std::vector<In>&... in) {
  std::vector<Wide> wanted;
  for (std::size_t i = 0; i < count; ++i) wanted.push_back(function(static_cast<double>(in[i])...));
  if (ulps != 0)
    return row(name, threads(count),
               near<T>(wanted, usual_or_granted(ulps, ulps < 1 ? ulps : ulps + 2), absolute),
               in...);
  std::vector<T> values;
  for (const Wide each : wanted)
    if constexpr (is_small<T>) values.push_back(static_cast<double>(each));
    else values.push_back(static_cast<T>(each));
  return row(name, threads(count), exactly(values), in...);
}

/// A function of one number, with its error between two ends.
template <class T>
struct OfOne {
  const char* name;
  One function;
  double ulps, from, to;
};
template <class T>
struct OfTwo {
  const char* name;
  Two function;
  double ulps, from, to, second_from, second_to;
};

Wide rsqrt(Wide x) { return 1 / std::sqrt(x); }
Wide reciprocal(Wide x) { return 1 / x; }
Wide quotient(Wide x, Wide y) { return x / y; }
Wide sinpi(Wide x) { return std::sin(pi * x); }
Wide exp10(Wide x) { return std::pow(Wide{10}, x); }

constexpr OfOne<float> single_ones[] = {
    {"f32_exp", std::exp, 2, -80, 80},        {"f32_exp2", std::exp2, 2, -140, 127},
    {"f32_exp10", exp10, 2, -37, 38},         {"f32_expm1", std::expm1, 1, -2, 2},
    {"f32_log", std::log, 1, 1e-30, 100},     {"f32_log2", std::log2, 1, 1e-3, 3},
    {"f32_log10", std::log10, 2, 1e-3, 1e5},  {"f32_log1p", std::log1p, 1, -0.9, 1},
    {"f32_sqrt", std::sqrt, 0, 0, 1e6},       {"f32_rsqrt", rsqrt, 2, 1e-6, 100},
    {"f32_cbrt", std::cbrt, 1, -100, 100},    {"f32_sin", std::sin, 2, -300, 300},
    {"f32_cos", std::cos, 2, -2e5, 2e5},      {"f32_tan", std::tan, 4, -9, 9},
    {"f32_sinpi", sinpi, 2, -0.9, 0.9},       {"f32_asin", std::asin, 2, -1, 1},
    {"f32_acos", std::acos, 2, -1, 1},        {"f32_atan", std::atan, 2, -20, 20},
    {"f32_sinh", std::sinh, 3, -20, 20},      {"f32_cosh", std::cosh, 2, -20, 20},
    {"f32_tanh", std::tanh, 2, -5, 5},        {"f32_asinh", std::asinh, 3, -50, 50},
    {"f32_erf", std::erf, 2, -3, 3},          {"f32_erfc", std::erfc, 4, -3, 8},
    {"f32_lgamma", std::lgamma, 6, 0.1, 50},  {"f32_tgamma", std::tgamma, 5, 0.2, 30},
    {"f32_reciprocal", reciprocal, 0, -9, 9},
};
constexpr OfTwo<float> single_twos[] = {
    {"f32_pow", std::pow, 4, 0.01, 20, -9, 9},
    {"f32_atan2", std::atan2, 3, -4, 4, -4, 4},
    {"f32_hypot", std::hypot, 3, -1e20, 1e20, -1e20, 1e20},
    {"f32_fmod", std::fmod, 0, -1e6, 1e6, 0.1, 3},
    {"f32_remainder", std::remainder, 0, -1e4, 1e4, 0.1, 3},
    {"f32_quotient", quotient, 0, -9, 9, 0.01, 9},
};
constexpr OfOne<double> double_ones[] = {
    {"f64_exp", std::exp, 1, -700, 700}, {"f64_log", std::log, 1, 1e-9, 1e9},
    {"f64_rsqrt", rsqrt, 1, 1e-6, 100},  {"f64_sin", std::sin, 2, -2000, 2000},
    {"f64_cos", std::cos, 2, -9, 9},     {"f64_tanh", std::tanh, 2, -3, 3},
    {"f64_erf", std::erf, 2, -3, 3},     {"f64_cbrt", std::cbrt, 1, -1e6, 1e6},
};
constexpr OfTwo<double> double_twos[] = {
    {"f64_pow", std::pow, 2, 0.01, 20, -9, 9},
    {"f64_fmod", std::fmod, 0, -1e6, 1e6, 0.1, 3},
};
constexpr OfOne<Half> half_ones[] = {
    {"f16_exp", std::exp, 1, -9, 9},     {"f16_log", std::log, 1, 0.01, 100},
    {"f16_sqrt", std::sqrt, 1, 0, 1000}, {"f16_rsqrt", rsqrt, 1, 0.01, 100},
    {"f16_sin", std::sin, 1, -3, 3},     {"f16_reciprocal", reciprocal, 1, -9, 9},
    {"f16_tanh", std::tanh, 1, -3, 3},   {"f16_floor", std::floor, 0, -100, 100},
};
constexpr OfOne<Brain> brain_ones[] = {
    {"bf16_exp", std::exp, 1, -40, 40},     {"bf16_log2", std::log2, 1, 0.01, 100},
    {"bf16_rsqrt", rsqrt, 1, 0.01, 100},    {"bf16_tanh", std::tanh, 1, -3, 3},
    {"bf16_rint", std::rint, 0, -100, 100},
};

template <class T, std::size_t size>
void add(std::vector<KernelRow>& rows, const OfOne<T> (&functions)[size]) {
  for (const OfOne<T>& each : functions)
    rows.push_back(approximate<T>(each.name, each.function, each.ulps, 0,
                                  numbers<T>(count, rows.size(), each.from, each.to)));
}
template <class T, std::size_t size>
void add(std::vector<KernelRow>& rows, const OfTwo<T> (&functions)[size]) {
  for (const OfTwo<T>& each : functions)
    rows.push_back(approximate<T>(
        each.name, each.function, each.ulps, 0, numbers<T>(count, rows.size(), each.from, each.to),
        numbers<T>(count, rows.size() + 1, each.second_from, each.second_to)));
}

/// What has one rounding in the type itself, which a reference in more bits would round twice.
std::vector<KernelRow> rounded_rows() {
  const auto a = numbers<float>(count, 1, -9, 9), b = numbers<float>(count, 2, -30, 30);
  const auto c = numbers<double>(count, 3, 1e-3, 9), d = numbers<double>(count, 4, -9, 9);
  const auto scaled = [](float x, float y) { return std::ldexp(x, static_cast<int>(y)); };
  const auto next = [](float x, float y) { return std::nextafter(x, y); };
  return {
      row("f32_ldexp", threads(count), exactly(each<float>(scaled, a, b)), a, b),
      row("f32_nextafter", threads(count), exactly(each<float>(next, a, b)), a, b),
      row("f64_sqrt", threads(count),
          exactly(each<double>([](double x) { return std::sqrt(x); }, c)), c),
      row("f64_quotient", threads(count),
          exactly(each<double>([](double x, double y) { return x / y; }, d, c)), d, c),
  };
}

std::vector<KernelRow> fast_rows() {
  const auto small = numbers<float>(count, 5, -3.1, 3.1);
  const auto positive = numbers<float>(count, 6, 0.5, 4);
  const auto large = numbers<float>(count, 7, -5, 5);
  // Where a relative error is the documented one, half of the smallest unit is never reached.
  constexpr double none = 1e-300;
  // 2^-20.5, and what rounding the reference adds.
  const double of_waves = usual_or_granted(0x1p-21, 0x1.6a09e7p-21 + 0x1p-24);
  return {
      approximate<float>("fast_exp", One(std::exp), 2 + 5, 0, large),
      approximate<float>("fast_log", One(std::log), 3, 0x1p-21, positive),
      approximate<float>("fast_sin", One(std::sin), none, of_waves, small),
      approximate<float>("fast_cos", One(std::cos), none, of_waves, small),
      approximate<float>("fast_quotient", quotient, 2, 0, large, positive),
      // exp2(y * log2(x)): the error of the logarithm grows with y and the exponent.
      approximate<float>("fast_pow", Two(std::pow), 100, 0, positive, large),
      approximate<float>("fast_tanh", One(std::tanh), 0x1p13, 0, large),
  };
}

std::vector<KernelRow> activation_rows() {
  const auto a = numbers<float>(count, 8, -4, 4);
  const auto brains = numbers<Brain>(count, 9, -4, 4);
  const auto halves = numbers<Half>(count, 10, -4, 4);
  const auto random = words<std::uint32_t>(2 * count, 11);
  std::vector<Wide> by_tanh, by_erf, silu, normal;
  for (std::size_t i = 0; i < count; ++i) {
    const Wide x = a[i], y = double{brains[i]}, z = double{halves[i]};
    by_tanh.push_back(0.5L * x * (1 + std::tanh(0.7978845608L * (x + 0.044715L * x * x * x))));
    by_erf.push_back(0.5L * y * (1 + std::erf(y * 0.70710678L)));
    silu.push_back(z / (1 + std::exp(-z)));
    const float first = (static_cast<float>(random[2 * i]) + 1.0f) * 2.3283064e-10f;
    const float second = 2 * (static_cast<float>(random[2 * i + 1]) * 2.3283064e-10f);
    const Wide radius = std::sqrt(-2 * std::log(Wide{first}));
    normal.push_back(radius * std::sin(pi * second));
    normal.push_back(radius * std::cos(pi * second));
  }
  using S64 = std::int64_t;
  return {
      row("gelu_tanh", threads(count), near<float>(by_tanh, 8, 1e-6), a, S64{count}),
      row("gelu_erf", grid(2, 96), near<Brain>(by_erf, 1, 1e-6), brains, S64{count}),
      row("silu", threads(count), near<Half>(silu, 1, 1e-6), halves),
      row("box_muller", threads(count), near<float>(normal, 8, 1e-5), random),
  };
}

}  // namespace

TEST_CASE("simgpu suite: functions of numbers, within their documented errors" *
          doctest::skip(!has_nvrtc())) {
  std::vector<KernelRow> rows;
  add(rows, single_ones);
  add(rows, single_twos);
  add(rows, double_ones);
  add(rows, double_twos);
  add(rows, half_ones);
  add(rows, brain_ones);
  for (auto make : {rounded_rows, fast_rows, activation_rows})
    for (KernelRow& each : make()) rows.push_back(std::move(each));
  check_kernels("math.cu", rows);
}

}  // namespace simgpu
