#include "tools/simgpu/lanes/matrix_multiply.h"

#include "tools/simgpu/lanes/arithmetic.h"
#include "tools/simgpu/machine/settings.h"

namespace simgpu::SIMGPU_ISA {
namespace {

constexpr int most_elements = 512;   // of a matrix, or of several at once
constexpr int most_bits = 16 * 256;  // of a matrix of b1
constexpr int column_block = 8;      // every N is a multiple

/// Where the operands begin.
struct Places4 {
  int d, a, b, c;
};
Places4 operands_of(const Multiplication& m) {
  const int a = registers(m.d, bits_of(m.kind.d));
  const int b = a + registers(m.a, bits_of(m.kind.a));
  return {0, a, b, b + registers(m.b, bits_of(m.kind.b))};
}

struct PlusProduct {
  template <class T>
  SIMGPU_INLINE T operator()(T sum, T a, T b) const {
    return sum + a * b;
  }
};

/// sums[row][column] = step(.., a[row][k], b[k][column]) over k, of each of the matrices. The order
/// of k is k xor `order`.
template <class T, class Step>
SIMGPU_INLINE void sum_products(const Multiplication& m, const T* a, const T* b, T* sums, int from,
                                int to, int order, Step step) {
  const int rows = m.a.rows, depth = m.a.columns, columns = m.b.columns;
  for (int row = 0; row < m.a.matrices * rows; ++row) {
    const T* b_here = b + row / rows * depth * columns;
    for (int column = 0; column < columns; column += column_block) {
      T* to_here = sums + row * columns + column;
      T block[column_block];
      for (int n = 0; n < column_block; ++n) block[n] = to_here[n];
      for (int k = from; k < to; ++k) {
        const T factor = a[row * depth + (k ^ order)];
        const T* others = b_here + (k ^ order) * columns + column;
        for (int n = 0; n < column_block; ++n) block[n] = step(block[n], factor, others[n]);
      }
      for (int n = 0; n < column_block; ++n) to_here[n] = block[n];
    }
  }
}

// Numbers of up to 32 bits.

template <class T, class Number>
SIMGPU_INLINE void read_all(const u32* from, int count, T* to, Number number) {
  for (int n = 0; n < count; ++n) to[n] = static_cast<T>(number(from[n]));
}

template <class T>
void read_numbers(Warp& w, const Instruction& i, int operand, const Fragment& f, Element element,
                  T* to) {
  alignas(64) u32 words[most_elements];
  collect(w, i, operand, f, bits_of(element), words);
  const int count = f.size();
  switch (element) {
    case Element::f16: return read_all(words, count, to, [](auto x) { return Half::number(x); });
    case Element::bf16: return read_all(words, count, to, [](auto x) { return Brain::number(x); });
    case Element::e4m3: return read_all(words, count, to, [](auto x) { return E4M3::number(x); });
    case Element::e5m2: return read_all(words, count, to, [](auto x) { return E5M2::number(x); });
    case Element::tf32:  // the low 13 bits are not looked at
      return read_all(words, count, to, [](auto x) { return bits_as<float>(x & 0xffff'e000u); });
    default: return read_all(words, count, to, [](auto x) { return bits_as<float>(x); });
  }
}

template <class T>
void write_numbers(Warp& w, const Instruction& i, const Fragment& f, Element element,
                   const T* from) {
  alignas(64) u32 words[most_elements];
  for (int n = 0; n < f.size(); ++n) {
    if (element == Element::f16) words[n] = round_to<Half>(from[n]);
    else words[n] = from[n] != from[n] ? Single::nan : round_to<Single>(from[n]);
  }
  spread(w, i, 0, f, bits_of(element), words);
}

template <class T>
struct Matrices {
  alignas(64) T a[most_elements];
  alignas(64) T b[most_elements];
  alignas(64) T c[most_elements];

  Matrices(Warp& w, const Instruction& i, const Multiplication& m) {
    const Places4 at = operands_of(m);
    read_numbers(w, i, at.a, m.a, m.kind.a, a);
    read_numbers(w, i, at.b, m.b, m.kind.b, b);
    read_numbers(w, i, at.c, m.c, m.kind.c, c);
  }
};

void multiply_numbers(Warp& w, const Instruction& i, const Multiplication& m) {
  Matrices<double> x(w, i, m);
  sum_products(m, x.a, x.b, x.c, 0, m.a.columns, 0, PlusProduct());
  write_numbers(w, i, m.d, m.kind.d, x.c);
}

/// Floats, in the order that the seed says: it has two sums over half of k, or joins C in the end.
void multiply_perturbed(Warp& w, const Instruction& i, const Multiplication& m, u64 seed) {
  Matrices<float> x(w, i, m);
  const int depth = m.a.columns, count = m.d.size();
  const int order = static_cast<int>(seed % static_cast<u64>(depth));
  const bool c_comes_last = (seed / 64 & 1) != 0;
  alignas(64) float sums[most_elements] = {};
  if (!c_comes_last)
    for (int n = 0; n < count; ++n) sums[n] = x.c[n];
  sum_products(m, x.a, x.b, sums, 0, depth / 2, order, PlusProduct());
  if (m.kind.c == Element::f16 && m.kind.d == Element::f16)  // at least half precision is asked for
    for (int n = 0; n < count; ++n) sums[n] = Half::number(round_to<Half>(sums[n]));
  sum_products(m, x.a, x.b, sums, depth / 2, depth, order, PlusProduct());
  if (c_comes_last)
    for (int n = 0; n < count; ++n) sums[n] += x.c[n];
  write_numbers(w, i, m.d, m.kind.d, sums);
}

template <Rounding rounding>
void multiply_doubles(Warp& w, const Instruction& i, const Multiplication& m) {
  alignas(64) double a[most_elements], b[most_elements], c[most_elements];
  const Places4 at = operands_of(m);
  const auto read = [&](int operand, const Fragment& f, double* to) {
    alignas(64) u64 words[most_elements];
    collect(w, i, operand, f, 64, words);
    for (int n = 0; n < f.size(); ++n) to[n] = bits_as<double>(words[n]);
  };
  read(at.a, m.a, a);
  read(at.b, m.b, b);
  read(at.c, m.c, c);
  {
    const HostRounding<rounding> host;
    sum_products(m, a, b, c, 0, m.a.columns, 0,
                 [](double sum, double x, double y) { return __builtin_fma(x, y, sum); });
  }
  alignas(64) u64 words[most_elements];
  for (int n = 0; n < m.d.size(); ++n) words[n] = bits_as<u64>(c[n]);
  spread(w, i, 0, m.d, 64, words);
}

// Integers.

void read_integers(Warp& w, const Instruction& i, int operand, const Fragment& f, Element element,
                   s32* to) {
  alignas(64) u32 words[most_bits];
  const int bits = bits_of(element);
  const bool has_sign = element == Element::int8 || element == Element::int4;
  const u32 sign = has_sign ? 1u << (bits - 1) : 0;
  collect(w, i, operand, f, bits, words);
  for (int n = 0; n < f.size(); ++n) to[n] = static_cast<s32>((words[n] ^ sign) - sign);
}

void multiply_integers(Warp& w, const Instruction& i, const Multiplication& m) {
  alignas(64) s32 a[most_bits];
  alignas(64) s32 b[most_bits];
  alignas(64) u32 c[most_elements];
  alignas(64) s32 sums[most_elements] = {};  // of at most 256 products of 16 bits: exact
  const Places4 at = operands_of(m);
  read_integers(w, i, at.a, m.a, m.kind.a, a);
  read_integers(w, i, at.b, m.b, m.kind.b, b);
  collect(w, i, at.c, m.c, 32, c);
  const auto sum = [&](auto step) { sum_products(m, a, b, sums, 0, m.a.columns, 0, step); };
  if (m.kind.products == Products::exclusive_or)
    sum([](s32 so_far, s32 x, s32 y) { return so_far + (x ^ y); });
  else sum(PlusProduct());
  for (int n = 0; n < m.d.size(); ++n) {
    s64 made = s64{static_cast<s32>(c[n])} + sums[n];
    if (m.kind.products == Products::saturated)
      made = made > INT32_MAX ? INT32_MAX : made < INT32_MIN ? INT32_MIN : made;
    c[n] = static_cast<u32>(made);
  }
  spread(w, i, 0, m.d, 32, c);
}

}  // namespace

void multiply(Warp& w, const Instruction& i, const Multiplication& m) {
  need_whole_warp(w);
  if (m.kind.d == Element::int32) return multiply_integers(w, i, m);
  if (m.kind.d == Element::f64) {
    switch (m.kind.rounding) {
      case Rounding::zero: return multiply_doubles<Rounding::zero>(w, i, m);
      case Rounding::down: return multiply_doubles<Rounding::down>(w, i, m);
      case Rounding::up: return multiply_doubles<Rounding::up>(w, i, m);
      default: return multiply_doubles<Rounding::nearest>(w, i, m);
    }
  }
  if (const u64* seed = perturbation()) return multiply_perturbed(w, i, m, *seed);
  multiply_numbers(w, i, m);
}

}  // namespace simgpu::SIMGPU_ISA
