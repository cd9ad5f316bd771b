// Atomic operations. PTX ISA 9.7.13.5 (atom), 9.7.13.6 (red). Names of opcodes are those of
// code/plain_name.h. Blocks run on several threads of the host, whose own atomics these are.
#include "tools/simgpu/lanes/access.h"
#include "tools/simgpu/lanes/arithmetic.h"

namespace simgpu::SIMGPU_ISA {
namespace {

using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

// What becomes of `old`; `c` is of cas alone.
struct And {
  template <class T>
  SIMGPU_INLINE static T apply(T old, T b, T, bool) {
    return old & b;
  }
};
struct Or {
  template <class T>
  SIMGPU_INLINE static T apply(T old, T b, T, bool) {
    return old | b;
  }
};
struct Xor {
  template <class T>
  SIMGPU_INLINE static T apply(T old, T b, T, bool) {
    return old ^ b;
  }
};
struct Exchange {
  template <class T>
  SIMGPU_INLINE static T apply(T, T b, T, bool) {
    return b;
  }
};
struct CompareAndSwap {
  template <class T>
  SIMGPU_INLINE static T apply(T old, T b, T c, bool) {
    return old == b ? c : old;
  }
};
struct Plus {
  template <class T>
  SIMGPU_INLINE static T apply(T old, T b, T, bool) {
    return old + b;
  }
};
/// Compared as a Number of the same size.
template <class Number, bool least>
struct Extreme {
  template <class T>
  SIMGPU_INLINE static T apply(T old, T b, T, bool) {
    const bool b_wins = least ? static_cast<Number>(b) < static_cast<Number>(old)
                              : static_cast<Number>(b) > static_cast<Number>(old);
    return b_wins ? b : old;
  }
};
/// Counts up to b, and from 0 again.
struct Increment {
  template <class T>
  SIMGPU_INLINE static T apply(T old, T b, T, bool) {
    return old >= b ? 0 : old + 1;
  }
};
struct Decrement {
  template <class T>
  SIMGPU_INLINE static T apply(T old, T b, T, bool) {
    return old == 0 || old > b ? b : old - 1;
  }
};
/// The only one that flushes what is subnormal is f32, in global memory.
template <class F, int numbers>
struct FloatAdd {
  template <bool flushes>
  using Rounded = Arithmetic<F, Add, Rounding::nearest, flushes, Clamp::none>;

