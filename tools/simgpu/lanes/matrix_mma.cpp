// mma.sync and wmma.mma.sync with dense operands: PTX ISA 9.7.14.5.14 and 9.7.14.4.5. What sm_120
// has alone (.kind, .block_scale) is not there.

#include "tools/simgpu/lanes/matrix_multiply.h"

namespace simgpu::SIMGPU_ISA {
namespace {

using enum Element;

/// An opcode that is named by `before`, the types of its operands, and `after`.
template <Shape shape, Kind kind, Text after, Text... before>
constexpr void add(auto& made) {
  add_multiplication<shape, kind, before..., ".", text_of(kind.d), ".", text_of(kind.a), ".",
                     text_of(kind.b), ".", text_of(kind.c), after>(made);
}

/// mma of numbers with accumulators of the same type.
template <Shape shape, Text name, Element d, Element a, Element b = a>
constexpr void add_mma(auto& made) {
  add<shape, Kind{d, a, b, d}, "", "mma.sync.aligned.", name, ".row.col">(made);
}

template <FragmentLayout a, FragmentLayout b, Text layouts>
constexpr void add_quads(auto& made) {
  constexpr Shape halves = {a, b, quad_c_half, quad_c_half};
  constexpr Shape singles = {a, b, quad_c_single, quad_c_single};
  constexpr Shape widened = {a, b, quad_c_half, quad_c_single};
  add<halves, Kind{f16, f16, f16, f16}, "", "mma.sync.aligned.m8n8k4", layouts>(made);
  add<singles, Kind{f32, f16, f16, f32}, "", "mma.sync.aligned.m8n8k4", layouts>(made);
  add<widened, Kind{f32, f16, f16, f16}, "", "mma.sync.aligned.m8n8k4", layouts>(made);
}

template <Rounding rounding>
consteval Text rounding_name() {
  return rounding == Rounding::zero   ? ".rz"
         : rounding == Rounding::down ? ".rm"
         : rounding == Rounding::up   ? ".rp"
                                      : ".rn";
}

/// Of f64: with each rounding, and without one, which is .rn. The text has the rounding before the
/// types, and writes it behind them in its examples; so do compilers.
template <Shape shape, Text... name>
constexpr void add_doubles(auto& made) {
  add<shape, Kind{f64, f64, f64, f64}, "", name...>(made);
  each_value<Rounding::nearest, Rounding::zero, Rounding::down, Rounding::up>(
      [&]<Rounding rounding>() {
        constexpr Kind kind = {f64, f64, f64, f64, Products::plain, rounding};
        add<shape, kind, "", name..., rounding_name<rounding>()>(made);
        add<shape, kind, rounding_name<rounding>(), name...>(made);
      });
}

/// Of integers, of every sign, and with .satfinite.
template <Shape shape, Text name, Element with_sign, Element without>
constexpr void add_integers(auto& made) {
  each_value<with_sign, without>([&]<Element a>() {
    each_value<with_sign, without>([&]<Element b>() {
      each_flag([&]<bool saturates>() {
        constexpr Kind kind = {s32, a, b, s32, saturates ? Products::saturated : Products::plain};
        add<shape, kind, "", "mma.sync.aligned.", name, ".row.col", when(saturates, ".satfinite")>(
            made);
      });
    });
  });
}

template <Shape shape, Text name>
constexpr void add_bits(auto& made) {
  constexpr Kind either = {s32, b1, b1, s32, Products::exclusive_or};
  constexpr Kind both = {s32, b1, b1, s32, Products::conjunction};
  add<shape, either, ".xor.popc", "mma.sync.aligned.", name, ".row.col">(made);
  add<shape, both, ".and.popc", "mma.sync.aligned.", name, ".row.col">(made);
}

constexpr auto mma_table = [] {
  OpcodeTable<128> made;
  add_quads<quad_a_row, quad_b_row, ".row.row">(made);
  add_quads<quad_a_row, quad_b_column, ".row.col">(made);
  add_quads<quad_a_column, quad_b_row, ".col.row">(made);
  add_quads<quad_a_column, quad_b_column, ".col.col">(made);
  add_mma<m16n8k8_16, "m16n8k8", f16, f16>(made);
  add_mma<m16n8k8_16, "m16n8k8", f32, f16>(made);
  add_mma<m16n8k8_16, "m16n8k8", f32, bf16>(made);
  add_mma<m16n8k16_16, "m16n8k16", f16, f16>(made);
  add_mma<m16n8k16_16, "m16n8k16", f32, f16>(made);
  add_mma<m16n8k16_16, "m16n8k16", f32, bf16>(made);
  add_mma<m16n8k4_32, "m16n8k4", f32, tf32>(made);
  add_mma<m16n8k8_32, "m16n8k8", f32, tf32>(made);
  each_value<f16, f32>([&]<Element d>() {
    each_value<e4m3, e5m2>([&]<Element a>() {
      each_value<e4m3, e5m2>([&]<Element b>() {
        add_mma<m16n8k16_8, "m16n8k16", d, a, b>(made);
        add_mma<m16n8k32_8, "m16n8k32", d, a, b>(made);
      });
    });
  });
  add_doubles<m8n8k4_64, "mma.sync.aligned.", "m8n8k4.row.col">(made);
  add_doubles<m16n8k4_32, "mma.sync.aligned.", "m16n8k4.row.col">(made);
  add_doubles<m16n8k8_32, "mma.sync.aligned.", "m16n8k8.row.col">(made);
  add_doubles<m16n8k16_64, "mma.sync.aligned.", "m16n8k16.row.col">(made);
  add_integers<m8n8k16_8, "m8n8k16", s8, u8>(made);
  add_integers<m16n8k16_8, "m16n8k16", s8, u8>(made);
  add_integers<m16n8k32_8, "m16n8k32", s8, u8>(made);
  add_integers<m8n8k32_4, "m8n8k32", s4, u4>(made);
  add_integers<m16n8k32_4, "m16n8k32", s4, u4>(made);
  add_integers<m16n8k64_4, "m16n8k64", s4, u4>(made);
  add_bits<m8n8k128_1, "m8n8k128">(made);
  add_bits<m16n8k128_1, "m16n8k128">(made);
  add_bits<m16n8k256_1, "m16n8k256">(made);
  return made;
}();

// wmma.mma. Its fragments are the same whatever layout the matrices have in memory.

template <Shape shape, Kind kind, Text name, Text after = "">
constexpr void add_wmma(auto& made) {
  each_value<Text(".row"), Text(".col")>([&]<Text a>() {
    each_value<Text(".row"), Text(".col")>(
        [&]<Text b>() { add<shape, kind, after, "wmma.mma.sync.aligned", a, b, name>(made); });
  });
}

/// Of f16: the types of A and B are not named.
template <Shape shape, Element d, Element c, Text name>
constexpr void add_wmma_half(auto& made) {
  each_value<Text(".row"), Text(".col")>([&]<Text a>() {
    each_value<Text(".row"), Text(".col")>([&]<Text b>() {
      add_multiplication<shape, Kind{d, f16, f16, c}, "wmma.mma.sync.aligned", a, b, name, ".",
                         text_of(d), ".", text_of(c)>(made);
    });
  });
}

template <Shape half, Shape brain, Shape bytes, Text name>
constexpr void add_wmma_shape(auto& made) {
  each_value<f16, f32>([&]<Element d>() {
    each_value<f16, f32>([&]<Element c>() { add_wmma_half<half, d, c, name>(made); });
  });
  add_wmma<brain, Kind{f32, bf16, bf16, f32}, name>(made);
  each_value<s8, u8>([&]<Element a>() {
    add_wmma<bytes, Kind{s32, a, a, s32}, name>(made);
    add_wmma<bytes, Kind{s32, a, a, s32, Products::saturated}, name, ".satfinite">(made);
  });
}

constexpr auto wmma_table = [] {
  OpcodeTable<160> made;
  add_wmma_shape<m16n16k16_half, m16n16k16_16, m16n16k16_8, ".m16n16k16">(made);
  add_wmma_shape<m8n32k16_half, m8n32k16_16, m8n32k16_8, ".m8n32k16">(made);
  add_wmma_shape<m32n8k16_half, m32n8k16_16, m32n8k16_8, ".m32n8k16">(made);
  add_wmma<m16n16k8_32, Kind{f32, tf32, tf32, f32}, ".m16n16k8">(made);
  each_value<Text(".row"), Text(".col")>([&]<Text a>() {
    each_value<Text(".row"), Text(".col")>(
        [&]<Text b>() { add_doubles<m8n8k4_64, "wmma.mma.sync.aligned", a, b, ".m8n8k4">(made); });
  });
  each_value<s4, u4>([&]<Element a>() {
    add<m8n8k32_4, Kind{s32, a, a, s32}, "", "wmma.mma.sync.aligned.", "row.col.m8n8k32">(made);
    add<m8n8k32_4, Kind{s32, a, a, s32, Products::saturated}, ".satfinite",
        "wmma.mma.sync.aligned.", "row.col.m8n8k32">(made);
  });
  add<m8n8k128_1, Kind{s32, b1, b1, s32, Products::exclusive_or}, "", "wmma.mma.xor.popc.sync",
      ".aligned.row.col", ".m8n8k128">(made);
  add<m8n8k128_1, Kind{s32, b1, b1, s32, Products::conjunction}, "", "wmma.mma.and.popc.sync",
      ".aligned.row.col", ".m8n8k128">(made);
  return made;
}();

}  // namespace

OpcodeList mma_opcodes() { return mma_table.list("mma"); }
OpcodeList wmma_mma_opcodes() { return wmma_table.list("wmma.mma"); }

}  // namespace simgpu::SIMGPU_ISA
