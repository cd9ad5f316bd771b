// What follows the sums of a product: bias, activation, residual and the one rounding.
#include <type_traits>

#include "kernels/gemm_blocks.h"
#include "kernels/math.h"

namespace sinter::kernels {
inline namespace SINTER_ISA {

void multiply_f64(const BlockedOperands<double>& x);
void multiply_i64(const BlockedOperands<std::int64_t>& x);
void multiply_wide(const WideOperands& x);

namespace {

// How elements of a dtype are read to and written from the compute type.
struct F32Format {
  using Item = float;
  static VecF load(const Item* from) { return VecF::load(from); }
  static void store(const VecF& x, Item* to) { x.store(to); }
};
struct F64Format {
  using Item = double;
  static VecD load(const Item* from) { return VecD::load(from); }
  static void store(const VecD& x, Item* to) { x.store(to); }
};
/// An f32 result of sums in f64.
struct NarrowFormat {
  using Item = float;
  static VecD load(const Item* from) { return to_f64(VecF::load(from)); }
  static void store(const VecD& x, Item* to) { to_f32(x).store(to); }
};
struct Bf16Format {
  using Item = std::uint16_t;
  static VecF load(const Item* from) { return load_bf16(from); }
  static void store(const VecF& x, Item* to) { store_bf16(x, to); }
};
struct F16Format {
  using Item = std::uint16_t;
  static VecF load(const Item* from) { return load_f16(from); }
  static void store(const VecF& x, Item* to) { store_f16(x, to); }
};

// The order of LinearActivation.
struct NoActivation {
  template <class V>
  SINTER_INLINE static V apply(const V& x) {
    return x;
  }
};
#define SINTER_ACTIVATION(Name, function)      \
  struct Name {                                \
    template <class V>                         \
    SINTER_INLINE static V apply(const V& x) { \
      return m::function(x);                   \
    }                                          \
  };
SINTER_ACTIVATION(Relu, relu)
SINTER_ACTIVATION(Gelu, gelu)
SINTER_ACTIVATION(GeluTanh, gelu_tanh)
SINTER_ACTIVATION(Silu, silu)
#undef SINTER_ACTIVATION

template <class Activation, class Format, class V>
SINTER_INLINE V activated(const V& x) {
  if constexpr (std::is_same_v<Format, NarrowFormat> && !std::is_same_v<Activation, NoActivation>)
    return to_f64(Activation::apply(to_f32(x)));
  else return Activation::apply(x);
}

/// One row; null pointers for no bias and no residual.
template <class C, class Format, class Activation>
void finish_row(const C* sums, const C* bias, const typename Format::Item* residual,
                typename Format::Item* out, std::int64_t columns) {
  using V = Vec<C>;
  for (std::int64_t j = 0; j < columns; j += vector_size) {
    const std::int64_t left = columns - j;
    const bool whole = left >= vector_size;
    V x = whole ? V::load(sums + j) : V::load_partial(sums + j, left, C{0});
    if (bias) x = x + (whole ? V::load(bias + j) : V::load_partial(bias + j, left, C{0}));
    x = activated<Activation, Format>(x);
    if (whole) {
      if (residual) x = x + Format::load(residual + j);
      Format::store(x, out + j);
      continue;
    }
    typename Format::Item edge[vector_size] = {};
    if (residual) {
      for (std::int64_t i = 0; i < left; ++i) edge[i] = residual[j + i];
      x = x + Format::load(edge);
    }
    Format::store(x, edge);
    for (std::int64_t i = 0; i < left; ++i) out[j + i] = edge[i];
  }
}

template <class C, class Format, class Activation>
void finish(const EpilogueOperands& x) {
  using Item = typename Format::Item;
  const auto* sums = static_cast<const C*>(x.sums);
  const auto* residual = static_cast<const Item*>(x.residual);
  auto* out = static_cast<Item*>(x.out);
  for (std::int64_t i = 0; i < x.rows; ++i)
    finish_row<C, Format, Activation>(sums + i * x.sums_row, static_cast<const C*>(x.bias),
                                      residual ? residual + i * x.residual_row : nullptr,
                                      out + i * x.out_row, x.columns);
}

template <class C, class Format>
void finish_activated(const EpilogueOperands& x) {
  switch (x.activation) {
    case 0: return finish<C, Format, NoActivation>(x);
    case 1: return finish<C, Format, Relu>(x);
    case 2: return finish<C, Format, Gelu>(x);
    case 3: return finish<C, Format, GeluTanh>(x);
    default: return finish<C, Format, Silu>(x);
  }
}

void epilogue_f32(const EpilogueOperands& x) {
  if (x.dtype == DType::f32) return finish_activated<float, F32Format>(x);
  if (x.dtype == DType::bf16) return finish_activated<float, Bf16Format>(x);
  finish_activated<float, F16Format>(x);
}

void epilogue_f64(const EpilogueOperands& x) {
  if (x.dtype == DType::f32) return finish_activated<double, NarrowFormat>(x);
  finish_activated<double, F64Format>(x);
}

template <class Item>
void finish_integers(const EpilogueOperands& x) {
  const auto* sums = static_cast<const std::int64_t*>(x.sums);
  const auto* bias = static_cast<const std::int64_t*>(x.bias);
  const auto* residual = static_cast<const Item*>(x.residual);
  auto* out = static_cast<Item*>(x.out);
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t j = 0; j < x.columns; ++j) {
      std::int64_t value = sums[i * x.sums_row + j] + (bias ? bias[j] : 0);
      if (x.activation == 1 && value < 0) value = 0;
      if (residual) value += static_cast<std::int64_t>(residual[i * x.residual_row + j]);
      out[i * x.out_row + j] = static_cast<Item>(value);
    }
}

void epilogue_i64(const EpilogueOperands& x) {
  switch (x.dtype) {
    case DType::boolean: return finish_integers<bool>(x);
    case DType::u8: return finish_integers<std::uint8_t>(x);
    case DType::i32: return finish_integers<std::int32_t>(x);
    default: return finish_integers<std::int64_t>(x);
  }
}

}  // namespace

const GemmFunctions& gemm_table() {
  static constexpr GemmFunctions functions = {multiply_f64, multiply_i64, multiply_wide,
                                              epilogue_f32, epilogue_f64, epilogue_i64};
  return functions;
}

}  // namespace SINTER_ISA
}  // namespace sinter::kernels