  template <class T>
  SIMGPU_INLINE static T apply(T old, T b, T, bool flushes) {
    if constexpr (F::bits == 32) {
      if (flushes) return Rounded<true>::apply(old, b);
    }
    if constexpr (numbers == 1) {
      using Word = typename F::Word;
      return static_cast<T>(Rounded<false>::apply(Word{old}, Word{b}));
    } else {
      return Rounded<false>::apply(old & 0xffffu, b & 0xffffu) |
             Rounded<false>::apply(old >> 16, b >> 16) << 16;
    }
  }
};

/// One after the other, wherever else the memory is touched: what it was.
template <class T, class Operation>
SIMGPU_INLINE T change(std::uint64_t address, T b, T c, bool flushes) {
  T* const at = reinterpret_cast<T*>(bytes(address));
  T old = __atomic_load_n(at, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(at, &old, Operation::apply(old, b, c, flushes), false,
                                      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
  }
  return old;
}

/// {d =} [a], b{, c}: of vectors each element is an atomic of its own.
template <class T, class Operation, int count, bool gives>
void update(Warp& w, const Instruction& i, const Where& where) {
  constexpr int address = gives ? count : 0;
  constexpr bool has_c = __is_same(Operation, CompareAndSwap);
  const StrongTurn turn(w, where);
  alignas(64) std::uint64_t at[warp_size];
  prepare<Access::atomic, sizeof(T) * count>(w, i, address, where, at);
  const auto shared = reinterpret_cast<std::uint64_t>(w.block->shared);
  each_active(w, [&](int lane) {
    const bool in_shared = at[lane] - shared < w.block->shared_bytes;
    T old[count];
    for (int n = 0; n < count; ++n) {
      const T b = lanes<T>(w, i, address + 1 + n)[lane];
      const T c = has_c ? lanes<T>(w, i, address + 1 + count + n)[lane] : b;
      old[n] = change<T, Operation>(at[lane] + static_cast<std::uint64_t>(n) * sizeof(T), b, c,
                                    !in_shared);
    }
    if constexpr (gives)
      for (int n = 0; n < count; ++n) lanes<T>(w, i, n)[lane] = old[n];
  });
  learn(w, at);
}

constexpr Where places[] = {
    {AddressSpace::generic, true, true, false}, {AddressSpace::generic, true, true, true},
    {AddressSpace::global, true, true, false},  {AddressSpace::global, true, true, true},
    {AddressSpace::shared, false, true, false}, {AddressSpace::shared, false, true, true},
    {AddressSpace::shared, true, true, false},  {AddressSpace::shared, true, true, true},
};

#define ATOM(order, space, m, place, what, d, s, ...)                  \
  {                                                                    \
    "atom" order space what, d " " m " " s,                            \
        SIMGPU_EITHER((in<&update<__VA_ARGS__, true>, places[place]>)) \
  }
#define RED(order, space, m, place, what, s, ...)                       \
  {                                                                     \
    "red" order space what, m " " s,                                    \
        SIMGPU_EITHER((in<&update<__VA_ARGS__, false>, places[place]>)) \
  }

// In the spaces that there are, with a cache policy and without, and with a fence before or
// without.
#define IN_GLOBAL(each, order, release, what, ...)      \
  each(order, "", "m", 0 + release, what, __VA_ARGS__), \
      each(order, " global", "m", 2 + release, what, __VA_ARGS__)
#define IN_SHARED(each, order, release, what, ...)              \
  each(order, " shared", "m4", 4 + release, what, __VA_ARGS__), \
      each(order, " shared", "m", 6 + release, what, __VA_ARGS__)
#define ATOM_EVERYWHERE(order, release, what, d, s, ...)              \
  IN_GLOBAL(ATOM, order, release, what, d, s, __VA_ARGS__),           \
      IN_GLOBAL(ATOM, order, release, what, d, s " s8", __VA_ARGS__), \
      IN_SHARED(ATOM, order, release, what, d, s, __VA_ARGS__)
#define RED_EVERYWHERE(order, release, what, s, ...)              \
  IN_GLOBAL(RED, order, release, what, s, __VA_ARGS__),           \
      IN_GLOBAL(RED, order, release, what, s " s8", __VA_ARGS__), \
      IN_SHARED(RED, order, release, what, s, __VA_ARGS__)

#define ATOMS(what, size, s, ...)                                \
  ATOM_EVERYWHERE("", 0, " " what, "d" size, s, __VA_ARGS__, 1), \
      ATOM_EVERYWHERE(" release", 1, " " what, "d" size, s, __VA_ARGS__, 1)
#define BOTH(what, size, ...)                                    \
  ATOMS(what, size, "s" size, __VA_ARGS__),                      \
      RED_EVERYWHERE("", 0, " " what, "s" size, __VA_ARGS__, 1), \
      RED_EVERYWHERE(" release", 1, " " what, "s" size, __VA_ARGS__, 1)
#define VECTOR_IN(order, release, v, what, size, count, ...)                                     \
  IN_GLOBAL(ATOM, order, release, " add " v what, "d" size v, "s" size v, __VA_ARGS__, count),   \
      IN_GLOBAL(ATOM, order, release, " add " v what, "d" size v, "s" size v " s8", __VA_ARGS__, \
                count),                                                                          \
      IN_GLOBAL(RED, order, release, " add " v what, "s" size v, __VA_ARGS__, count),            \
      IN_GLOBAL(RED, order, release, " add " v what, "s" size v " s8", __VA_ARGS__, count)
#define VECTOR(v, what, size, count, ...)              \
  VECTOR_IN("", 0, v, what, size, count, __VA_ARGS__), \
      VECTOR_IN(" release", 1, v, what, size, count, __VA_ARGS__)

constexpr Opcode table[] = {
    ATOMS("exch b16", "2", "s2", U16, Exchange),
    ATOMS("exch b32", "4", "s4", U32, Exchange),
    ATOMS("exch b64", "8", "s8", U64, Exchange),
    ATOMS("cas b16", "2", "s2 s2", U16, CompareAndSwap),
    ATOMS("cas b32", "4", "s4 s4", U32, CompareAndSwap),
    ATOMS("cas b64", "8", "s8 s8", U64, CompareAndSwap),
    BOTH("and b32", "4", U32, And),
    BOTH("and b64", "8", U64, And),
    BOTH("or b32", "4", U32, Or),
    BOTH("or b64", "8", U64, Or),
    BOTH("xor b32", "4", U32, Xor),
    BOTH("xor b64", "8", U64, Xor),
    BOTH("inc u32", "4", U32, Increment),
    BOTH("dec u32", "4", U32, Decrement),
    BOTH("min u32", "4", U32, Extreme<U32, true>),
    BOTH("min u64", "8", U64, Extreme<U64, true>),
    BOTH("min s32", "4", U32, Extreme<std::int32_t, true>),
    BOTH("min s64", "8", U64, Extreme<std::int64_t, true>),
    BOTH("max u32", "4", U32, Extreme<U32, false>),
    BOTH("max u64", "8", U64, Extreme<U64, false>),
    BOTH("max s32", "4", U32, Extreme<std::int32_t, false>),
    BOTH("max s64", "8", U64, Extreme<std::int64_t, false>),
    BOTH("add u32", "4", U32, Plus),
    BOTH("add s32", "4", U32, Plus),
    BOTH("add u64", "8", U64, Plus),
    BOTH("add s64", "8", U64, Plus),
    BOTH("add f32", "4", U32, FloatAdd<Single, 1>),
    BOTH("add f64", "8", U64, FloatAdd<Double, 1>),
    BOTH("add f16", "2", U16, FloatAdd<Half, 1>),
    BOTH("add f16x2", "4", U32, FloatAdd<Half, 2>),
    BOTH("add bf16", "2", U16, FloatAdd<Brain, 1>),
    BOTH("add bf16x2", "4", U32, FloatAdd<Brain, 2>),
    VECTOR("v2", " f32", "4", 2, U32, FloatAdd<Single, 1>),
    VECTOR("v4", " f32", "4", 4, U32, FloatAdd<Single, 1>),
    VECTOR("v2", " f16", "2", 2, U16, FloatAdd<Half, 1>),
    VECTOR("v4", " f16", "2", 4, U16, FloatAdd<Half, 1>),
    VECTOR("v8", " f16", "2", 8, U16, FloatAdd<Half, 1>),
    VECTOR("v2", " bf16", "2", 2, U16, FloatAdd<Brain, 1>),
    VECTOR("v4", " bf16", "2", 4, U16, FloatAdd<Brain, 1>),
    VECTOR("v8", " bf16", "2", 8, U16, FloatAdd<Brain, 1>),
    VECTOR("v2", " f16x2", "4", 2, U32, FloatAdd<Half, 2>),
    VECTOR("v4", " f16x2", "4", 4, U32, FloatAdd<Half, 2>),
    VECTOR("v2", " bf16x2", "4", 2, U32, FloatAdd<Brain, 2>),
    VECTOR("v4", " bf16x2", "4", 4, U32, FloatAdd<Brain, 2>),
};

}  // namespace

OpcodeList atomic_opcodes() { return {table, sizeof table / sizeof *table, "atomic"}; }

}  // namespace simgpu::SIMGPU_ISA
