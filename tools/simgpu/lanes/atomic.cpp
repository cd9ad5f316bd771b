// Atomic operations. PTX ISA 9.7.13.5 (atom), 9.7.13.6 (red). Names of opcodes are those of
// code/opcode_name.h. Blocks run on several threads of the host, whose own atomics these are.
#include <type_traits>

#include "tools/simgpu/lanes/access.h"
#include "tools/simgpu/lanes/arithmetic.h"

namespace simgpu::SIMGPU_ISA {
namespace {

// What becomes of `old`.
constexpr auto exchange = [](auto, auto b) { return b; };
/// The operand c is its own.
constexpr auto compare_and_swap = [](auto old, auto b, auto c) { return old == b ? c : old; };
/// Compilers differ in whether the type of a template's argument is const.
template <auto f>
constexpr bool is_swap = __is_same(std::remove_const_t<decltype(f)>,
                                   std::remove_const_t<decltype(compare_and_swap)>);
/// Counts up to b, and from 0 again.
constexpr auto increment = [](auto old, auto b) { return old >= b ? 0 : old + 1; };
constexpr auto decrement = [](auto old, auto b) { return old == 0 || old > b ? b : old - 1; };
/// Each number of a word. The only one that flushes what is subnormal is f32, in global memory.
template <class F, class P>
constexpr auto add_numbers = [](auto old, auto b, bool in_global_memory) {
  constexpr OfEach<P, rounded<F, plus>> kept;
  constexpr OfEach<P, rounded<F, plus, F::bits == 32>> flushed;
  return in_global_memory ? flushed(old, b) : kept(old, b);
};

/// One after the other, wherever else the memory is touched: what it was.
template <class T, auto f, class... Operands>
SIMGPU_INLINE T change(u64 address, Operands... operands) {
  T* const at = reinterpret_cast<T*>(bytes(address));
  T old = __atomic_load_n(at, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(at, &old, static_cast<T>(f(old, operands...)), false,
                                      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
  }
  return old;
}

/// {d =} [a], b{, c}: of vectors each element is an atomic of its own.
template <class T, auto f, int count, bool gives>
void update(Warp& w, const Instruction& i, const Where& where) {
  constexpr int address = gives ? count : 0;
  const StrongTurn turn(w, where);
  alignas(64) u64 at[warp_size];
  prepare<Access::atomic, sizeof(T) * count>(w, i, address, where, at);
  each_active(w, [&](int lane) {
    T old[count];
    for (int n = 0; n < count; ++n) {
      const u64 here = at[lane] + static_cast<u64>(n) * sizeof(T);
      const T b = lanes<T>(w, i, address + 1 + n)[lane];
      if constexpr (is_swap<f>) old[n] = change<T, f>(here, b, lanes<T>(w, i, address + 2)[lane]);
      else if constexpr (requires { f(b, b, true); })
        old[n] = change<T, f>(here, b, !is_shared(w, at[lane]));
      else old[n] = change<T, f>(here, b);
    }
    if constexpr (gives)
      for (int n = 0; n < count; ++n) lanes<T>(w, i, n)[lane] = old[n];
  });
  learn(w, at);
}

/// Which of atom and red there are of an operation, and where.
struct Has {
  bool red = true, shared = true;
};

/// With a fence before it or without, and in global memory with a cache policy or without.
template <class T, auto f, int count, Has has, Where where>
void add_in(OpcodeTable& table, Parts what) {
  const char* const* name = what.begin();
  const char* order = when(where.is_release, " release");
  const char* vector = count == 1 ? "" : vector_texts[count];
  const char* c = when(is_swap<f>, read<T>);
  for (const char* policy : {"", " s8"}) {
    if (*policy != 0 && where.space == AddressSpace::shared) continue;
    table.add({"atom", order, where.name(), name[0], vector, name[1], name[2]},
              {written<T>, vector, " ", where.pattern(), read<T>, vector, c, policy},
              &in<&update<T, f, count, true>, where>);
    if constexpr (has.red)
      table.add({"red", order, where.name(), name[0], vector, name[1], name[2]},
                {where.pattern(), read<T>, vector, policy},
                &in<&update<T, f, count, false>, where>);
  }
}

/// Adds the operation `what`, in three parts, the vector behind the first of them.
template <class T, auto f, int count = 1, Has has = Has{}>
void add(OpcodeTable& table, Parts what) {
  const auto in_space = [&]<Where where>() {
    add_in<T, f, count, has, where.strong()>(table, what);
    add_in<T, f, count, has, where.release()>(table, what);
  };
  each_value<in_generic, in_global>(in_space);
  if constexpr (has.shared) each_value<in_shared, in_shared_wide>(in_space);
}

/// min and max, compared as a Number, which has the size of T.
template <class Number>
void add_extremes(OpcodeTable& table) {
  using T = std::make_unsigned_t<Number>;
  add<T, [](Number old, Number b) { return least(old, b); }>(table,
                                                             {" min ", type_name<Number>, ""});
  add<T, [](Number old, Number b) { return greatest(old, b); }>(table,
                                                                {" max ", type_name<Number>, ""});
}

template <class F, class P>
void add_sums(OpcodeTable& table) {
  add<typename P::Lane, add_numbers<F, P>>(table, {" add ", P::name, ""});
}
/// Vectors of 16 bytes at most.
template <class F, class P>
void add_vectors(OpcodeTable& table) {
  using T = typename P::Lane;
  each_value<2, 4, 8>([&]<int count>() {
    if constexpr (sizeof(T) * count <= 16)
      add<T, add_numbers<F, P>, count, Has{true, false}>(table, {" add ", " ", P::name});
  });
}

}  // namespace

void atomic_opcodes(OpcodeTable& table) {
  each_type<u16, u32, u64>([&]<class T>() {
    add<T, exchange, 1, Has{false, true}>(table, {" exch ", bits_name<T>, ""});
    add<T, compare_and_swap, 1, Has{false, true}>(table, {" cas ", bits_name<T>, ""});
  });
  each_type<u32, u64>([&]<class T>() {
    using Signed = std::make_signed_t<T>;
    add<T, bit_and>(table, {" and ", bits_name<T>, ""});
    add<T, bit_or>(table, {" or ", bits_name<T>, ""});
    add<T, bit_xor>(table, {" xor ", bits_name<T>, ""});
    add<T, plus>(table, {" add ", type_name<T>, ""});
    add<T, plus>(table, {" add ", type_name<Signed>, ""});
    add_extremes<T>(table);
    add_extremes<Signed>(table);
  });
  add<u32, increment>(table, {" inc u32", "", ""});
  add<u32, decrement>(table, {" dec u32", "", ""});
  add_sums<Single, Single>(table);
  add_sums<Double, Double>(table);
  add_vectors<Single, Single>(table);
  each_type<Half, Brain>([&]<class F>() {
    add_sums<F, F>(table);
    add_sums<F, Pair<F>>(table);
    add_vectors<F, F>(table);
    add_vectors<F, Pair<F>>(table);
  });
}

}  // namespace simgpu::SIMGPU_ISA
