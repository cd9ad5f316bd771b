#include "tools/simgpu/lanes/integer.h"

// Integer arithmetic: PTX ISA 9.7.1. What overflows wraps.

namespace simgpu {
namespace SIMGPU_ISA {
namespace {

struct Add {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a + b);
  }
};
struct Subtract {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a - b);
  }
};
struct Negate {
  template <class T>
  static T of(T a) {
    return static_cast<T>(-a);
  }
};
/// Of the least number it is that number.
struct Absolute {
  template <class T>
  static T of(T a) {
    return static_cast<T>(a < 0 ? -a : a);
  }
};
struct Least {
  template <class T>
  static T of(T a, T b) {
    return a < b ? a : b;
  }
};
struct Most {
  template <class T>
  static T of(T a, T b) {
    return a > b ? a : b;
  }
};
/// .relu: what is below zero becomes zero.
template <class F>
struct Rectified {
  template <class T>
  static T of(T a, T b) {
    return Most::of(F::of(a, b), T{0});
  }
};

/// .sat: clamped to the range of s32.
template <class F>
struct Saturated {
  static s32 of(s32 a, s32 b) {
    return static_cast<s32>(
        Least::of<s64>(Most::of<s64>(F::template of<s64>(a, b), least_s32), most_s32));
  }
};

/// |a - b| + c, where the difference is worked out in the type itself.
struct AddDifference {
  template <class T>
  static T of(T a, T b, T c) {
    return static_cast<T>(c + (a < b ? b - a : a - b));
  }
};

/// t<47..16> of the product of what the low 24 bits hold.
struct Multiply24High {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(product(a, b) >> 16);
  }
  template <class T>
  static Wide<T> product(T a, T b) {
    return Wide<T>{low_24(a)} * Wide<T>{low_24(b)};
  }
  template <class T>
  static T low_24(T a) {
    return static_cast<T>(static_cast<T>(static_cast<u32>(a) << 8) >> 8);
  }
};
struct Multiply24Low {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(Multiply24High::product(a, b));
  }
};

/// a * b by F, plus c.
template <class F>
struct ThenAdd {
  template <class T, class D>
  static D of(T a, T b, D c) {
    return static_cast<D>(F::of(a, b) + c);
  }
};
template <class F>
struct ThenAddSaturated {
  static s32 of(s32 a, s32 b, s32 c) { return Saturated<Add>::of(F::of(a, b), c); }
};

/// Both halves of a word by themselves: u16x2 and s16x2.
template <class T, class F>
struct Halves {
  static u32 of(u32 a, u32 b) {
    const auto low = static_cast<u16>(F::of(static_cast<T>(a), static_cast<T>(b)));
    const auto high = static_cast<u16>(F::of(static_cast<T>(a >> 16), static_cast<T>(b >> 16)));
    return u32{low} | u32{high} << 16;
  }
};

/// The element of a packed word.
template <class T>
s32 element(u32 word, int index) {
  return static_cast<T>(word >> (index * static_cast<int>(sizeof(T)) * 8));
}
/// dp4a: the dot product of four bytes, added to c.
template <class A, class B>
struct Dot4 {
  static u32 of(u32 a, u32 b, u32 c) {
    for (int k = 0; k < 4; ++k) c += static_cast<u32>(element<A>(a, k) * element<B>(b, k));
    return c;
  }
};
/// dp2a: of two halves of a and the two bytes of b from `first` on.
template <class A, class B, int first>
struct Dot2 {
  static u32 of(u32 a, u32 b, u32 c) {
    for (int k = 0; k < 2; ++k)
      c += static_cast<u32>(element<A>(a, k)) * static_cast<u32>(element<B>(b, first + k));
    return c;
  }
};
/// vabsdiff2 and vabsdiff4 of the SIMD video instructions: how far the elements of a and b are
/// apart, each by itself.
template <class T>
struct Apart {
  static u32 of(u32 a, u32 b, int k) {
    const s32 apart = element<T>(a, k) - element<T>(b, k);
    return static_cast<u32>(apart < 0 ? -apart : apart);
  }
  static u32 of(u32 a, u32 b, u32) {
    u32 word = 0;
    for (int k = 0; k < 4 / static_cast<int>(sizeof(T)); ++k)
      word |= of(a, b, k) << (k * static_cast<int>(sizeof(T)) * 8);
    return word;
  }
};
/// The sum of them, added to c.
template <class T>
struct SumApart {
  static u32 of(u32 a, u32 b, u32 c) {
    for (int k = 0; k < 4 / static_cast<int>(sizeof(T)); ++k) c += Apart<T>::of(a, b, k);
    return c;
  }
};

#define UNARY_SIGNED(name, F)                               \
  SIMGPU_ROW(name ".s16", "d2 s2", unary, s16, s16, F),     \
      SIMGPU_ROW(name ".s32", "d4 s4", unary, s32, s32, F), \
      SIMGPU_ROW(name ".s64", "d8 s8", unary, s64, s64, F)
#define BY_TYPE(name, shape, more, F)                                  \
  SIMGPU_ROW(name ".u16", "d2 s2 s2" more(2), shape, u16, u16, F),     \
      SIMGPU_ROW(name ".s16", "d2 s2 s2" more(2), shape, s16, s16, F), \
      SIMGPU_ROW(name ".u32", "d4 s4 s4" more(4), shape, u32, u32, F), \
      SIMGPU_ROW(name ".s32", "d4 s4 s4" more(4), shape, s32, s32, F), \
      SIMGPU_ROW(name ".u64", "d8 s8 s8" more(8), shape, u64, u64, F), \
      SIMGPU_ROW(name ".s64", "d8 s8 s8" more(8), shape, s64, s64, F)
