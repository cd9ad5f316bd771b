/// \file
/// D = A B + C of matrices that the lanes of a warp hold together: what mma and wmma.mma share.
/// Source: PTX ISA 9.7.14.5.14 and 9.7.14.4.5.
///
/// Numbers of up to 32 bits: the ISA asks that products are exact and sums have at least single
/// precision, and leaves their order open. Here c comes first, then the products by rising k; sums
/// are doubles, and what is there at the end is rounded once, to the type of D. With SIMGPU_PERTURB
/// sums are floats and the seed chooses another order: that too is within what the ISA allows.
/// A NaN is canonical, subnormal numbers are kept.
///
/// f64: a fused multiply-add for each k, rising. Integers: the sum is exact, then wraps, or with
/// .satfinite is clamped.
#pragma once

#include "tools/simgpu/lanes/arithmetic.h"
#include "tools/simgpu/lanes/matrix_layout.h"

namespace simgpu::SIMGPU_ISA {

enum class Element : u8 {
  f16,
  bf16,
  tf32,
  e4m3,
  e5m2,
  f32,
  f64,
  int8,
  uint8,
  int4,
  uint4,
  b1,
  int32,
};

struct ElementName {
  int bits;
  const char* text;
};
constexpr ElementName element_names[] = {
    {16, "f16"}, {16, "bf16"}, {32, "tf32"}, {8, "e4m3"}, {8, "e5m2"}, {32, "f32"}, {64, "f64"},
    {8, "s8"},   {8, "u8"},    {4, "s4"},    {4, "u4"},   {1, "b1"},   {32, "s32"}};
constexpr int bits_of(Element element) { return element_names[static_cast<int>(element)].bits; }
constexpr const char* text_of(Element element) {
  return element_names[static_cast<int>(element)].text;
}

enum class Products : u8 {
  plain,
  saturated,     ///< .satfinite, of integers
  exclusive_or,  ///< .xor.popc and .and.popc, of single bits
  conjunction,
};

/// What is multiplied, and how.
struct Kind {
  Element d, a, b, c;
  Products products = Products::plain;
  Rounding rounding = Rounding::nearest;  ///< of f64
};

struct Multiplication {
  const Fragment &a, &b, &c, &d;
  Kind kind;
};

/// Operands are the registers of D, then those of A, B and C.
void multiply(Warp& w, const Instruction& i, const Multiplication& m);

template <Shape shape, Kind kind>
void multiply_matrices(Warp& w, const Instruction& i) {
  multiply(w, i,
           {fragment<shape.a>, fragment<shape.b>, fragment<shape.c>, fragment<shape.d>, kind});
}

/// Adds an opcode whose name is that of `parts`; its pattern is like "d4v4 s4v4 s4v2 s4v4".
template <Shape shape, Kind kind>
void add_multiplication(OpcodeTable& table, Parts parts) {
  const auto size = [](Element element) { return bits_of(element) == 64 ? "8" : "4"; };
  const auto vector = [](const Fragment& f, Element element) {
    return vector_texts[registers(f, bits_of(element))];
  };
  table.add(parts,
            {"d", size(kind.d), vector(fragment<shape.d>, kind.d),   //
             " s", size(kind.a), vector(fragment<shape.a>, kind.a),  //
             " s", size(kind.b), vector(fragment<shape.b>, kind.b),  //
             " s", size(kind.c), vector(fragment<shape.c>, kind.c)},
            &multiply_matrices<shape, kind>, Control::together, whole_warp);
}

}  // namespace simgpu::SIMGPU_ISA
