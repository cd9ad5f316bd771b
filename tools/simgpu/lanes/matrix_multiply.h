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

#include "tools/simgpu/lanes/formats.h"
#include "tools/simgpu/lanes/matrix_layout.h"
#include "tools/simgpu/lanes/opcode_table.h"

namespace simgpu::SIMGPU_ISA {

enum class Element : std::uint8_t {
  f16,
  bf16,
  tf32,
  e4m3,
  e5m2,
  f32,
  f64,
  s8,
  u8,
  s4,
  u4,
  b1,
  s32,
};

struct ElementName {
  int bits;
  const char* text;
};
constexpr ElementName element_names[] = {
    {16, "f16"}, {16, "bf16"}, {32, "tf32"}, {8, "e4m3"}, {8, "e5m2"}, {32, "f32"}, {64, "f64"},
    {8, "s8"},   {8, "u8"},    {4, "s4"},    {4, "u4"},   {1, "b1"},   {32, "s32"}};
constexpr int bits_of(Element element) { return element_names[static_cast<int>(element)].bits; }
consteval Text text_of(Element element) { return element_names[static_cast<int>(element)].text; }

enum class Products : std::uint8_t {
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

/// The patterns of D, A, B and C: "d4v4 s4v4 s4v2 s4v4".
template <Shape shape, Kind kind>
struct MultiplicationPattern {
  char text[24] = {};

  consteval MultiplicationPattern() {
    int at = 0;
    add(at, 'd', fragment<shape.d>, kind.d);
    add(at, 's', fragment<shape.a>, kind.a);
    add(at, 's', fragment<shape.b>, kind.b);
    add(at, 's', fragment<shape.c>, kind.c);
    text[at - 1] = 0;
  }

 private:
  consteval void add(int& at, char use, const Fragment& f, Element element) {
    const int bits = bits_of(element);
    for (const char each : {use, bits == 64 ? '8' : '4', 'v'}) text[at++] = each;
    text[at++] = static_cast<char>('0' + registers(f, bits));
    text[at++] = ' ';
  }
};
template <Shape shape, Kind kind>
constexpr MultiplicationPattern<shape, kind> multiplication_pattern{};

/// Adds an opcode whose name is that of `parts`.
template <Shape shape, Kind kind, Text... parts>
constexpr void add_multiplication(auto& table) {
  const Execute function = multiply_matrices<shape, kind>;
  table.template add<parts...>(multiplication_pattern<shape, kind>.text, function, function,
                               Control::together, whole_warp);
}

}  // namespace simgpu::SIMGPU_ISA
