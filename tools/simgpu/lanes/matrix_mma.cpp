// mma.sync and wmma.mma.sync with dense operands: PTX ISA 9.7.14.5.14 and 9.7.14.4.5. What sm_120
// has alone (.kind, .block_scale) is not there.

#include "tools/simgpu/lanes/matrix_multiply.h"

namespace simgpu::SIMGPU_ISA {
namespace {

using enum Element;

/// Adds an opcode that is named by `before`, the types of its operands, and `after`.
template <Shape shape, Kind kind>
void add(OpcodeTable& table, Parts before, const char* after = "") {
  const char* const* part = before.begin();
  const auto at = [&](std::size_t n) { return n < before.size() ? part[n] : ""; };
  add_multiplication<shape, kind>(
      table, {at(0), at(1), at(2), at(3), ".", text_of(kind.d), ".", text_of(kind.a), ".",
              text_of(kind.b), ".", text_of(kind.c), after});
}

/// mma of numbers with accumulators of the same type.
template <Shape shape, Element d, Element a, Element b = a>
void add_mma(OpcodeTable& table, const char* name) {
  add<shape, Kind{d, a, b, d}>(table, {"mma.sync.aligned.", name, ".row.col"});
}

template <FragmentLayout a, FragmentLayout b>
void add_quads(OpcodeTable& table, const char* layouts) {
  constexpr Shape halves = {a, b, quad_c_half, quad_c_half};
  constexpr Shape singles = {a, b, quad_c_single, quad_c_single};
  constexpr Shape widened = {a, b, quad_c_half, quad_c_single};
  add<halves, Kind{f16, f16, f16, f16}>(table, {"mma.sync.aligned.m8n8k4", layouts});
  add<singles, Kind{f32, f16, f16, f32}>(table, {"mma.sync.aligned.m8n8k4", layouts});
  add<widened, Kind{f32, f16, f16, f16}>(table, {"mma.sync.aligned.m8n8k4", layouts});
}

/// Of f64: with each rounding, and without one, which is .rn. The text has the rounding before the
/// types, and writes it behind them in its examples; so do compilers.
template <Shape shape>
void add_doubles(OpcodeTable& table, const char* name, const char* layouts) {
  add<shape, Kind{f64, f64, f64, f64}>(table, {name, layouts});
  each_rounding([&]<Rounding rounding>() {
    constexpr Kind kind = {f64, f64, f64, f64, Products::plain, rounding};
    add<shape, kind>(table, {name, layouts, rounding_name(rounding)});
    add<shape, kind>(table, {name, layouts}, rounding_name(rounding));
  });
}

/// Of integers, of every sign, and with .satfinite.
template <Shape shape, Element with_sign, Element without>
void add_integers(OpcodeTable& table, const char* name) {
  each_value<with_sign, without>([&]<Element a>() {
    each_value<with_sign, without>([&]<Element b>() {
      each_flag([&]<bool saturates>() {
        constexpr Kind kind = {int32, a, b, int32,
                               saturates ? Products::saturated : Products::plain};
        add<shape, kind>(table,
                         {"mma.sync.aligned.", name, ".row.col", when(saturates, ".satfinite")});
      });
    });
  });
}

constexpr Kind either_bit = {int32, b1, b1, int32, Products::exclusive_or};
constexpr Kind both_bits = {int32, b1, b1, int32, Products::conjunction};

template <Shape shape>
void add_bits(OpcodeTable& table, const char* name) {
  add<shape, either_bit>(table, {"mma.sync.aligned.", name, ".row.col"}, ".xor.popc");
  add<shape, both_bits>(table, {"mma.sync.aligned.", name, ".row.col"}, ".and.popc");
}

// wmma.mma. Its fragments are the same whatever layout the matrices have in memory.

constexpr const char* layouts_in_memory[] = {".row.row", ".row.col", ".col.row", ".col.col"};

template <Shape shape, Kind kind>
void add_wmma(OpcodeTable& table, const char* name, const char* after = "") {
  for (const char* layouts : layouts_in_memory)
    add<shape, kind>(table, {"wmma.mma.sync.aligned", layouts, name}, after);
}

template <Shape half, Shape brain, Shape bytes>
void add_wmma_shape(OpcodeTable& table, const char* name) {
  each_value<f16, f32>([&]<Element d>() {
    each_value<f16, f32>([&]<Element c>() {  // the types of A and B are not named
      for (const char* layouts : layouts_in_memory)
        add_multiplication<half, Kind{d, f16, f16, c}>(
            table, {"wmma.mma.sync.aligned", layouts, name, ".", text_of(d), ".", text_of(c)});
    });
  });
  add_wmma<brain, Kind{f32, bf16, bf16, f32}>(table, name);
  each_value<int8, uint8>([&]<Element a>() {
    add_wmma<bytes, Kind{int32, a, a, int32}>(table, name);
    add_wmma<bytes, Kind{int32, a, a, int32, Products::saturated}>(table, name, ".satfinite");
  });
}

}  // namespace

void mma_opcodes(OpcodeTable& table) {
  add_quads<quad_a_row, quad_b_row>(table, ".row.row");
  add_quads<quad_a_row, quad_b_column>(table, ".row.col");
  add_quads<quad_a_column, quad_b_row>(table, ".col.row");
  add_quads<quad_a_column, quad_b_column>(table, ".col.col");
  add_mma<m16n8k8_16, f16, f16>(table, "m16n8k8");
  add_mma<m16n8k8_16, f32, f16>(table, "m16n8k8");
  add_mma<m16n8k8_16, f32, bf16>(table, "m16n8k8");
  add_mma<m16n8k16_16, f16, f16>(table, "m16n8k16");
  add_mma<m16n8k16_16, f32, f16>(table, "m16n8k16");
  add_mma<m16n8k16_16, f32, bf16>(table, "m16n8k16");
  add_mma<m16n8k4_32, f32, tf32>(table, "m16n8k4");
  add_mma<m16n8k8_32, f32, tf32>(table, "m16n8k8");
  each_value<f16, f32>([&]<Element d>() {
    each_value<e4m3, e5m2>([&]<Element a>() {
      each_value<e4m3, e5m2>([&]<Element b>() {
        add_mma<m16n8k16_8, d, a, b>(table, "m16n8k16");
        add_mma<m16n8k32_8, d, a, b>(table, "m16n8k32");
      });
    });
  });
  add_doubles<m8n8k4_64>(table, "mma.sync.aligned.m8n8k4", ".row.col");
  add_doubles<m16n8k4_32>(table, "mma.sync.aligned.m16n8k4", ".row.col");
  add_doubles<m16n8k8_32>(table, "mma.sync.aligned.m16n8k8", ".row.col");
  add_doubles<m16n8k16_64>(table, "mma.sync.aligned.m16n8k16", ".row.col");
  add_integers<m8n8k16_8, int8, uint8>(table, "m8n8k16");
  add_integers<m16n8k16_8, int8, uint8>(table, "m16n8k16");
  add_integers<m16n8k32_8, int8, uint8>(table, "m16n8k32");
  add_integers<m8n8k32_4, int4, uint4>(table, "m8n8k32");
  add_integers<m16n8k32_4, int4, uint4>(table, "m16n8k32");
  add_integers<m16n8k64_4, int4, uint4>(table, "m16n8k64");
  add_bits<m8n8k128_1>(table, "m8n8k128");
  add_bits<m16n8k128_1>(table, "m16n8k128");
  add_bits<m16n8k256_1>(table, "m16n8k256");
}

void wmma_mma_opcodes(OpcodeTable& table) {
  add_wmma_shape<m16n16k16_half, m16n16k16_16, m16n16k16_8>(table, ".m16n16k16");
  add_wmma_shape<m8n32k16_half, m8n32k16_16, m8n32k16_8>(table, ".m8n32k16");
  add_wmma_shape<m32n8k16_half, m32n8k16_16, m32n8k16_8>(table, ".m32n8k16");
  add_wmma<m16n16k8_32, Kind{f32, tf32, tf32, f32}>(table, ".m16n16k8");
  constexpr const char* doubles[] = {".row.row.m8n8k4", ".row.col.m8n8k4", ".col.row.m8n8k4",
                                     ".col.col.m8n8k4"};
  for (const char* layouts : doubles)
    add_doubles<m8n8k4_64>(table, "wmma.mma.sync.aligned", layouts);
  each_value<int4, uint4>([&]<Element a>() {
    add<m8n8k32_4, Kind{int32, a, a, int32}>(table, {"wmma.mma.sync.aligned.row.col.m8n8k32"});
    add<m8n8k32_4, Kind{int32, a, a, int32, Products::saturated}>(
        table, {"wmma.mma.sync.aligned.row.col.m8n8k32"}, ".satfinite");
  });
  add<m8n8k128_1, either_bit>(table, {"wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128"});
  add<m8n8k128_1, both_bits>(table, {"wmma.mma.and.popc.sync.aligned.row.col.m8n8k128"});
}

}  // namespace simgpu::SIMGPU_ISA
