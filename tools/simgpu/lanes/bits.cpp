#include <type_traits>

#include "tools/simgpu/lanes/lanes.h"

// Logic and shifts (PTX ISA 9.7.8) and counts of bits (9.7.1.14 to 9.7.1.18).

namespace simgpu::SIMGPU_ISA {
namespace {

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
  static u32 filled(std::int64_t bit) { return (bit & 1) != 0 ? every_lane : 0u; }
  static u32 chosen(u32 by, u32 if_clear, u32 if_set) {
    return if_clear ^ (by & (if_clear ^ if_set));
  }
  u32 if_clear_[4], change_[4];
};

/// lop3 d, a, b, c, table; or d|p, a, b, c, table, q: p is whether d is not zero, f with q.
template <bool all, auto... f>
void lookup(Warp& w, const Instruction& i) {
  constexpr int first = 1 + static_cast<int>(sizeof...(f));
  const u32* a = lanes<u32>(w, i, first);
  const u32* b = lanes<u32>(w, i, first + 1);
  const u32* c = lanes<u32>(w, i, first + 2);
  const TruthTable table(i.immediate);
  const auto value = [&](int lane) { return table.of(a[lane], b[lane], c[lane]); };
  [[maybe_unused]] const auto test = [&](auto with) {
    const u32 other = predicate(w, i, first + 3);
    const u32 bits = bits_where([&](int lane) { return value(lane) != 0; });
    write<all>(w, lanes<u32>(w, i, 0), value);
    write_predicate<all>(w, i, 1, with(bits, other));
  };
  if constexpr (first == 1) write<all>(w, lanes<u32>(w, i, 0), value);
  else (test(f), ...);
}

// A shift by the width or more leaves zero, or the sign.
constexpr auto shift_left = []<class T>(T a, u32 by) {
  return by < 8 * sizeof(T) ? static_cast<T>(a << by) : T{0};
};
constexpr auto shift_right = []<class T>(T a, u32 by) {
  constexpr u32 most = 8 * sizeof(T) - 1;
  const T rest = static_cast<T>(a >> (by < most ? by : most));
  return std::is_signed_v<T> || by <= most ? rest : T{0};
};

// shf: of the 64 bits of b and a, the upper word of what is shifted left, or the lower one of what
// is shifted right.
template <bool clamp>
u32 funnel_amount(u32 c) {
  return clamp ? (c < 32 ? c : 32) : c & 31;
}
template <bool clamp>
constexpr auto funnel_left = [](u32 a, u32 b, u32 c) {
  return static_cast<u32>((u64{b} << 32 | a) << funnel_amount<clamp>(c) >> 32);
};
template <bool clamp>
constexpr auto funnel_right = [](u32 a, u32 b, u32 c) {
  return static_cast<u32>((u64{b} << 32 | a) >> funnel_amount<clamp>(c));
};

/// By halves: in vectors, counts of bits are sums of parts that grow.
constexpr auto count_ones = []<class T>(T a) {
  constexpr T all_ones = static_cast<T>(-1);
  a = a - (a >> 1 & all_ones / 3);
  a = (a & all_ones / 15 * 3) + (a >> 2 & all_ones / 15 * 3);
  a = (a + (a >> 4)) & all_ones / 255 * 15;
  return static_cast<u32>(a * (all_ones / 255) >> (8 * sizeof(T) - 8));
};
constexpr auto count_leading_zeros = []<class T>(T a) {
  if (a == 0) return static_cast<u32>(8 * sizeof(T));
  return static_cast<u32>(sizeof(T) == 4 ? __builtin_clz(static_cast<u32>(a)) : __builtin_clzll(a));
};
/// bfind: where the highest bit is that is not the sign, or how far it is from the top.
template <bool from_top>
constexpr auto find_highest = []<class T>(T a) {
  const auto bits = static_cast<std::make_unsigned_t<T>>(a < 0 ? ~a : a);
  const u32 zeros = count_leading_zeros(bits);
  if (bits == 0) return 0xffff'ffffu;
  return from_top ? zeros : static_cast<u32>(8 * sizeof(T)) - 1 - zeros;
};
constexpr auto reverse = []<class T>(T a) {
  constexpr T all_ones = static_cast<T>(-1);
  a = (a >> 1 & all_ones / 3) | (a & all_ones / 3) << 1;
  a = (a >> 2 & all_ones / 15 * 3) | (a & all_ones / 15 * 3) << 2;
  a = (a >> 4 & all_ones / 255 * 15) | (a & all_ones / 255 * 15) << 4;
  if constexpr (sizeof(T) == 4) return __builtin_bswap32(a);
  else return __builtin_bswap64(a);
};

template <class T>
void add_logic(OpcodeTable& table) {
  constexpr const char* type = bits_name<T>;
  add_lanes<bit_and, T, T, T>(table, {"and.", type});
  add_lanes<bit_or, T, T, T>(table, {"or.", type});
  add_lanes<bit_xor, T, T, T>(table, {"xor.", type});
  add_lanes<[](T a) { return ~a; }, T, T>(table, {"not.", type});
  add_lanes<[](T a) { return a == 0; }, T, T>(table, {"cnot.", type});  // as ! of C
  add_lanes<shift_left, T, T, u32>(table, {"shl.", type});
  add_lanes<shift_right, T, T, u32>(table, {"shr.", type});
  add_lanes<shift_right, T, T, u32>(table, {"shr.", type_name<T>});
  using Signed = std::make_signed_t<T>;
  add_lanes<shift_right, Signed, Signed, u32>(table, {"shr.", type_name<Signed>});
}

}  // namespace

void bit_opcodes(OpcodeTable& table) {
  each_type<u16, u32, u64>([&]<class T>() { add_logic<T>(table); });
  table.add({"lop3.b32"}, {"d4 s4 s4 s4 i"}, SIMGPU_BOTH(lookup));
  table.add({"lop3.and.b32"}, {"d4q s4 s4 s4 i sp"}, SIMGPU_BOTH(lookup, bit_and));
  table.add({"lop3.or.b32"}, {"d4q s4 s4 s4 i sp"}, SIMGPU_BOTH(lookup, bit_or));
  add_lanes<funnel_left<true>, u32, u32, u32, u32>(table, {"shf.l.clamp.b32"});
  add_lanes<funnel_left<false>, u32, u32, u32, u32>(table, {"shf.l.wrap.b32"});
  add_lanes<funnel_right<true>, u32, u32, u32, u32>(table, {"shf.r.clamp.b32"});
  add_lanes<funnel_right<false>, u32, u32, u32, u32>(table, {"shf.r.wrap.b32"});
  each_type<u32, u64>([&]<class T>() {
    add_lanes<count_ones, u32, T>(table, {"popc.", bits_name<T>});
    add_lanes<count_leading_zeros, u32, T>(table, {"clz.", bits_name<T>});
    add_lanes<reverse, T, T>(table, {"brev.", bits_name<T>});
  });
  each_type<u32, s32, u64, s64>([&]<class T>() {
    add_lanes<find_highest<false>, u32, T>(table, {"bfind.", type_name<T>});
    add_lanes<find_highest<true>, u32, T>(table, {"bfind.shiftamt.", type_name<T>});
  });
}

}  // namespace simgpu::SIMGPU_ISA
