#include "tools/simgpu/lanes/lanes.h"

// Integer arithmetic (PTX ISA 9.7.1), and that of extended precision (9.7.2). What overflows wraps.

namespace simgpu::SIMGPU_ISA {
namespace {

template <class T>
constexpr bool is_signed = T(-1) < T(0);

// Products: PTX ISA 9.7.1.3.
template <class T>
struct TwiceAsWide;
// clang-format off
template <> struct TwiceAsWide<u16> { using Type = u32; };
template <> struct TwiceAsWide<s16> { using Type = s32; };
template <> struct TwiceAsWide<u32> { using Type = u64; };
template <> struct TwiceAsWide<s32> { using Type = s64; };
template <> struct TwiceAsWide<u64> { using Type = u128; };
template <> struct TwiceAsWide<s64> { using Type = s128; };
// clang-format on
template <class T>
using Wide = typename TwiceAsWide<T>::Type;

constexpr auto multiply_wide = []<class T>(T a, T b) {
  return static_cast<Wide<T>>(Wide<T>{a} * Wide<T>{b});
};
constexpr auto multiply_high = []<class T>(T a, T b) {
  return static_cast<T>(multiply_wide(a, b) >> (8 * sizeof(T)));
};
constexpr auto multiply_low = []<class T>(T a, T b) { return static_cast<T>(a * b); };

/// Of what the low 24 bits hold: bits 47 to 16 of the product, or the low ones.
constexpr auto low_24 = []<class T>(T a) {
  return Wide<T>{static_cast<T>(static_cast<T>(static_cast<u32>(a) << 8) >> 8)};
};
constexpr auto multiply_24_high = []<class T>(T a, T b) {
  return static_cast<T>((low_24(a) * low_24(b)) >> 16);
};
constexpr auto multiply_24_low = []<class T>(T a, T b) {
  return static_cast<T>(low_24(a) * low_24(b));
};

constexpr s32 clamped(s64 a) {
  return static_cast<s32>(least(greatest(a, s64{INT32_MIN}), s64{INT32_MAX}));
}

/// f(a, b) + c.
template <auto f>
constexpr auto then_add = [](auto a, auto b, auto c) { return f(a, b) + c; };
/// .sat: clamped to the range of s32.
template <auto f>
constexpr auto saturated = [](s32 a, s32 b) { return clamped(f(s64{a}, s64{b})); };
template <auto f>
constexpr auto then_add_saturated = [](s32 a, s32 b, s32 c) { return clamped(s64{f(a, b)} + c); };
/// .relu: what is below zero becomes zero.
template <auto f>
constexpr auto rectified = []<class T>(T a, T b) { return greatest(f(a, b), T{0}); };
/// Both halves of a word by themselves: u16x2 and s16x2.
template <class T, auto f>
constexpr auto halves = [](u32 a, u32 b) {
  const auto low = static_cast<u16>(f(static_cast<T>(a), static_cast<T>(b)));
  const auto high = static_cast<u16>(f(static_cast<T>(a >> 16), static_cast<T>(b >> 16)));
  return u32{low} | u32{high} << 16;
};

/// The element of a packed word.
template <class T>
s32 element(u32 word, int index) {
  return static_cast<T>(word >> (index * static_cast<int>(sizeof(T)) * 8));
}
/// dp4a and dp2a: the dot product of the elements of a and as many bytes of b, from `first` on,
/// added to c.
template <class A, class B, int first>
constexpr auto dot = [](u32 a, u32 b, u32 c) {
  for (int k = 0; k < 4 / static_cast<int>(sizeof(A)); ++k)
    c += static_cast<u32>(element<A>(a, k)) * static_cast<u32>(element<B>(b, first + k));
  return c;
};

/// vabsdiff2 and vabsdiff4 of the SIMD video instructions: how far the elements of a and b are
/// apart, each by itself, or the sum of that added to c.
template <class T, bool adds>
constexpr auto apart = [](u32 a, u32 b, u32 c) {
  u32 word = adds ? c : 0;
  for (int k = 0; k < 4 / static_cast<int>(sizeof(T)); ++k) {
    const s32 difference = element<T>(a, k) - element<T>(b, k);
    const auto distance = static_cast<u32>(difference < 0 ? -difference : difference);
    word += adds ? distance : distance << (k * static_cast<int>(sizeof(T)) * 8);
  }
  return word;
};

/// Opcodes that there are of all types.
template <class T>
void add_arithmetic(OpcodeTable& table) {
  constexpr const char* type = type_name<T>;
  add_lanes<plus, T, T, T>(table, {"add.", type});
  add_lanes<minus, T, T, T>(table, {"sub.", type});
  add_lanes<multiply_low, T, T, T>(table, {"mul.lo.", type});
  add_lanes<multiply_high, T, T, T>(table, {"mul.hi.", type});
  add_lanes<then_add<multiply_low>, T, T, T, T>(table, {"mad.lo.", type});
  add_lanes<then_add<multiply_high>, T, T, T, T>(table, {"mad.hi.", type});
  add_lanes<least, T, T, T>(table, {"min.", type});
  add_lanes<greatest, T, T, T>(table, {"max.", type});
  // |a - b| + c, where the difference is worked out in the type itself.
  constexpr auto add_difference = [](T a, T b, T c) { return c + (a < b ? b - a : a - b); };
  add_lanes<add_difference, T, T, T, T>(table, {"sad.", type});
  if constexpr (sizeof(T) < 8) {
    using W = Wide<T>;
    add_lanes<multiply_wide, W, T, T>(table, {"mul.wide.", type});
    add_lanes<then_add<multiply_wide>, W, T, T, W>(table, {"mad.wide.", type});
  }
  if constexpr (is_signed<T>) {  // of the least number, both are that number
    add_lanes<[](T a) { return a < 0 ? -a : a; }, T, T>(table, {"abs.", type});
    add_lanes<[](T a) { return -a; }, T, T>(table, {"neg.", type});
  }
}

template <class T>
void add_24(OpcodeTable& table) {
  add_lanes<multiply_24_low, T, T, T>(table, {"mul24.lo.", type_name<T>});
  add_lanes<multiply_24_high, T, T, T>(table, {"mul24.hi.", type_name<T>});
  add_lanes<then_add<multiply_24_low>, T, T, T, T>(table, {"mad24.lo.", type_name<T>});
  add_lanes<then_add<multiply_24_high>, T, T, T, T>(table, {"mad24.hi.", type_name<T>});
}

/// Of what is packed in a word: T is u16 or s16, and u8 or s8 for vabsdiff4.
template <class T>
void add_packed(OpcodeTable& table) {
  constexpr const char* type = type_name<T>;
  if constexpr (sizeof(T) == 2) {
    add_lanes<halves<T, plus>, u32, u32, u32>(table, {"add.", type, "x2"});
    add_lanes<halves<T, least>, u32, u32, u32>(table, {"min.", type, "x2"});
    add_lanes<halves<T, greatest>, u32, u32, u32>(table, {"max.", type, "x2"});
  }
  constexpr const char* name = sizeof(T) == 2 ? "vabsdiff2.u32" : "vabsdiff4.u32";
  constexpr const char* sources = is_signed<T> ? ".s32.s32" : ".u32.u32";
  add_lanes<apart<T, false>, u32, u32, u32, u32>(table, {name, sources});
  add_lanes<apart<T, true>, u32, u32, u32, u32>(table, {name, sources, ".add"});
}

void add_dots(OpcodeTable& table) {
  each_type<u8, s8>([&]<class B>() {
    const char* of_b = is_signed<B> ? ".s32" : ".u32";
    each_type<u8, s8>([&]<class A>() {
      const char* of_a = is_signed<A> ? ".s32" : ".u32";
      using Half = std::conditional_t<is_signed<A>, s16, u16>;
      add_lanes<dot<A, B, 0>, u32, u32, u32, u32>(table, {"dp4a", of_a, of_b});
      add_lanes<dot<Half, B, 0>, u32, u32, u32, u32>(table, {"dp2a.lo", of_a, of_b});
      add_lanes<dot<Half, B, 2>, u32, u32, u32, u32>(table, {"dp2a.hi", of_a, of_b});
    });
  });
}

// The carry flag CC.CF of a lane is a bit of `carry_predicate`; of a subtraction it is the borrow.

/// Whether the opcode takes the flag (addc) and whether it sets it (add.cc).
enum class Flag : u8 { sets, takes, takes_and_sets };

/// A sum that wraps is below b, or b itself where the carry makes up for the rest.
struct Sum {
  template <class T>
  static T of(T a, T b, T carry) {
    return static_cast<T>(a + b + carry);
  }
  template <class T>
  static bool carries(T a, T b, T carry) {
    const T sum = of(a, b, carry);
    return (sum < b) | ((sum == b) & (carry != 0));
  }
};
struct Difference {
  template <class T>
  static T of(T a, T b, T borrow) {
    return static_cast<T>(a - b - borrow);
  }
  template <class T>
  static bool carries(T a, T b, T borrow) {
    return (a < b) | ((a == b) & (borrow != 0));
  }
};

/// d = F of f(a, b ...) and the last operand, and the flag. T has no sign; S is T with the sign
/// that matters to the upper half of a product.
template <bool all, Flag flag, class F, class T, auto f, class... S>
void with_flag(Warp& w, const Instruction& i) {
  const u32 flags = flag == Flag::sets ? 0 : w.predicates[carry_predicate];
  const auto carry = [&](int lane) { return static_cast<T>(flags >> lane & 1u); };
  [&]<std::size_t... n>(std::index_sequence<n...>) {
    const auto run = [&](const T* last, const S*... from) {
      const auto first = [&](int lane) { return static_cast<T>(f(from[lane]...)); };
      if constexpr (flag != Flag::takes)
        write_bits<all>(w, carry_predicate, bits_where([&](int lane) {
                          return F::carries(first(lane), last[lane], carry(lane));
                        }));
      write<all>(w, lanes<T>(w, i, 0),
                 [&](int lane) { return F::of(first(lane), last[lane], carry(lane)); });
    };
    run(lanes<T>(w, i, sizeof...(S) + 1), lanes<S>(w, i, static_cast<int>(n) + 1)...);
  }
  (std::index_sequence_for<S...>());
}

template <Flag flag, class F, class S, auto f, class... Operands>
void add_with_flag(OpcodeTable& table, const char* name) {
  using T = std::conditional_t<sizeof(S) == 4, u32, u64>;
  table.add({name, ".", type_name<S>}, {written<T>, read<Operands>..., read<T>},
            SIMGPU_BOTH(with_flag, flag, F, T, f, Operands...));
}

template <Flag flag>
void add_carry(OpcodeTable& table, Parts names) {
  const char* const* name = names.begin();
  each_type<u32, s32, u64, s64>([&]<class S>() {
    using T = std::conditional_t<sizeof(S) == 4, u32, u64>;
    constexpr auto itself = [](T a) { return a; };
    add_with_flag<flag, Sum, S, itself, T>(table, name[0]);
    add_with_flag<flag, Difference, S, itself, T>(table, name[1]);
    add_with_flag<flag, Sum, S, multiply_low, T, T>(table, name[2]);
    add_with_flag<flag, Sum, S, multiply_high, S, S>(table, name[3]);
  });
}

// PTX ISA 9.7.1.8 and 9.7.1.9. A divisor of zero gives what the ISA calls machine-specific: all
// ones, from quotient and remainder of every type, which is what ptxas 13.0 makes for sm_80 to
// sm_100. The least number divided by -1 is itself, and leaves 0.

/// Numbers below 64 bits are divided as doubles, several lanes at once, and the fraction is cut
/// off. That is exact: a quotient that is not whole is below the next whole number by 1/b or more,
/// so by at least 1/a of itself, which is more than rounding to a double adds.
constexpr auto divide = []<class T>(T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  if (is_signed<T> && b == static_cast<T>(-1)) return static_cast<T>(-a);
  if constexpr (sizeof(T) == 8) return static_cast<T>(a / b);
  else return static_cast<T>(static_cast<double>(a) / static_cast<double>(b));
};
constexpr auto remainder = []<class T>(T a, T b) {
  return b == 0 ? static_cast<T>(-1) : static_cast<T>(a - divide(a, b) * b);
};

}  // namespace

void integer_opcodes(OpcodeTable& table) {
  each_type<u16, s16, u32, s32, u64, s64>([&]<class T>() { add_arithmetic<T>(table); });
  each_type<u32, s32>([&]<class T>() { add_24<T>(table); });
  each_type<u16, s16, u8, s8>([&]<class T>() { add_packed<T>(table); });
  add_dots(table);
  add_lanes<saturated<plus>, s32, s32, s32>(table, {"add.sat.s32"});
  add_lanes<saturated<minus>, s32, s32, s32>(table, {"sub.sat.s32"});
  add_lanes<then_add_saturated<multiply_high>, s32, s32, s32, s32>(table, {"mad.hi.sat.s32"});
  add_lanes<then_add_saturated<multiply_24_high>, s32, s32, s32, s32>(table, {"mad24.hi.sat.s32"});
  add_lanes<rectified<least>, s32, s32, s32>(table, {"min.relu.s32"});
  add_lanes<rectified<greatest>, s32, s32, s32>(table, {"max.relu.s32"});
  add_lanes<halves<s16, rectified<least>>, u32, u32, u32>(table, {"min.relu.s16x2"});
  add_lanes<halves<s16, rectified<greatest>>, u32, u32, u32>(table, {"max.relu.s16x2"});
}

void integer_carry_opcodes(OpcodeTable& table) {
  add_carry<Flag::sets>(table, {"add.cc", "sub.cc", "mad.lo.cc", "mad.hi.cc"});
  add_carry<Flag::takes>(table, {"addc", "subc", "madc.lo", "madc.hi"});
  add_carry<Flag::takes_and_sets>(table, {"addc.cc", "subc.cc", "madc.lo.cc", "madc.hi.cc"});
}

void integer_divide_opcodes(OpcodeTable& table) {
  each_type<u16, s16, u32, s32, u64, s64>([&]<class T>() {
    add_lanes<divide, T, T, T>(table, {"div.", type_name<T>});
    add_lanes<remainder, T, T, T>(table, {"rem.", type_name<T>});
  });
}

}  // namespace simgpu::SIMGPU_ISA
