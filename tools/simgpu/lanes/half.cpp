/// \file
/// Arithmetic of f16 and bf16, alone and in pairs, and of them with f32: PTX ISA 9.7.4 and 9.7.5.
#include "tools/simgpu/lanes/minimum.h"

namespace simgpu::SIMGPU_ISA {
namespace {

/// One operation of a format with all that may stand in its opcode, as one number and as two.
template <class F, auto f, int operands, Clamp clamp>
void add_operation(OpcodeTable& table, const char* name, const char* rounding_text) {
  each_flush<F>([&]<bool flushes>() {
    each_type<F, Pair<F>>([&]<class P>() {
      add_each<P, rounded<F, f, flushes, clamp>, operands>(
          table, {name, rounding_text, when(flushes, ".ftz"), clamp_name(clamp), ".", P::name});
    });
  });
}

/// With .rn, and without it, which is the same.
template <class F, Clamp clamp>
void add_arithmetic(OpcodeTable& table) {
  for (const char* rounding_text : {"", ".rn"}) {
    add_operation<F, plus, 2, clamp>(table, "add", rounding_text);
    add_operation<F, minus, 2, clamp>(table, "sub", rounding_text);
    add_operation<F, times, 2, clamp>(table, "mul", rounding_text);
  }
}

/// PTX ISA 9.7.5: operands of 16 bits become f32, which is exact, and the last one is f32.
template <class F, auto f, Clamp clamp>
constexpr auto mixed = [](auto... words) {
  const auto number = [](auto word) {
    if constexpr (sizeof(word) == 2) return F::number(word);
    else return bits_as<float>(word);
  };
  return finish<Single, false, clamp>(bits_as<u32>(f(number(words)...)));
};

template <class F, auto f, Rounding rounding, Clamp clamp, class... Words>
void add_mixed(OpcodeTable& table, const char* name, const char* rounding_text) {
  constexpr auto made = mixed<F, f, clamp>;
  table.add({name, rounding_text, clamp_name(clamp), ".f32.", F::name},
            {"d4", read<Words>..., " s4"},
            &in_rounding<rounding, &compute<true, made, u32, Words..., u32>>,
            &in_rounding<rounding, &compute<false, made, u32, Words..., u32>>);
}

}  // namespace

void half_opcodes(OpcodeTable& table) {
  add_arithmetic<Half, Clamp::none>(table);
  add_arithmetic<Half, Clamp::saturate>(table);
  add_arithmetic<Brain, Clamp::none>(table);
  each_value<Clamp::none, Clamp::saturate, Clamp::relu>([&]<Clamp clamp>() {
    add_operation<Half, fused<Half>, 3, clamp>(table, "fma", ".rn");
    if constexpr (clamp != Clamp::saturate)
      add_operation<Brain, fused<Brain>, 3, clamp>(table, "fma", ".rn");
  });
  each_type<Half, Brain>([&]<class F>() {
    add_signs<F, F>(table);
    add_signs<F, Pair<F>>(table);
  });
}

void half_extreme_opcodes(OpcodeTable& table) {
  each_type<Half, Brain>([&]<class F>() {
    add_extremes<F, F>(table);
    add_extremes<F, Pair<F>>(table);
  });
}

void mixed_opcodes(OpcodeTable& table) {
  each_type<Half, Brain>([&]<class F>() {
    each_value<Clamp::none, Clamp::saturate>([&]<Clamp clamp>() {
      add_mixed<F, plus, Rounding::nearest, clamp, u16>(table, "add", "");
      add_mixed<F, minus, Rounding::nearest, clamp, u16>(table, "sub", "");
      each_rounding([&]<Rounding rounding>() {
        const char* text = rounding_name(rounding);
        add_mixed<F, plus, rounding, clamp, u16>(table, "add", text);
        add_mixed<F, minus, rounding, clamp, u16>(table, "sub", text);
        add_mixed<F, fused<Single>, rounding, clamp, u16, u16>(table, "fma", text);
      });
    });
  });
}

}  // namespace simgpu::SIMGPU_ISA
