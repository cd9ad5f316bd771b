/// \file
/// setp and set (PTX ISA 9.3.1, 9.7.6.1, 9.7.6.2, 9.7.7.1, 9.7.7.2), and what predicates make of
/// each other (9.7.8). Comparing, combining with a predicate and writing are functions of their
/// own, joined by what an opcode runs: there are many of those.
#include "tools/simgpu/lanes/compare.h"

#include <type_traits>

#include "tools/simgpu/lanes/arithmetic.h"

namespace simgpu::SIMGPU_ISA {
namespace {

constexpr auto equal = [](auto a, auto b) { return a == b; };
constexpr auto unequal = [](auto a, auto b) { return a != b; };
constexpr auto less = [](auto a, auto b) { return a < b; };
constexpr auto less_or_equal = [](auto a, auto b) { return a <= b; };
constexpr auto greater = [](auto a, auto b) { return a > b; };
constexpr auto greater_or_equal = [](auto a, auto b) { return a >= b; };
// Of numbers of floating point: where one is a NaN, none of those above holds but `unequal`.
constexpr auto less_or_greater = [](auto a, auto b) { return bool((a < b) | (a > b)); };
constexpr auto has_no_nan = [](auto a, auto b) { return bool((a == a) & (b == b)); };
template <auto f>
constexpr auto no = [](auto a, auto b) { return !f(a, b); };

/// The lanes, by bit, in which it holds of operands `first` and the next.
using Compare = u32 (*)(Warp& w, const Instruction& i, int first);

template <class T, auto f>
SIMGPU_INLINE u32 compare_integers(Warp& w, const Instruction& i, int first) {
  return bits_of<f>(lanes<T>(w, i, first), lanes<T>(w, i, first + 1));
}

/// Which numbers of the registers are compared.
enum class Part : u8 { whole, low, high };

template <class F, auto f, bool flushes, Part part>
SIMGPU_INLINE u32 compare_numbers(Warp& w, const Instruction& i, int first) {
  using P = std::conditional_t<part == Part::whole, F, Pair<F>>;
  using Lane = typename P::Lane;
  const Lane* a = lanes<Lane>(w, i, first);
  const Lane* b = lanes<Lane>(w, i, first + 1);
  const auto number = [](Lane lane) {
    auto word = static_cast<typename F::Word>(lane);
    if constexpr (part == Part::low) word &= F::sign | F::nan;
    if constexpr (part == Part::high) word >>= F::bits;
    return F::number(flush<F, flushes>(word));
  };
  return bits_where([&](int lane) { return f(number(a[lane]), number(b[lane])); });
}

/// The same, once for the many opcodes that are rare.
template <Compare compares>
[[gnu::noinline]] u32 shared(Warp& w, const Instruction& i, int first) {
  return compares(w, i, first);
}

/// With the predicate that is operand `which`, where there is a function to combine them.
template <auto... combine>
SIMGPU_INLINE u32 combined(const Warp& w, const Instruction& i, [[maybe_unused]] int which,
                           u32 bits) {
  ((bits = combine(bits, predicate(w, i, which))), ...);
  return bits;
}

/// setp p|q, a, b{, c}: q from what does not hold.
template <bool all, Compare compares, auto... combine>
void set_pair(Warp& w, const Instruction& i) {
  const u32 bits = compares(w, i, 2);
  const u32 p = combined<combine...>(w, i, 4, bits), q = combined<combine...>(w, i, 4, ~bits);
  write_predicate<all>(w, i, 0, p);
  write_predicate<all>(w, i, 1, q);
}

/// setp p, a, b{, c}.
template <Compare compares, auto... combine>
void set_one(Warp& w, const Instruction& i) {
  write_predicate<false>(w, i, 0, combined<combine...>(w, i, 3, compares(w, i, 1)));
}

/// setp p|q, a, b{, c}: p from the low numbers, q from the high ones.
template <Compare low, Compare high, auto... combine>
void set_halves(Warp& w, const Instruction& i) {
  const u32 p = combined<combine...>(w, i, 4, low(w, i, 2));
  const u32 q = combined<combine...>(w, i, 4, high(w, i, 2));
  write_predicate<false>(w, i, 0, p);
  write_predicate<false>(w, i, 1, q);
}

/// set d, a, b{, c}: `value` where it holds, else zero.
template <auto value>
SIMGPU_APART void write_where(Warp& w, const Instruction& i, u32 bits) {
  using Lane = std::remove_const_t<decltype(value)>;
  write<false>(w, lanes<Lane>(w, i, 0),
               [&](int lane) { return (bits >> lane & 1u) != 0 ? value : Lane{0}; });
}
template <auto value, Compare compares, auto... combine>
void set(Warp& w, const Instruction& i) {
  write_where<value>(w, i, combined<combine...>(w, i, 3, compares(w, i, 1)));
}

/// The same of each number of a pair.
template <u32 value>
SIMGPU_APART void write_where_each(Warp& w, const Instruction& i, u32 low, u32 high) {
  write<false>(w, lanes<u32>(w, i, 0), [&](int lane) {
    const u32 of_low = (low >> lane & 1u) != 0 ? value : 0u;
    return of_low | ((high >> lane & 1u) != 0 ? value << 16 : 0u);
  });
}
template <u32 value, Compare low, Compare high, auto... combine>
void set_each(Warp& w, const Instruction& i) {
  write_where_each<value>(w, i, combined<combine...>(w, i, 3, low(w, i, 1)),
                          combined<combine...>(w, i, 3, high(w, i, 1)));
}

/// What `set` writes into a register of a type: all ones, or 1 of the type of floating point.
template <class T>
constexpr auto truth = [] {
  if constexpr (requires { T::one; }) return static_cast<typename T::Lane>(T::one);
  else return static_cast<std::make_unsigned_t<T>>(-1);
}();

/// body<combine...>(text, operand): without .BoolOp and with each. `operand` is the pattern of c.
template <class Body>
void each_combination(Body body) {
  body.template operator()<>("", "");
  body.template operator()<bit_and>(".and", " sp");
  body.template operator()<bit_or>(".or", " sp");
  body.template operator()<bit_xor>(".xor", " sp");
}

/// `set` of operands of type S with results of each type D.
template <Compare compares, class S, class... D>
void add_set(OpcodeTable& table, const char* comparison, const char* ftz, const char* type) {
  each_combination([&]<auto... combine>(const char* with, const char* c) {
    (table.add({"set", comparison, with, ftz, ".", type_name<D>, ".", type},
               {written<decltype(truth<D>)>, read<S>, read<S>, c},
               &set<truth<D>, compares, combine...>),
     ...);
  });
}

/// A comparison of integers: T has the sign that matters to it.
template <class T, auto f>
void add_integers(OpcodeTable& table, const char* comparison, const char* type) {
  constexpr Compare compares = compare_integers<T, f>, of_rare = shared<compares>;
  each_combination([&]<auto... combine>(const char* with, const char* c) {
    constexpr Compare used = sizeof...(combine) == 0 ? compares : of_rare;
    table.add({"setp", comparison, with, ".", type}, {"dpq", read<T>, read<T>, c},
              SIMGPU_BOTH(set_pair, used, combine...));
  });
  add_set<of_rare, T, u32, s32, Single, Half, Brain>(table, comparison, "", type);
}

template <class T>
void add_equality(OpcodeTable& table, const char* type) {
  add_integers<T, equal>(table, ".eq", type);
  add_integers<T, unequal>(table, ".ne", type);
}

template <class T>
void add_order(OpcodeTable& table, std::initializer_list<const char*> names) {
  const char* const* name = names.begin();
  add_integers<T, less>(table, name[0], type_name<T>);
  add_integers<T, less_or_equal>(table, name[1], type_name<T>);
  add_integers<T, greater>(table, name[2], type_name<T>);
  add_integers<T, greater_or_equal>(table, name[3], type_name<T>);
}

/// body<f>(name) for all comparisons of floating point.
template <class Body>
void each_comparison(Body body) {
  body.template operator()<equal>(".eq");
  body.template operator()<less_or_greater>(".ne");
  body.template operator()<less>(".lt");
  body.template operator()<less_or_equal>(".le");
  body.template operator()<greater>(".gt");
  body.template operator()<greater_or_equal>(".ge");
  body.template operator()<no<less_or_greater>>(".equ");
  body.template operator()<unequal>(".neu");
  body.template operator()<no<greater_or_equal>>(".ltu");
  body.template operator()<no<greater>>(".leu");
  body.template operator()<no<less_or_equal>>(".gtu");
  body.template operator()<no<less>>(".geu");
  body.template operator()<has_no_nan>(".num");
  body.template operator()<no<has_no_nan>>(".nan");
}

/// The comparisons of the numbers of registers, compiled once for all that use them.
template <class F, auto f, bool flushes, Part part = Part::whole>
constexpr Compare compare = shared<compare_numbers<F, f, flushes, part>>;

template <class F, auto f, bool flushes>
void add_setp(OpcodeTable& table, const char* comparison) {
  using S = typename F::Lane;
  constexpr Compare whole = compare<F, f, flushes>;
  each_combination([&]<auto... combine>(const char* with, const char* c) {
    const auto add = [&](const char* type, Parts pattern, Execute run) {
      table.add({"setp", comparison, with, when(flushes, ".ftz"), ".", type}, pattern, run);
    };
    if constexpr (F::bits == 16) {
      add(F::name, {"dp", read<S>, read<S>, c}, &set_one<whole, combine...>);
      add(Pair<F>::name, {"dpq s4 s4", c},
          &set_halves<compare<F, f, flushes, Part::low>, compare<F, f, flushes, Part::high>,
                      combine...>);
    } else {
      add(F::name, {"dpq", read<S>, read<S>, c}, &set_pair<false, whole, combine...>);
    }
  });
}

template <class F, auto f, bool flushes>
void add_set_number(OpcodeTable& table, const char* comparison) {
  using S = typename F::Lane;
  constexpr Compare whole = compare<F, f, flushes>;
  const char* ftz = when(flushes, ".ftz");
  if constexpr (F::bits == 16)
    add_set<whole, S, u16, s16, u32, s32, F>(table, comparison, ftz, F::name);
  else add_set<whole, S, u32, s32, Single, Half>(table, comparison, ftz, F::name);
  if constexpr (!flushes && !is_brain<F>) add_set<whole, S, Brain>(table, comparison, ftz, F::name);
}

/// Of pairs, with results in pairs of 16 bits.
template <class F, auto f, bool flushes>
void add_set_pair(OpcodeTable& table, const char* comparison) {
  constexpr Compare low = compare<F, f, flushes, Part::low>;
  constexpr Compare high = compare<F, f, flushes, Part::high>;
  each_combination([&]<auto... combine>(const char* with, const char* c) {
    const auto add = [&](const char* type, Execute run) {
      table.add({"set", comparison, with, when(flushes, ".ftz"), ".", type, ".", Pair<F>::name},
                {"d4 s4 s4", c}, run);
    };
    add("u32", &set_each<0xffff, low, high, combine...>);
    add("s32", &set_each<0xffff, low, high, combine...>);
    add(Pair<F>::name, &set_each<F::one, low, high, combine...>);
  });
}

template <bool all, auto combine>
void combine_predicates(Warp& w, const Instruction& i) {
  write_predicate<all>(w, i, 0, combine(predicate(w, i, 1), predicate(w, i, 2)));
}
template <bool all, u32 flipped>
void copy_predicate(Warp& w, const Instruction& i) {
  write_predicate<all>(w, i, 0, predicate(w, i, 1) ^ flipped);
}

}  // namespace

void compare_integer_opcodes(OpcodeTable& table) {
  each_type<u16, u32, u64>([&]<class T>() {
    using Signed = std::make_signed_t<T>;
    add_equality<T>(table, bits_name<T>);
    add_equality<T>(table, type_name<T>);
    add_equality<T>(table, type_name<Signed>);
    add_order<T>(table, {".lt", ".le", ".gt", ".ge"});
    add_order<T>(table, {".lo", ".ls", ".hi", ".hs"});
    add_order<Signed>(table, {".lt", ".le", ".gt", ".ge"});
  });
  table.add({"and.pred"}, {"dp sp sp"}, SIMGPU_BOTH(combine_predicates, bit_and));
  table.add({"or.pred"}, {"dp sp sp"}, SIMGPU_BOTH(combine_predicates, bit_or));
  table.add({"xor.pred"}, {"dp sp sp"}, SIMGPU_BOTH(combine_predicates, bit_xor));
  table.add({"not.pred"}, {"dp sp"}, SIMGPU_BOTH(copy_predicate, every_lane));
  table.add({"mov.pred"}, {"dp sp"}, SIMGPU_BOTH(copy_predicate, 0));
}

void setp_float_opcodes(OpcodeTable& table) {
  each_type<Single, Double, Half, Brain>([&]<class F>() {
    each_comparison([&]<auto f>(const char* comparison) {
      each_flush<F>([&]<bool flushes>() { add_setp<F, f, flushes>(table, comparison); });
    });
  });
}

void set_float_opcodes(OpcodeTable& table) {
  each_type<Single, Double, Half, Brain>([&]<class F>() {
    each_comparison([&]<auto f>(const char* comparison) {
      each_flush<F>([&]<bool flushes>() {
        add_set_number<F, f, flushes>(table, comparison);
        if constexpr (F::bits == 16) add_set_pair<F, f, flushes>(table, comparison);
      });
    });
  });
}

}  // namespace simgpu::SIMGPU_ISA
