#include <type_traits>

#include "tools/simgpu/lanes/apply.h"

// Logic and shifts (PTX ISA 9.7.8) and counts of bits (9.7.1.14 to 9.7.1.18).

namespace simgpu {
namespace SIMGPU_ISA {
namespace {

struct BitAnd {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct BitOr {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct BitXor {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct BitNot {
  template <class T>
  static T of(T a) {
    return static_cast<T>(~a);
  }
};
/// Of the whole number, as ! of C.
struct IsZero {
  template <class T>
  static T of(T a) {
    return a == 0 ? 1 : 0;
  }
};

/// Any function of three bits, by its table: bit 4a + 2b + c of the immediate. It is worked out as
/// choices: by c between each two entries, then by b, then by a.
class TruthTable {
 public:
  explicit TruthTable(std::int64_t table) {
    for (int k = 0; k < 4; ++k) {
      if_clear_[k] = filled(table >> (2 * k));
      change_[k] = if_clear_[k] ^ filled(table >> (2 * k + 1));
    }
  }
  u32 of(u32 a, u32 b, u32 c) const {
    u32 by_c[4];
    for (int k = 0; k < 4; ++k) by_c[k] = if_clear_[k] ^ (change_[k] & c);
    return chosen(a, chosen(b, by_c[0], by_c[1]), chosen(b, by_c[2], by_c[3]));
  }

