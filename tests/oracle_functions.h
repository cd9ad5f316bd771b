/// \file
/// What the rows of oracle.def are written in: the C library in long double, plain integer
/// arithmetic, and closed forms. Nothing here is shared with the kernels.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace sinter::tests::o {

using Real = long double;
using Integer = std::int64_t;

inline constexpr Real pi = std::numbers::pi_v<long double>;

template <typename T>
T sign(T x) {
  return x == x ? static_cast<T>((x > 0) - (x < 0)) : x;
}
template <typename T>
T relu(T x) {
  return x <= 0 ? T(0) : x;
}
inline bool isinf(Real x) { return std::isinf(x); }
inline bool isinf(Integer) { return false; }
inline bool isfinite(Real x) { return std::isfinite(x); }
inline bool isfinite(Integer) { return true; }
inline Real abs(Real x) { return std::fabs(x); }
inline Integer abs(Integer x) { return x < 0 ? -x : x; }

// Whole numbers are what they are.
#define SINTER_ROUNDING(name, real)         \
  inline Real name(Real x) { return real; } \
  inline Integer name(Integer x) { return x; }
SINTER_ROUNDING(floor, std::floor(x))
SINTER_ROUNDING(ceil, std::ceil(x))
SINTER_ROUNDING(trunc, std::trunc(x))
SINTER_ROUNDING(round, std::nearbyint(x))
#undef SINTER_ROUNDING

inline Real sigmoid(Real x) { return 1 / (1 + std::exp(-x)); }
inline Real softplus(Real x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}
/// x * y where y vanishes faster than x grows.
inline Real damped(Real x, Real y) { return y == 0 ? y : x * y; }
inline Real silu(Real x) { return damped(x, sigmoid(x)); }
inline Real silu_derivative(Real x) { return sigmoid(x) + damped(x, sigmoid(x) * sigmoid(-x)); }
/// The normal distribution and its density.
inline Real normal_cdf(Real x) { return std::erfc(-x / std::sqrt(Real(2))) / 2; }
inline Real normal_density(Real x) { return std::exp(-x * x / 2) / std::sqrt(2 * pi); }
inline Real gelu(Real x) { return damped(x, normal_cdf(x)); }
inline Real gelu_derivative(Real x) { return normal_cdf(x) + damped(x, normal_density(x)); }
/// The argument of the tanh kind, and its derivative.
inline Real gelu_inner(Real x) { return std::sqrt(2 / pi) * (x + Real(0.044715L) * x * x * x); }
inline Real gelu_inner_derivative(Real x) {
  return std::sqrt(2 / pi) * (1 + 3 * Real(0.044715L) * x * x);
}
/// (1 + tanh(u)) / 2 without cancellation.
inline Real gelu_tanh(Real x) { return damped(x, sigmoid(2 * gelu_inner(x))); }
inline Real gelu_tanh_derivative(Real x) {
  const Real s = sigmoid(2 * gelu_inner(x));
  return s + damped(2 * x * gelu_inner_derivative(x), s * sigmoid(-2 * gelu_inner(x)));
}

/// Towards minus infinity, as Python's //.
inline Real floor_divide(Real a, Real b) {
  if (b == 0) return a / b;
  const Real rest = std::fmod(a, b);
  const bool across = rest != 0 && (rest < 0) != (b < 0);
  return std::nearbyint((a - rest) / b) - (across ? 1 : 0);
}
inline Integer floor_divide(Integer a, Integer b) {
  const Integer quotient = a / b;
  return quotient - (quotient * b != a && (a < 0) != (b < 0) ? 1 : 0);
}
inline Real remainder(Real a, Real b) {
  const Real rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
inline Integer remainder(Integer a, Integer b) { return a - floor_divide(a, b) * b; }
inline Real fmod(Real a, Real b) { return std::fmod(a, b); }
inline Integer fmod(Integer a, Integer b) { return a % b; }
inline Real pow(Real a, Real b) { return std::pow(a, b); }
inline Integer pow(Integer a, Integer b) {
  Integer product = 1;
  for (Integer i = 0; i < b; ++i) product *= a;
  return product;
}

template <typename T>
T minimum(T a, T b) {
  if (a != a || b != b) return a + b;
  return a < b ? a : b;
}
template <typename T>
T maximum(T a, T b) {
  if (a != a || b != b) return a + b;
  return a < b ? b : a;
}

}  // namespace sinter::tests::o
