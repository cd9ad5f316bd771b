// Compiled once for each instruction set, with SINTER_ISA as its name.
#include "tests/math_table.h"
#include "kernels/math.h"

namespace sinter {
namespace {

using kernels::VecF;
namespace m = kernels::m;

#define UNARY(name) ONE(m::name, #name)
#define UNARY_HERE(name) ONE(name, #name)
#define ONE(f, name)                                                               \
  {name,                                                                           \
   [](const float* x, const float*, float* y, std::ptrdiff_t n) {                  \
     for (std::ptrdiff_t i = 0; i < n; i += 16) f(VecF::load(x + i)).store(y + i); \
   },                                                                              \
   [](const float* x, const float*, float* y, std::ptrdiff_t n) {                  \
     for (std::ptrdiff_t i = 0; i < n; ++i) y[i] = f(x[i]);                        \
   },                                                                              \
   false},
#define BINARY(name)                                                    \
  {#name,                                                               \
   [](const float* x, const float* z, float* y, std::ptrdiff_t n) {     \
     for (std::ptrdiff_t i = 0; i < n; i += 16)                         \
       m::name(VecF::load(x + i), VecF::load(z + i)).store(y + i);      \
   },                                                                   \
   [](const float* x, const float* z, float* y, std::ptrdiff_t n) {     \
     for (std::ptrdiff_t i = 0; i < n; ++i) y[i] = m::name(x[i], z[i]); \
   },                                                                   \
   true},

float to_bf16_and_back(float x) { return kernels::from_bf16<float>(kernels::to_bf16(x)); }
VecF to_bf16_and_back(const VecF& x) { return kernels::from_bf16<VecF>(kernels::to_bf16(x)); }
float to_f16_and_back(float x) { return kernels::from_f16<float>(kernels::to_f16(x)); }
VecF to_f16_and_back(const VecF& x) { return kernels::from_f16<VecF>(kernels::to_f16(x)); }

constexpr MathFunction functions[] = {
    // clang-format off
    UNARY(exp) UNARY(exp2) UNARY(expm1) UNARY(log) UNARY(log2) UNARY(log10) UNARY(log1p) UNARY(sqrt)
    UNARY(rsqrt) UNARY(reciprocal) UNARY(sin) UNARY(cos) UNARY(tan) UNARY(asin) UNARY(acos)
    UNARY(atan) UNARY(sinh) UNARY(cosh) UNARY(tanh) UNARY(asinh) UNARY(acosh) UNARY(atanh)
    UNARY(erf) UNARY(erfc) UNARY(sigmoid) UNARY(log_sigmoid) UNARY(softplus) UNARY(silu)
    UNARY(silu_derivative) UNARY(gelu) UNARY(gelu_derivative) UNARY(gelu_tanh)
    UNARY(gelu_tanh_derivative) UNARY(relu) UNARY(abs) UNARY(sign) UNARY(floor) UNARY(ceil)
    UNARY(trunc) UNARY(round) UNARY(square) UNARY(isnan) UNARY(isinf) UNARY(isfinite)
    UNARY(logical_not) BINARY(pow) BINARY(atan2) BINARY(fmod) BINARY(remainder) BINARY(floor_divide)
    BINARY(maximum) BINARY(minimum) BINARY(less) BINARY(logical_xor) BINARY(copysign)
    UNARY_HERE(to_bf16_and_back) UNARY_HERE(to_f16_and_back)
    // clang-format on
};

}  // namespace

namespace SINTER_ISA {

MathTable math_table() { return {functions, sizeof functions / sizeof functions[0]}; }

}  // namespace SINTER_ISA
}  // namespace sinter