 private:
  static u32 filled(std::int64_t bit) { return (bit & 1) != 0 ? 0xffff'ffffu : 0u; }
  static u32 chosen(u32 by, u32 if_clear, u32 if_set) {
    return if_clear ^ (by & (if_clear ^ if_set));
  }
  u32 if_clear_[4], change_[4];
};

/// lop3 d, a, b, c, table.
template <bool all>
void lookup(Warp& w, const Instruction& i) {
  const u32* a = lanes<u32>(w, i, 1);
  const u32* b = lanes<u32>(w, i, 2);
  const u32* c = lanes<u32>(w, i, 3);
  const TruthTable table(i.immediate);
  write<all>(w, lanes<u32>(w, i, 0), [&](int lane) { return table.of(a[lane], b[lane], c[lane]); });
}
/// lop3 d|p, a, b, c, table, q: p is whether d is not zero, and or or with q.
template <bool all, bool is_and>
void lookup_and_test(Warp& w, const Instruction& i) {
  const u32* a = lanes<u32>(w, i, 2);
  const u32* b = lanes<u32>(w, i, 3);
  const u32* c = lanes<u32>(w, i, 4);
  const TruthTable table(i.immediate);
  const u32 other = predicate(w, i, 5);
  const u32 bits = bits_where([&](int lane) { return table.of(a[lane], b[lane], c[lane]) != 0; });
  write<all>(w, lanes<u32>(w, i, 0), [&](int lane) { return table.of(a[lane], b[lane], c[lane]); });
  write_predicate<all>(w, i, 1, is_and ? bits & other : bits | other);
}

/// A shift by the width or more leaves zero, or the sign.
struct ShiftLeft {
  template <class T>
  static T of(T a, u32 by) {
    return by < 8 * sizeof(T) ? static_cast<T>(a << by) : T{0};
  }
};
struct ShiftRight {
  template <class T>
  static T of(T a, u32 by) {
    constexpr u32 most = 8 * sizeof(T) - 1;
    const T rest = static_cast<T>(a >> (by < most ? by : most));
    constexpr bool is_signed = static_cast<T>(-1) < T{0};
    return is_signed || by <= most ? rest : T{0};
  }
};
template <bool all, class T, class F>
void shift(Warp& w, const Instruction& i) {
  const T* a = lanes<T>(w, i, 1);
  const u32* by = lanes<u32>(w, i, 2);
  write<all>(w, lanes<T>(w, i, 0), [&](int lane) { return F::of(a[lane], by[lane]); });
}

// shf: of the 64 bits of b and a, the upper word of what is shifted left, or the lower one of what
// is shifted right.
template <bool clamp>
struct Funnel {
  static u32 amount(u32 c) { return clamp ? (c < 32 ? c : 32) : c & 31; }
};
template <bool clamp>
struct FunnelLeft : Funnel<clamp> {
  static u32 of(u32 a, u32 b, u32 c) {
    return static_cast<u32>((u64{b} << 32 | a) << Funnel<clamp>::amount(c) >> 32);
  }
};
template <bool clamp>
struct FunnelRight : Funnel<clamp> {
  static u32 of(u32 a, u32 b, u32 c) {
    return static_cast<u32>((u64{b} << 32 | a) >> Funnel<clamp>::amount(c));
  }
};

/// By halves: in vectors, counts of bits are sums of parts that grow.
struct CountOnes {
  template <class T>
  static u32 of(T a) {
    constexpr T all_ones = static_cast<T>(-1);
    a = a - (a >> 1 & all_ones / 3);
    a = (a & all_ones / 15 * 3) + (a >> 2 & all_ones / 15 * 3);
    a = (a + (a >> 4)) & all_ones / 255 * 15;
    return static_cast<u32>(a * (all_ones / 255) >> (8 * sizeof(T) - 8));
  }
};
struct CountLeadingZeros {
  template <class T>
  static u32 of(T a) {
    constexpr u32 width = 8 * sizeof(T);
    if (a == 0) return width;
    return static_cast<u32>(sizeof(T) == 4 ? __builtin_clz(static_cast<u32>(a))
                                           : __builtin_clzll(a));
  }
};
/// bfind: where the highest bit is that is not the sign, or how far it is from the top.
template <bool from_top>
struct FindHighest {
  template <class T>
  static u32 of(T a) {
    using Bits = std::make_unsigned_t<T>;
    const auto bits = static_cast<Bits>(a < 0 ? ~a : a);
    const u32 zeros = CountLeadingZeros::of(bits);
    if (bits == 0) return 0xffff'ffffu;
    return from_top ? zeros : static_cast<u32>(8 * sizeof(T)) - 1 - zeros;
  }
};
struct Reverse {
  template <class T>
  static T of(T a) {
    constexpr T all_ones = static_cast<T>(-1);
    a = (a >> 1 & all_ones / 3) | (a & all_ones / 3) << 1;
    a = (a >> 2 & all_ones / 15 * 3) | (a & all_ones / 15 * 3) << 2;
    a = (a >> 4 & all_ones / 255 * 15) | (a & all_ones / 255 * 15) << 4;
    return sizeof(T) == 4 ? __builtin_bswap32(static_cast<u32>(a)) : __builtin_bswap64(a);
  }
};

#define BITWISE(name, shape, sources, F)                            \
  SIMGPU_ROW(name ".b16", "d2" sources(2), shape, u16, u16, F),     \
      SIMGPU_ROW(name ".b32", "d4" sources(4), shape, u32, u32, F), \
      SIMGPU_ROW(name ".b64", "d8" sources(8), shape, u64, u64, F)
#define ONE(bytes) " s" #bytes
#define TWO(bytes) " s" #bytes " s" #bytes
#define SHIFT(name, type, T16, T32, T64, F)                      \
  SIMGPU_ROW(name "." type "16", "d2 s2 s4", shift, T16, F),     \
      SIMGPU_ROW(name "." type "32", "d4 s4 s4", shift, T32, F), \
      SIMGPU_ROW(name "." type "64", "d8 s8 s4", shift, T64, F)
#define FUNNEL(mode, F) SIMGPU_ROW("shf." mode ".b32", "d4 s4 s4 s4", ternary, u32, u32, F)
#define COUNT(name, F)                                  \
  SIMGPU_ROW(name ".b32", "d4 s4", unary, u32, u32, F), \
      SIMGPU_ROW(name ".b64", "d4 s8", unary, u32, u64, F)
#define FIND(name, F)                                       \
  SIMGPU_ROW(name ".u32", "d4 s4", unary, u32, u32, F),     \
      SIMGPU_ROW(name ".s32", "d4 s4", unary, u32, s32, F), \
      SIMGPU_ROW(name ".u64", "d4 s8", unary, u32, u64, F), \
      SIMGPU_ROW(name ".s64", "d4 s8", unary, u32, s64, F)

constexpr Opcode table[] = {
    BITWISE("and", binary, TWO, BitAnd),
    BITWISE("or", binary, TWO, BitOr),
    BITWISE("xor", binary, TWO, BitXor),
    BITWISE("not", unary, ONE, BitNot),
    BITWISE("cnot", unary, ONE, IsZero),
    {"lop3.b32", "d4 s4 s4 s4 i", &lookup<true>, &lookup<false>},
    SIMGPU_ROW("lop3.and.b32", "d4q s4 s4 s4 i sp", lookup_and_test, true),
    SIMGPU_ROW("lop3.or.b32", "d4q s4 s4 s4 i sp", lookup_and_test, false),
    SHIFT("shl", "b", u16, u32, u64, ShiftLeft),
    SHIFT("shr", "b", u16, u32, u64, ShiftRight),
    SHIFT("shr", "u", u16, u32, u64, ShiftRight),
    SHIFT("shr", "s", s16, s32, s64, ShiftRight),
    FUNNEL("l.clamp", FunnelLeft<true>),
    FUNNEL("l.wrap", FunnelLeft<false>),
    FUNNEL("r.clamp", FunnelRight<true>),
    FUNNEL("r.wrap", FunnelRight<false>),
    COUNT("popc", CountOnes),
    COUNT("clz", CountLeadingZeros),
    FIND("bfind", FindHighest<false>),
    FIND("bfind.shiftamt", FindHighest<true>),
    SIMGPU_ROW("brev.b32", "d4 s4", unary, u32, u32, Reverse),
    SIMGPU_ROW("brev.b64", "d8 s8", unary, u64, u64, Reverse),
};

}  // namespace

OpcodeList bit_opcodes() { return {table, sizeof table / sizeof *table, "bit"}; }

}  // namespace SIMGPU_ISA
}  // namespace simgpu
