// The derivatives of the rows of ops.def, and the compositions their expressions use.

#include "runtime/elementwise.h"
#include "runtime/gradients.h"

namespace sinter {
namespace {

constexpr double inverse_sqrt_2pi = 0.39894228040143268;

const Tensor none;

/// The gradient of minimum or maximum to an operand: all of it where that one was `chosen`, half at
/// a tie.
Tensor extremum_gradient(const Tensor& g, const Tensor& chosen, const Tensor& a, const Tensor& b) {
  return where(chosen, g, where(sinter::equal(a, b), g * 0.5, 0.0));
}

/// b * a^(b-1); 0 where b is 0, also for a = 0.
Tensor pow_gradient_base(const Tensor& g, const Tensor& a, const Tensor& b) {
  return where(sinter::equal(b, 0.0), 0.0, g * (b * pow(a, b - 1.0)));
}

/// y * log(a); 0 where a is 0 and b is not negative.
Tensor pow_gradient_exponent(const Tensor& g, const Tensor& a, const Tensor& b, const Tensor& y) {
  const Tensor flat = logical_and(sinter::equal(a, 0.0), b >= 0.0);
  return where(flat, 0.0, g * (y * log(a)));
}

Tensor silu_second_derivative(const Tensor& a) {
  const Tensor s = sigmoid(a);
  const Tensor slope = s * (1.0 - s);
  // Where the slope has vanished the product with a large `a` is its limit, 0.
  return where(sinter::equal(slope, 0.0), 0.0, slope * (2.0 + a * (1.0 - s * 2.0)));
}

Tensor gelu_second_derivative(const Tensor& a) {
  const Tensor density = exp(square(a) * -0.5) * inverse_sqrt_2pi;
  return where(sinter::equal(density, 0.0), 0.0, density * (2.0 - square(a)));
}

/// With u = k (a + c a^3) and s = sigmoid(2u), gelu_tanh is a s; its second derivative is
/// 2 s' + a s'' with s' = 2 u' s (1 - s) and s'' = 2 s (1 - s) (u'' + 2 u'^2 (1 - 2 s)).
Tensor gelu_tanh_second_derivative(const Tensor& a) {
  constexpr double k = 0.79788456080286536, c = 0.044715;
  const Tensor s = sigmoid((a + a * square(a) * c) * (2.0 * k));
  const Tensor slope = s * (1.0 - s);
  const Tensor u1 = (square(a) * (3.0 * c) + 1.0) * k, u2 = a * (6.0 * c * k);
  const Tensor curve = u1 * 2.0 + a * (u2 + square(u1) * 2.0 * (1.0 - s * 2.0));
  return where(sinter::equal(slope, 0.0), 0.0, slope * 2.0 * curve);
}

// Each rule evaluates its expressions only where they are wanted. The names g, a, b, c and y are
// those of the expressions in ops.def.
template <Op op>
std::vector<Tensor> differentiate(const GradientContext& context);

#define SINTER_UNARY(name, rule, value, gradient)                               \
  template <>                                                                   \
  std::vector<Tensor> differentiate<Op::name>(const GradientContext& context) { \
    const Tensor& g = context.g();                                              \
    const Tensor& a = context.inputs[0];                                        \
    const Tensor& y = context.result;                                           \
    static_cast<void>(g), static_cast<void>(a), static_cast<void>(y);           \
    return {gradient};                                                          \
  }
#define SINTER_BINARY(name, rule, value, gradient_a, gradient_b)                \
  template <>                                                                   \
  std::vector<Tensor> differentiate<Op::name>(const GradientContext& context) { \
    const Tensor& g = context.g();                                              \
    const Tensor& a = context.inputs[0];                                        \
    const Tensor& b = context.inputs[1];                                        \
    const Tensor& y = context.result;                                           \
    static_cast<void>(g), static_cast<void>(a), static_cast<void>(b);           \
    static_cast<void>(y);                                                       \
    return {context.wanted[0] ? Tensor(gradient_a) : none,                      \
            context.wanted[1] ? Tensor(gradient_b) : none};                     \
  }
#define SINTER_TERNARY(name, rule, value, gradient_a, gradient_b, gradient_c)   \
  template <>                                                                   \
  std::vector<Tensor> differentiate<Op::name>(const GradientContext& context) { \
    const Tensor& g = context.g();                                              \
    const Tensor& a = context.inputs[0];                                        \
    return {none, context.wanted[1] ? Tensor(gradient_b) : none,                \
            context.wanted[2] ? Tensor(gradient_c) : none};                     \
  }
#include "runtime/ops.def"

}  // namespace

GradientRule elementwise_gradient_rule(Op op) {
  switch (op) {
// clang-format off
#define SINTER_UNARY(name, ...) case Op::name: return differentiate<Op::name>;
#define SINTER_BINARY(name, ...) case Op::name: return differentiate<Op::name>;
#define SINTER_TERNARY(name, ...) case Op::name: return differentiate<Op::name>;
#include "runtime/ops.def"
      // clang-format on
    default: return nullptr;
  }
}

}  // namespace sinter
