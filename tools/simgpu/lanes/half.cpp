/// \file
/// Arithmetic of f16 and bf16, alone and in pairs, and of them with f32: PTX ISA 9.7.4 and 9.7.5.
#include "tools/simgpu/lanes/minimum.h"

namespace simgpu::SIMGPU_ISA {
namespace {

/// One operation of a format with all that may stand in its opcode, as one number and as two.
template <class F, Text name, class Operation, int operands, Clamp clamp, Text type, Text pair_type,
          std::size_t capacity>
constexpr void add_operation(OpcodeTable<capacity>& table) {
  each_flag([&]<bool flushes>() {
    if constexpr (F::bias == Half::bias || !flushes) {
      constexpr Text ftz = when(flushes, ".ftz"), end = clamp_text<clamp>;
      using Function = Arithmetic<F, Operation, Rounding::nearest, flushes, clamp>;
      add_each<F, 1, operands, Function, name, ftz, end, type>(table);
      add_each<F, 2, operands, Function, name, ftz, end, pair_type>(table);
    }
  });
}

/// With .rn, and without it, which is the same.
template <class F, Text name, class Operation, Clamp clamp, Text type, Text pair_type,
          std::size_t capacity>
constexpr void add_both_names(OpcodeTable<capacity>& table) {
  constexpr Text rounded = Joined<name, ".rn">::made.text();
  add_operation<F, name, Operation, 2, clamp, type, pair_type>(table);
  add_operation<F, rounded, Operation, 2, clamp, type, pair_type>(table);
}

template <class F, Clamp clamp, Text type, Text pair_type, std::size_t capacity>
constexpr void add_arithmetic(OpcodeTable<capacity>& table) {
  add_both_names<F, "add", Add, clamp, type, pair_type>(table);
  add_both_names<F, "sub", Subtract, clamp, type, pair_type>(table);
  add_both_names<F, "mul", Multiply, clamp, type, pair_type>(table);
}

constexpr auto arithmetic_table = [] {
  OpcodeTable<96> table;
  add_arithmetic<Half, Clamp::none, ".f16", ".f16x2">(table);
  add_arithmetic<Half, Clamp::saturate, ".f16", ".f16x2">(table);
  add_arithmetic<Brain, Clamp::none, ".bf16", ".bf16x2">(table);
  each_value<Clamp::none, Clamp::saturate, Clamp::relu>([&]<Clamp clamp>() {
    add_operation<Half, "fma.rn", MultiplyAdd, 3, clamp, ".f16", ".f16x2">(table);
  });
  each_value<Clamp::none, Clamp::relu>([&]<Clamp clamp>() {
    add_operation<Brain, "fma.rn", MultiplyAdd, 3, clamp, ".bf16", ".bf16x2">(table);
  });
  add_signs<Half, 1, true, ".f16">(table);
  add_signs<Half, 2, true, ".f16x2">(table);
  add_signs<Brain, 1, false, ".bf16">(table);
  add_signs<Brain, 2, false, ".bf16x2">(table);
  return table;
}();

constexpr auto extreme_table = [] {
  OpcodeTable<48> table;
  add_extremes<Half, 1, true, ".f16">(table);
  add_extremes<Half, 2, true, ".f16x2">(table);
  add_extremes<Brain, 1, false, ".bf16">(table);
  add_extremes<Brain, 2, false, ".bf16x2">(table);
  return table;
}();

/// PTX ISA 9.7.5: operands of 16 bits become f32, which is exact, and the last one is f32.
template <bool all, class F, class Operation, Rounding rounding, Clamp clamp, int... operand>
void mixed(Warp& w, const Instruction& i) {
  const HostRounding<rounding> scope;
  const auto run = [&](const float* last, const auto*... from) {
    write<all>(w, lanes<std::uint32_t>(w, i, 0), [&](int lane) {
      const float made = Operation::template apply<Single>(F::number(from[lane])..., last[lane]);
      return finish<Single, false, clamp>(bits_as<std::uint32_t>(made));
    });
  };
  run(lanes<float>(w, i, sizeof...(operand) + 1), lanes<std::uint16_t>(w, i, operand)...);
}

template <class F, Text type, std::size_t capacity>
constexpr void add_mixed(OpcodeTable<capacity>& table) {
  const auto add = [&]<Rounding rounding, Text rounding_name, Clamp clamp>() {
    constexpr Text end = clamp_text<clamp>;
    const auto both = [&]<Text name, class Operation>() {
      table.template add<name, rounding_name, end, type>(
          "d4 s2 s4", SIMGPU_BOTH(mixed, F, Operation, rounding, clamp, 1));
    };
    both.template operator()<"add", Add>();
    both.template operator()<"sub", Subtract>();
    if constexpr (rounding_name.length != 0)
      table.template add<"fma", rounding_name, end, type>(
          "d4 s2 s2 s4", SIMGPU_BOTH(mixed, F, MultiplyAdd, rounding, clamp, 1, 2));
  };
  each_value<Clamp::none, Clamp::saturate>([&]<Clamp clamp>() {
    add.template operator()<Rounding::nearest, "", clamp>();
    each_value<Rounding::nearest, Rounding::zero, Rounding::down, Rounding::up>(
        [&]<Rounding rounding>() {
          add.template operator()<rounding, rounding_text<rounding>, clamp>();
        });
  });
}

constexpr auto mixed_table = [] {
  OpcodeTable<64> table;
  add_mixed<Half, ".f32.f16">(table);
  add_mixed<Brain, ".f32.bf16">(table);
  return table;
}();

}  // namespace

OpcodeList half_opcodes() { return arithmetic_table.list("half"); }
OpcodeList half_extreme_opcodes() { return extreme_table.list("half extreme"); }
OpcodeList mixed_opcodes() { return mixed_table.list("mixed"); }

}  // namespace simgpu::SIMGPU_ISA
