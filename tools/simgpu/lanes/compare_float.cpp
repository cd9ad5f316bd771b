/// \file
/// setp and set of numbers of floating point: PTX ISA 9.3.1.2, 9.7.6.1, 9.7.6.2, 9.7.7.1, 9.7.7.2.
/// Comparing, combining with a predicate and writing are functions of their own, joined by what an
/// opcode runs: there are many of those.
#include "tools/simgpu/lanes/arithmetic.h"

namespace simgpu::SIMGPU_ISA {
namespace {

enum class Comparison : std::uint8_t {
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  equ,
  neu,
  ltu,
  leu,
  gtu,
  geu,
  num,
  nan,
};

template <Comparison comparison>
constexpr Text comparison_text = [] {
  constexpr const char* names[] = {".eq",  ".ne",  ".lt",  ".le",  ".gt",  ".ge",  ".equ",
                                   ".neu", ".ltu", ".leu", ".gtu", ".geu", ".num", ".nan"};
  return Text(names[static_cast<int>(comparison)]);
}();

/// Those that end in u, and nan, hold where a number is a NaN.
template <Comparison comparison, class N>
SIMGPU_INLINE bool holds(N a, N b) {
  switch (comparison) {
    case Comparison::eq: return a == b;
    case Comparison::ne: return (a < b) | (a > b);
    case Comparison::lt: return a < b;
    case Comparison::le: return a <= b;
    case Comparison::gt: return a > b;
    case Comparison::ge: return a >= b;
    case Comparison::equ: return !((a < b) | (a > b));
    case Comparison::neu: return a != b;
    case Comparison::ltu: return !(a >= b);
    case Comparison::leu: return !(a > b);
    case Comparison::gtu: return !(a <= b);
    case Comparison::geu: return !(a < b);
    case Comparison::num: return (a == a) & (b == b);
    case Comparison::nan: return (a != a) | (b != b);
  }
  return false;
}

/// Which numbers of the registers are compared.
enum class Part : std::uint8_t { whole, low, high };

/// The lanes, by bit, in which it holds of operands `first` and the next.
using Compare = std::uint32_t (*)(Warp& w, const Instruction& i, int first);

template <class F, Comparison comparison, bool flushes, Part part>
[[gnu::noinline]] std::uint32_t compare(Warp& w, const Instruction& i, int first) {
  using Lane = typename RegisterOf<part == Part::whole ? F::bits : 2 * F::bits>::Lane;
  const Lane* a = lanes<Lane>(w, i, first);
  const Lane* b = lanes<Lane>(w, i, first + 1);
  const auto number = [](Lane lane) {
    auto word = static_cast<typename F::Word>(lane);
    if constexpr (part == Part::low) word &= F::sign | F::nan;
    if constexpr (part == Part::high) word >>= F::bits;
    return F::number(flush<F, flushes>(word));
  };
  return bits_where([&](int lane) { return holds<comparison>(number(a[lane]), number(b[lane])); });
}

enum class Combine : std::uint8_t { none, conjunction, disjunction, exclusive };

template <Combine combine>
constexpr Text combine_text = [] {
  constexpr const char* names[] = {"", ".and", ".or", ".xor"};
  return Text(names[static_cast<int>(combine)]);
}();

/// With the predicate that is operand `which`, where there is one.
template <Combine combine>
SIMGPU_INLINE std::uint32_t combined(const Warp& w, const Instruction& i, int which,
                                     std::uint32_t bits) {
  if constexpr (combine == Combine::conjunction) return bits & predicate(w, i, which);
  if constexpr (combine == Combine::disjunction) return bits | predicate(w, i, which);
  if constexpr (combine == Combine::exclusive) return bits ^ predicate(w, i, which);
  return bits;
}

/// p|q, a, b and c: q from what does not hold.
template <Compare compares, Combine combine>
void set_pair(Warp& w, const Instruction& i) {
  const std::uint32_t bits = compares(w, i, 2);
  const std::uint32_t p = combined<combine>(w, i, 4, bits), q = combined<combine>(w, i, 4, ~bits);
  write_predicate<false>(w, i, 0, p);
  write_predicate<false>(w, i, 1, q);
}

/// p, a, b and c.
template <Compare compares, Combine combine>
void set_one(Warp& w, const Instruction& i) {
  write_predicate<false>(w, i, 0, combined<combine>(w, i, 3, compares(w, i, 1)));
}

/// p|q, a, b and c: p from the low numbers, q from the high ones.
template <Compare low, Compare high, Combine combine>
void set_halves(Warp& w, const Instruction& i) {
  const std::uint32_t p = combined<combine>(w, i, 4, low(w, i, 2));
  const std::uint32_t q = combined<combine>(w, i, 4, high(w, i, 2));
  write_predicate<false>(w, i, 0, p);
  write_predicate<false>(w, i, 1, q);
}

/// body<comparison, combine>() for all of them.
template <class Body>
constexpr void each_comparison(Body body) {
  using C = Comparison;
  each_value<C::eq, C::ne, C::lt, C::le, C::gt, C::ge, C::equ, C::neu, C::ltu, C::leu, C::gtu,
             C::geu, C::num, C::nan>([&]<Comparison comparison>() {
    each_value<Combine::none, Combine::conjunction, Combine::disjunction, Combine::exclusive>(
        [&]<Combine combine>() { body.template operator()<comparison, combine>(); });
  });
}

template <class F, Text type, bool has_flush, std::size_t capacity>
constexpr void add_setp(OpcodeTable<capacity>& table) {
  each_comparison([&]<Comparison comparison, Combine combine>() {
    each_flag([&]<bool flushes>() {
      if constexpr (has_flush || !flushes) {
        constexpr Text ftz = when(flushes, ".ftz"), name = comparison_text<comparison>;
        constexpr Text with = combine_text<combine>;
        constexpr bool alone = combine == Combine::none;
        constexpr Compare whole = &compare<F, comparison, flushes, Part::whole>;
        if constexpr (F::bits == 16) {
          constexpr Execute run = &set_one<whole, combine>;
          table.template add<"setp", name, with, ftz, type>(alone ? "dp s2 s2" : "dp s2 s2 sp", run,
                                                            run);
          constexpr Execute halves =
              &set_halves<&compare<F, comparison, flushes, Part::low>,
                          &compare<F, comparison, flushes, Part::high>, combine>;
          table.template add<"setp", name, with, ftz, type, "x2">(
              alone ? "dpq s4 s4" : "dpq s4 s4 sp", halves, halves);
        } else {
          constexpr Execute run = &set_pair<whole, combine>;
          constexpr std::string_view of_four = alone ? "dpq s4 s4" : "dpq s4 s4 sp";
          constexpr std::string_view of_eight = alone ? "dpq s8 s8" : "dpq s8 s8 sp";
          table.template add<"setp", name, with, ftz, type>(F::bits == 32 ? of_four : of_eight, run,
                                                            run);
        }
      }
    });
  });
}

constexpr auto setp_table = [] {
  OpcodeTable<504> table;
  add_setp<Single, ".f32", true>(table);
  add_setp<Double, ".f64", false>(table);
  add_setp<Half, ".f16", true>(table);
  add_setp<Brain, ".bf16", false>(table);
  return table;
}();

/// What `set` writes where it holds; in pairs of numbers, of each.
template <class Lane, Lane value>
[[gnu::noinline]] void write_where(Warp& w, const Instruction& i, std::uint32_t bits) {
  write<false>(w, lanes<Lane>(w, i, 0),
               [&](int lane) { return (bits >> lane & 1u) != 0 ? value : Lane{0}; });
}
template <std::uint32_t low_value>
[[gnu::noinline]] void write_where_each(Warp& w, const Instruction& i, std::uint32_t low,
                                        std::uint32_t high) {
  write<false>(w, lanes<std::uint32_t>(w, i, 0), [&](int lane) {
    const std::uint32_t of_low = (low >> lane & 1u) != 0 ? low_value : 0u;
    return of_low | ((high >> lane & 1u) != 0 ? low_value << 16 : 0u);
  });
}

template <Compare compares, Combine combine, class Lane, Lane value>
void set(Warp& w, const Instruction& i) {
  write_where<Lane, value>(w, i, combined<combine>(w, i, 3, compares(w, i, 1)));
}
template <Compare low, Compare high, Combine combine, std::uint32_t value>
void set_each(Warp& w, const Instruction& i) {
  write_where_each<value>(w, i, combined<combine>(w, i, 3, low(w, i, 1)),
                          combined<combine>(w, i, 3, high(w, i, 1)));
}

template <int to, int from, bool alone>
constexpr std::string_view set_pattern = [] {
  if constexpr (to == 2 && from == 2) return alone ? "d2 s2 s2" : "d2 s2 s2 sp";
  else if constexpr (to == 2 && from == 4) return alone ? "d2 s4 s4" : "d2 s4 s4 sp";
  else if constexpr (to == 2) return alone ? "d2 s8 s8" : "d2 s8 s8 sp";
  else if constexpr (from == 2) return alone ? "d4 s2 s2" : "d4 s2 s2 sp";
  else if constexpr (from == 4) return alone ? "d4 s4 s4" : "d4 s4 s4 sp";
  else return alone ? "d4 s8 s8" : "d4 s8 s8 sp";
}();

/// All comparisons of a format with results of type `to`, which is Lane{value} where they hold.
template <class F, Text from, Text to, class Lane, Lane value, bool has_flush, std::size_t capacity>
constexpr void add_set(OpcodeTable<capacity>& table) {
  each_comparison([&]<Comparison comparison, Combine combine>() {
    each_flag([&]<bool flushes>() {
      if constexpr (has_flush || !flushes) {
        constexpr Execute run =
            &set<&compare<F, comparison, flushes, Part::whole>, combine, Lane, value>;
        table.template add<"set", comparison_text<comparison>, combine_text<combine>,
                           when(flushes, ".ftz"), to, from>(
            set_pattern<sizeof(Lane), F::bits / 8, combine == Combine::none>, run, run);
      }
    });
  });
}

/// Of pairs of numbers.
template <class F, Text from, Text to, std::uint32_t value, bool has_flush, std::size_t capacity>
constexpr void add_set_each(OpcodeTable<capacity>& table) {
  each_comparison([&]<Comparison comparison, Combine combine>() {
    each_flag([&]<bool flushes>() {
      if constexpr (has_flush || !flushes) {
        constexpr Execute run =
            &set_each<&compare<F, comparison, flushes, Part::low>,
                      &compare<F, comparison, flushes, Part::high>, combine, value>;
        table.template add<"set", comparison_text<comparison>, combine_text<combine>,
                           when(flushes, ".ftz"), to, from>(
            set_pattern<4, 4, combine == Combine::none>, run, run);
      }
    });
  });
}

constexpr std::uint16_t ones_16 = 0xffff, half_one = Half::one, brain_one = Brain::one;
constexpr std::uint32_t ones_32 = 0xffff'ffffu, single_one = Single::one;

constexpr auto set_table = [] {
  OpcodeTable<41 * 56> table;
  add_set<Single, ".f32", ".u32", std::uint32_t, ones_32, true>(table);
  add_set<Single, ".f32", ".s32", std::uint32_t, ones_32, true>(table);
  add_set<Single, ".f32", ".f32", std::uint32_t, single_one, true>(table);
  add_set<Single, ".f32", ".f16", std::uint16_t, half_one, true>(table);
  add_set<Single, ".f32", ".bf16", std::uint16_t, brain_one, false>(table);
  add_set<Double, ".f64", ".u32", std::uint32_t, ones_32, false>(table);
  add_set<Double, ".f64", ".s32", std::uint32_t, ones_32, false>(table);
  add_set<Double, ".f64", ".f32", std::uint32_t, single_one, false>(table);
  add_set<Double, ".f64", ".f16", std::uint16_t, half_one, false>(table);
  add_set<Double, ".f64", ".bf16", std::uint16_t, brain_one, false>(table);
  add_set<Half, ".f16", ".u16", std::uint16_t, ones_16, true>(table);
  add_set<Half, ".f16", ".s16", std::uint16_t, ones_16, true>(table);
  add_set<Half, ".f16", ".u32", std::uint32_t, ones_32, true>(table);
  add_set<Half, ".f16", ".s32", std::uint32_t, ones_32, true>(table);
  add_set<Half, ".f16", ".f16", std::uint16_t, half_one, true>(table);
  add_set<Half, ".f16", ".bf16", std::uint16_t, brain_one, false>(table);
  add_set<Brain, ".bf16", ".u16", std::uint16_t, ones_16, false>(table);
  add_set<Brain, ".bf16", ".s16", std::uint16_t, ones_16, false>(table);
  add_set<Brain, ".bf16", ".u32", std::uint32_t, ones_32, false>(table);
  add_set<Brain, ".bf16", ".s32", std::uint32_t, ones_32, false>(table);
  add_set<Brain, ".bf16", ".bf16", std::uint16_t, brain_one, false>(table);
  add_set_each<Half, ".f16x2", ".u32", ones_16, true>(table);
  add_set_each<Half, ".f16x2", ".s32", ones_16, true>(table);
  add_set_each<Half, ".f16x2", ".f16x2", half_one, true>(table);
  add_set_each<Brain, ".bf16x2", ".u32", ones_16, false>(table);
  add_set_each<Brain, ".bf16x2", ".s32", ones_16, false>(table);
  add_set_each<Brain, ".bf16x2", ".bf16x2", brain_one, false>(table);
  return table;
}();

}  // namespace

OpcodeList setp_float_opcodes() { return setp_table.list("setp float"); }
OpcodeList set_float_opcodes() { return set_table.list("set float"); }

}  // namespace simgpu::SIMGPU_ISA
