/// \file
/// Every elementwise op as a function of its operands: `tanh_op::apply(x)`. Only for files
/// compiled for each instruction set.
#pragma once

#include "kernels/math.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {

// One functor for each row of the table.
#define SINTER_UNARY(name, rule, value, gradient) \
  struct name##_op {                              \
    static constexpr int arity = 1;               \
    template <class V>                            \
    SINTER_INLINE static V apply(const V& a) {    \
      return value;                               \
    }                                             \
  };
#define SINTER_BINARY(name, rule, value, gradient_a, gradient_b) \
  struct name##_op {                                             \
    static constexpr int arity = 2;                              \
    template <class V>                                           \
    SINTER_INLINE static V apply(const V& a, const V& b) {       \
      return value;                                              \
    }                                                            \
  };
#define SINTER_TERNARY(name, rule, value, gradient_a, gradient_b, gradient_c) \
  struct name##_op {                                                          \
    static constexpr int arity = 3;                                           \
    template <class V>                                                        \
    SINTER_INLINE static V apply(const V& a, const V& b, const V& c) {        \
      return value;                                                           \
    }                                                                         \
  };
#include "runtime/ops.def"

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
