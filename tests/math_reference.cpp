#include "tests/math_reference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

namespace sinter {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr double largest_float = std::numeric_limits<float>::max();

double sigmoid(double x) {
  return x >= 0.0 ? 1.0 / (1.0 + std::exp(-x)) : std::exp(x) / (1.0 + std::exp(x));
}
double softplus(double x) { return std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }

/// Functions with a limit at the infinities take it from these, where they have arrived.
double bounded(double x) { return std::isnan(x) ? x : std::fmin(std::fmax(x, -300.0), 300.0); }

double silu(double x) { return (x < 0.0 ? bounded(x) : x) * sigmoid(x); }
double silu_derivative(double x) {
  const double b = bounded(x);
  return sigmoid(b) * (1.0 + b * sigmoid(-b));
}

double normal_tail(double x) { return 0.5 * std::erfc(x / std::numbers::sqrt2); }
double gelu(double x) { return (x < 0.0 ? bounded(x) : x) * normal_tail(-x); }
double gelu_derivative(double x) {
  const double b = bounded(x);
  return normal_tail(-b) + b * std::exp(-0.5 * b * b) / std::sqrt(2.0 * std::numbers::pi);
}

const double linear = 2.0 * std::sqrt(2.0 / std::numbers::pi), cubic = linear * 0.044715;
double gelu_tanh(double x) {
  const double b = bounded(x), s = sigmoid(linear * b + cubic * b * b * b);
  return (x < 0.0 ? b : x) * s;
}
double gelu_tanh_derivative(double x) {
  const double b = bounded(x), u = linear * b + cubic * b * b * b;
  return sigmoid(u) * (1.0 + b * (linear + 3.0 * cubic * b * b) * sigmoid(-u));
}

#define ROW(name, allowed)                                      \
  {                                                             \
#name, [](double x) { return std::name(x); }, allowed, none \
  }
#define ROW_AS(name, expression, allowed)                     \
  {                                                           \
#name, [](double x) { return expression; }, allowed, none \
  }

const MathReference references[] = {
    ROW(exp, 1),
    ROW(exp2, 0.92),
    ROW(expm1, 0.92),
    ROW(log, 0.85),
    ROW(log2, 0.9),
    ROW(log10, 1),
    ROW(log1p, 0.92),
    ROW(sqrt, 0.5),
    ROW_AS(rsqrt, 1.0 / std::sqrt(x), 0.51),
    ROW_AS(reciprocal, 1.0 / x, 0.5),
    ROW(sin, 0.88),
    ROW(cos, 0.88),
    ROW(tan, 1.3),
    ROW(asin, 0.76),
    ROW(acos, 0.72),
    ROW(atan, 1.1),
    ROW(sinh, 1.8),
    ROW(cosh, 1.6),
    ROW(tanh, 1),
    ROW(asinh, 0.51),
    ROW(acosh, 0.51),
    ROW(atanh, 0.51),
    ROW(erf, 1.2),
    ROW(erfc, 1.6),
    ROW_AS(sigmoid, sigmoid(x), 1.1),
    ROW_AS(log_sigmoid, -softplus(-x), 1.7),
    ROW_AS(softplus, softplus(x), 1.7),
    ROW_AS(silu, silu(x), 1.2),
    {"silu_derivative", silu_derivative, 1.2, -1.2784645},
    ROW_AS(gelu, gelu(x), 1.6),
    {"gelu_derivative", gelu_derivative, 1.4, -0.7517916},
    ROW_AS(gelu_tanh, gelu_tanh(x), 1.1),
    {"gelu_tanh_derivative", gelu_tanh_derivative, 1.1, -0.7524614},
    ROW_AS(relu, x <= 0.0 ? 0.0 : x, 0.0),
    ROW_AS(abs, std::fabs(x), 0.0),
    ROW_AS(sign,
           x > 0.0   ? 1.0
           : x < 0.0 ? -1.0
                     : x,
           0.0),
    ROW(floor, 0.0),
    ROW(ceil, 0.0),
    ROW(trunc, 0.0),
    ROW_AS(round, std::nearbyint(x), 0.0),
    ROW_AS(square, x* x, 0.5),
};

}  // namespace

std::span<const MathReference> math_references() { return references; }

double error_in_ulp(const MathReference& f, float x, float got) {
  const double want = f.value(static_cast<double>(x));
  if (std::isnan(want) || std::isnan(got))
    return std::isnan(want) == std::isnan(got) ? 0.0 : infinity;
  if (x == 0.0f && std::signbit(want) != std::signbit(got)) return infinity;
  // Half a unit above the largest float is where rounding gives infinity.
  if (std::fabs(want) >= largest_float + 0x1p103) return std::isinf(got) ? 0.0 : infinity;
  const double value =
      std::isinf(got) ? std::copysign(0x1p128, got) : static_cast<double>(got);  // its next place
  const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(want) >> 52 & 2047) - 1023;
  const int last_place = std::max(exponent, -126) - 23;
  double unit = std::bit_cast<double>(static_cast<std::uint64_t>(last_place + 1023) << 52);
  if (std::fabs(static_cast<double>(x) - f.x_of_zero) < 1.0) unit = 0x1p-24;
  return std::fabs(value - want) / unit;
}

}  // namespace sinter
