#include <type_traits>

#include "tools/simgpu/lanes/lanes.h"

// Fields of bits (PTX ISA 9.7.1.17 and 9.7.1.19 to 9.7.1.22) and of bytes (9.7.9.7, prmt).

namespace simgpu::SIMGPU_ISA {
namespace {

/// bfe: the field of a that begins at b and is c long, extended by zeros or its sign. It is shifted
/// down, then up against the top and back.
constexpr auto extract = []<class T>(T a, u32 b, u32 c) {
  constexpr u32 width = 8 * sizeof(T);
  const u32 from = b & 255, length = c & 255;
  const T down = static_cast<T>(a >> (from < width ? from : width - 1));
  const u32 rest = (length < width ? width - length : 0) & (width - 1);
  const T field = static_cast<T>(static_cast<T>(down << rest) >> rest);
  const bool is_zero = length == 0 || (!std::is_signed_v<T> && from >= width);
  return is_zero ? T{0} : field;
};

/// bfi f, a, b, c, d: b with the lowest d bits of a in it from c on.
constexpr auto insert = []<class T>(T a, T b, u32 c, u32 d) {
  constexpr u32 width = 8 * sizeof(T);
  const u32 to = c & 255, length = d & 255;
  const T ones = length < width ? (T{1} << (length & (width - 1))) - 1 : static_cast<T>(-1);
  const T mask = to < width ? ones << (to & (width - 1)) : T{0};
  return (b & ~mask) | (a << (to & (width - 1)) & mask);
};

/// bmsk: ones from a on, b of them. What does not fit is cut off with .clamp; with .wrap, only the
/// lowest 5 bits of both count.
template <bool clamp>
constexpr auto mask = [](u32 a, u32 b) {
  const u32 from = a & 31, length = b & 31;
  const u32 ones = clamp && b >= 32 ? 0xffff'ffffu : (u32{1} << length) - 1;
  return clamp && a >= 32 ? 0 : ones << from;
};

/// szext: the lowest b bits of a, extended. More than 31 are all of a with .clamp; with .wrap, only
/// the lowest 5 bits of b count.
template <class T, bool clamp>
constexpr auto extend = [](u32 a, u32 b) -> u32 {
  const u32 length = b & 31;
  if (clamp && b >= 32) return a;
  if (length == 0) return 0;
  return static_cast<u32>(static_cast<T>(a << (32 - length)) >> (32 - length));
};

/// fns: where the c-th bit set in a is, counted from bit b upwards, or downwards for a negative c;
/// all ones where it is not there. c of 0 asks for bit b itself. Only the lowest 5 bits of b count:
/// the ISA leaves more undefined.
constexpr auto find_nth = [](u32 a, u32 b, u32 c) {
  const int step = static_cast<s32>(c) < 0 ? -1 : 1;
  u32 rest = step < 0 ? u32{0} - c : c;
  if (rest == 0) {
    a &= u32{1} << (b & 31);
    rest = 1;
  }
  for (int at = static_cast<int>(b & 31); at >= 0 && at < 32; at += step)
    if ((a >> at & 1u) != 0 && --rest == 0) return static_cast<u32>(at);
  return 0xffff'ffffu;
};

/// Four bytes of b and a, each chosen by 4 bits of the selector; the highest of them says that the
/// byte is filled with its sign. Each goes up to the top of its word, and down to its place.
constexpr auto permute = [](u32 a, u32 b, u32 selector) {
  u32 result = 0;
  for (u32 place = 0; place < 32; place += 8) {
    const u32 choice = selector >> (place / 2);
    const u32 word = (choice & 4) != 0 ? b : a;
    const auto at_top = static_cast<s32>(word << (24 - 8 * (choice & 3)));
    const u32 down = (choice & 8) != 0 ? 31 : 24 - place;
    result |= static_cast<u32>(at_top >> down) & u32{0xff} << place;
  }
  return result;
};
/// The modes: `selectors` has one of 16 bits for each value of the lowest two bits of c.
template <u64 selectors>
constexpr auto permute_by = [](u32 a, u32 b, u32 c) {
  return permute(a, b, static_cast<u32>(selectors >> (16 * (c & 3))) & 0xffff);
};

/// Of two or three words.
template <auto f>
void add_two(OpcodeTable& table, const char* name) {
  add_lanes<f, u32, u32, u32>(table, {name});
}
template <auto f>
void add_three(OpcodeTable& table, const char* name) {
  add_lanes<f, u32, u32, u32, u32>(table, {name});
}

}  // namespace

void bit_field_opcodes(OpcodeTable& table) {
  each_type<u32, s32, u64, s64>([&]<class T>() {
    add_lanes<extract, T, T, u32, u32>(table, {"bfe.", type_name<T>});
  });
  add_lanes<insert, u32, u32, u32, u32, u32>(table, {"bfi.b32"});
  add_lanes<insert, u64, u64, u64, u32, u32>(table, {"bfi.b64"});
  add_two<mask<true>>(table, "bmsk.clamp.b32");
  add_two<mask<false>>(table, "bmsk.wrap.b32");
  add_two<extend<u32, true>>(table, "szext.clamp.u32");
  add_two<extend<s32, true>>(table, "szext.clamp.s32");
  add_two<extend<u32, false>>(table, "szext.wrap.u32");
  add_two<extend<s32, false>>(table, "szext.wrap.s32");
  add_three<find_nth>(table, "fns.b32");
  add_three<permute>(table, "prmt.b32");
  add_three<permute_by<0x6543'5432'4321'3210>>(table, "prmt.b32.f4e");
  add_three<permute_by<0x0123'7012'6701'5670>>(table, "prmt.b32.b4e");
  add_three<permute_by<0x3333'2222'1111'0000>>(table, "prmt.b32.rc8");
  add_three<permute_by<0x3333'3222'3211'3210>>(table, "prmt.b32.ecl");
  add_three<permute_by<0x3210'2210'1110'0000>>(table, "prmt.b32.ecr");
  add_three<permute_by<0x3232'1010'3232'1010>>(table, "prmt.b32.rc16");
}

}  // namespace simgpu::SIMGPU_ISA
