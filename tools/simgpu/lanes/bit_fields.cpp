#include "tools/simgpu/lanes/apply.h"

// Fields of bits (PTX ISA 9.7.1.17 and 9.7.1.19 to 9.7.1.22) and of bytes (9.7.9.7, prmt).

namespace simgpu {
namespace SIMGPU_ISA {
namespace {

/// bfe: the field of a that begins at b and is c long, extended by zeros or its sign. It is shifted
/// down, then up against the top and back.
struct Extract {
  template <class T>
  static T of(T a, u32 b, u32 c) {
    constexpr u32 width = 8 * sizeof(T);
    constexpr bool is_signed = static_cast<T>(-1) < T{0};
    const u32 from = b & 255, length = c & 255;
    const T down = static_cast<T>(a >> (from < width ? from : width - 1));
    const u32 rest = length < width ? width - length : 0;
    const T field =
        static_cast<T>(static_cast<T>(down << (rest & (width - 1))) >> (rest & (width - 1)));
    const bool is_zero = length == 0 || (!is_signed && from >= width);
    return is_zero ? T{0} : field;
  }
};
template <bool all, class T>
void extract(Warp& w, const Instruction& i) {
  const T* a = lanes<T>(w, i, 1);
  const u32* b = lanes<u32>(w, i, 2);
  const u32* c = lanes<u32>(w, i, 3);
  write<all>(w, lanes<T>(w, i, 0),
             [&](int lane) { return Extract::of(a[lane], b[lane], c[lane]); });
}

/// bfi f, a, b, c, d: b with the lowest d bits of a in it from c on.
template <bool all, class T>
void insert(Warp& w, const Instruction& i) {
  constexpr u32 width = 8 * sizeof(T);
  const T* a = lanes<T>(w, i, 1);
  const T* b = lanes<T>(w, i, 2);
  const u32* c = lanes<u32>(w, i, 3);
  const u32* d = lanes<u32>(w, i, 4);
  write<all>(w, lanes<T>(w, i, 0), [&](int lane) {
    const u32 to = c[lane] & 255, length = d[lane] & 255;
    const T ones =
        length < width ? static_cast<T>((T{1} << (length & (width - 1))) - 1) : static_cast<T>(-1);
    const T mask = to < width ? static_cast<T>(ones << (to & (width - 1))) : T{0};
    return static_cast<T>((b[lane] & ~mask) | (a[lane] << (to & (width - 1)) & mask));
  });
}

/// bmsk: ones from a on, b of them. What does not fit is cut off with .clamp; with .wrap, only the
/// lowest 5 bits of both count.
template <bool clamp>
struct Mask {
  static u32 of(u32 a, u32 b) {
    const u32 from = a & 31, length = b & 31;
    const u32 ones = clamp && b >= 32 ? 0xffff'ffffu : (u32{1} << length) - 1;
    return clamp && a >= 32 ? 0 : ones << from;
  }
};

/// szext: the lowest b bits of a, extended. More than 31 are all of a with .clamp; with .wrap, only
/// the lowest 5 bits of b count.
template <class T, bool clamp>
struct Extend {
  static u32 of(u32 a, u32 b) {
    const u32 length = b & 31;
    if (clamp && b >= 32) return a;
    if (length == 0) return 0;
    return static_cast<u32>(static_cast<T>(a << (32 - length)) >> (32 - length));
  }
};

/// fns: where the c-th bit set in a is, counted from bit b upwards, or downwards for a negative c;
/// all ones where it is not there. c of 0 asks for bit b itself. Only the lowest 5 bits of b count:
/// the ISA leaves more undefined.
struct FindNth {
  static u32 of(u32 a, u32 b, u32 c) {
    const int step = static_cast<s32>(c) < 0 ? -1 : 1;
    u32 rest = step < 0 ? u32{0} - c : c;
    if (rest == 0) {
      a &= u32{1} << (b & 31);
      rest = 1;
    }
    for (int at = static_cast<int>(b & 31); at >= 0 && at < 32; at += step)
      if ((a >> at & 1u) != 0 && --rest == 0) return static_cast<u32>(at);
    return 0xffff'ffffu;
  }
};

/// Four bytes of b and a, each chosen by 4 bits of the selector; the highest of them says that the
/// byte is filled with its sign. Each goes up to the top of its word, and down to its place.
u32 permuted(u32 a, u32 b, u32 selector) {
  u32 result = 0;
  for (u32 place = 0; place < 32; place += 8) {
    const u32 choice = selector >> (place / 2);
    const u32 word = (choice & 4) != 0 ? b : a;
    const auto at_top = static_cast<s32>(word << (24 - 8 * (choice & 3)));
    const u32 down = (choice & 8) != 0 ? 31 : 24 - place;
    result |= static_cast<u32>(at_top >> down) & u32{0xff} << place;
  }
  return result;
}
struct Permute {
  static u32 of(u32 a, u32 b, u32 c) { return permuted(a, b, c); }
};
/// The modes: `selectors` has one of 16 bits for each value of the lowest two bits of c.
template <u64 selectors>
struct PermuteBy {
  static u32 of(u32 a, u32 b, u32 c) {
    return permuted(a, b, static_cast<u32>(selectors >> (16 * (c & 3))) & 0xffff);
  }
};

#define EXTRACT(type, size, T) SIMGPU_ROW("bfe." type, "d" size " s" size " s4 s4", extract, T)
#define BINARY(name, ...) SIMGPU_ROW(name, "d4 s4 s4", binary, u32, u32, __VA_ARGS__)
#define TERNARY(name, ...) SIMGPU_ROW(name, "d4 s4 s4 s4", ternary, u32, u32, __VA_ARGS__)

constexpr Opcode table[] = {
    EXTRACT("u32", "4", u32),
    EXTRACT("s32", "4", s32),
    EXTRACT("u64", "8", u64),
    EXTRACT("s64", "8", s64),
    SIMGPU_ROW("bfi.b32", "d4 s4 s4 s4 s4", insert, u32),
    SIMGPU_ROW("bfi.b64", "d8 s8 s8 s4 s4", insert, u64),
    BINARY("bmsk.clamp.b32", Mask<true>),
    BINARY("bmsk.wrap.b32", Mask<false>),
    BINARY("szext.clamp.u32", Extend<u32, true>),
    BINARY("szext.clamp.s32", Extend<s32, true>),
    BINARY("szext.wrap.u32", Extend<u32, false>),
    BINARY("szext.wrap.s32", Extend<s32, false>),
    TERNARY("fns.b32", FindNth),
    TERNARY("prmt.b32", Permute),
    TERNARY("prmt.b32.f4e", PermuteBy<0x6543'5432'4321'3210>),
    TERNARY("prmt.b32.b4e", PermuteBy<0x0123'7012'6701'5670>),
    TERNARY("prmt.b32.rc8", PermuteBy<0x3333'2222'1111'0000>),
    TERNARY("prmt.b32.ecl", PermuteBy<0x3333'3222'3211'3210>),
    TERNARY("prmt.b32.ecr", PermuteBy<0x3210'2210'1110'0000>),
    TERNARY("prmt.b32.rc16", PermuteBy<0x3232'1010'3232'1010>),
};

}  // namespace

OpcodeList bit_field_opcodes() { return {table, sizeof table / sizeof *table, "bit_field"}; }

}  // namespace SIMGPU_ISA
}  // namespace simgpu