#define NO_MORE(bytes) ""
#define ONE_MORE(bytes) " s" #bytes
#define BINARY(name, F) BY_TYPE(name, binary, NO_MORE, F)
#define TERNARY(name, F) BY_TYPE(name, ternary, ONE_MORE, F)
#define WIDE(name, shape, more, F)                                     \
  SIMGPU_ROW(name ".u16", "d4 s2 s2" more(4), shape, u32, u16, F),     \
      SIMGPU_ROW(name ".s16", "d4 s2 s2" more(4), shape, s32, s16, F), \
      SIMGPU_ROW(name ".u32", "d8 s4 s4" more(8), shape, u64, u32, F), \
      SIMGPU_ROW(name ".s32", "d8 s4 s4" more(8), shape, s64, s32, F)
#define BINARY_32(name, F)                                  \
  SIMGPU_ROW(name ".u32", "d4 s4 s4", binary, u32, u32, F), \
      SIMGPU_ROW(name ".s32", "d4 s4 s4", binary, s32, s32, F)
#define TERNARY_32(name, F)                                     \
  SIMGPU_ROW(name ".u32", "d4 s4 s4 s4", ternary, u32, u32, F), \
      SIMGPU_ROW(name ".s32", "d4 s4 s4 s4", ternary, s32, s32, F)
#define HALVES(name, T, F) SIMGPU_ROW(name, "d4 s4 s4", binary, u32, u32, Halves<T, F>)
#define DOT(name, ...) SIMGPU_ROW(name, "d4 s4 s4 s4", ternary, u32, u32, __VA_ARGS__)
#define DOTS_2(mode, first)                               \
  DOT("dp2a." mode ".u32.u32", Dot2<u16, u8, first>),     \
      DOT("dp2a." mode ".u32.s32", Dot2<u16, s8, first>), \
      DOT("dp2a." mode ".s32.u32", Dot2<s16, u8, first>), \
      DOT("dp2a." mode ".s32.s32", Dot2<s16, s8, first>)
#define APART(name, T) DOT(name, Apart<T>), DOT(name ".add", SumApart<T>)

constexpr Opcode table[] = {
    BINARY("add", Add),
    HALVES("add.u16x2", u16, Add),
    HALVES("add.s16x2", s16, Add),
    SIMGPU_ROW("add.sat.s32", "d4 s4 s4", binary, s32, s32, Saturated<Add>),
    BINARY("sub", Subtract),
    SIMGPU_ROW("sub.sat.s32", "d4 s4 s4", binary, s32, s32, Saturated<Subtract>),
    BINARY("mul.lo", MultiplyLow),
    BINARY("mul.hi", MultiplyHigh),
    WIDE("mul.wide", binary, NO_MORE, MultiplyWide),
    TERNARY("mad.lo", ThenAdd<MultiplyLow>),
    TERNARY("mad.hi", ThenAdd<MultiplyHigh>),
    WIDE("mad.wide", ternary, ONE_MORE, ThenAdd<MultiplyWide>),
    SIMGPU_ROW("mad.hi.sat.s32", "d4 s4 s4 s4", ternary, s32, s32, ThenAddSaturated<MultiplyHigh>),
    BINARY_32("mul24.lo", Multiply24Low),
    BINARY_32("mul24.hi", Multiply24High),
    TERNARY_32("mad24.lo", ThenAdd<Multiply24Low>),
    TERNARY_32("mad24.hi", ThenAdd<Multiply24High>),
    SIMGPU_ROW("mad24.hi.sat.s32", "d4 s4 s4 s4", ternary, s32, s32,
               ThenAddSaturated<Multiply24High>),
    TERNARY("sad", AddDifference),
    UNARY_SIGNED("abs", Absolute),
    UNARY_SIGNED("neg", Negate),
    BINARY("min", Least),
    HALVES("min.u16x2", u16, Least),
    HALVES("min.s16x2", s16, Least),
    HALVES("min.relu.s16x2", s16, Rectified<Least>),
    SIMGPU_ROW("min.relu.s32", "d4 s4 s4", binary, s32, s32, Rectified<Least>),
    BINARY("max", Most),
    HALVES("max.u16x2", u16, Most),
    HALVES("max.s16x2", s16, Most),
    HALVES("max.relu.s16x2", s16, Rectified<Most>),
    SIMGPU_ROW("max.relu.s32", "d4 s4 s4", binary, s32, s32, Rectified<Most>),
    DOT("dp4a.u32.u32", Dot4<u8, u8>),
    DOT("dp4a.u32.s32", Dot4<u8, s8>),
    DOT("dp4a.s32.u32", Dot4<s8, u8>),
    DOT("dp4a.s32.s32", Dot4<s8, s8>),
    DOTS_2("lo", 0),
    DOTS_2("hi", 2),
    APART("vabsdiff2.u32.u32.u32", u16),
    APART("vabsdiff2.u32.s32.s32", s16),
    APART("vabsdiff4.u32.u32.u32", u8),
    APART("vabsdiff4.u32.s32.s32", s8),
};

}  // namespace

OpcodeList integer_opcodes() { return {table, sizeof table / sizeof *table, "integer"}; }

}  // namespace SIMGPU_ISA
}  // namespace simgpu
