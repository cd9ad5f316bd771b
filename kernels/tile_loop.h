/// \file
/// The loop of every elementwise op over a tile, and the table of the ops for one compute type.
/// Only for files compiled for each instruction set.
#pragma once

#include "kernels/op_functions.h"
#include "kernels/tiles.h"
#include "kernels/vector.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {

template <class F, class V, int... k>
SINTER_INLINE V apply(const V* x, std::integer_sequence<int, k...>) {
  return F::apply(x[k]...);
}

template <class C, class F>
void run_tile(const TileArguments& tile) {
  using V = Vec<C>;
  constexpr auto operands = std::make_integer_sequence<int, F::arity>();
  const C* in[F::arity];
  std::ptrdiff_t advance[F::arity];
  for (int k = 0; k < F::arity; ++k) {
    in[k] = static_cast<const C*>(tile.in[k]);
    advance[k] = tile.step[k] * vector_size;
  }
  C* out = static_cast<C*>(tile.out);
  std::ptrdiff_t left = tile.count;
  for (; left >= vector_size; left -= vector_size) {
    V x[F::arity];
    for (int k = 0; k < F::arity; ++k) {
      x[k] = V::load(in[k]);
      in[k] += advance[k];
    }
    apply<F>(x, operands).store(out);
    out += vector_size;
  }
  if (left == 0) return;
  V x[F::arity];
  for (int k = 0; k < F::arity; ++k) x[k] = V::load_partial(in[k], left, C(1));
  apply<F>(x, operands).store_partial(out, left);
}

template <class C, Rule rule, class F>
constexpr TileFunction entry() {
  constexpr bool integer = sizeof(C) == 8 && C(0.5f) == C(0);
  if constexpr (integer ? rule == Rule::floating : rule == Rule::bitwise) return nullptr;
  else return run_tile<C, F>;
}

template <class C>
struct OpTable {
  static constexpr TileFunction functions[elementwise_count] = {
#define SINTER_UNARY(name, rule, ...) entry<C, Rule::rule, name##_op>(),
#define SINTER_BINARY(name, rule, ...) entry<C, Rule::rule, name##_op>(),
#define SINTER_TERNARY(name, rule, ...) entry<C, Rule::rule, name##_op>(),
#include "runtime/ops.def"
  };
};

// Defined in tiles_f32.cpp, tiles_f64.cpp and tiles_i64.cpp.
const TileFunction* f32_functions();
const TileFunction* f64_functions();
const TileFunction* i64_functions();

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
