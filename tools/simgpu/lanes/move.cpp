#include "tools/simgpu/lanes/apply.h"

// Moves between registers (PTX ISA 9.7.9.1 and .2, mov) and choices between two (9.7.6.3, selp;
// 9.7.6.4, slct). mov.pred is beside the logic of predicates.

namespace simgpu {
namespace SIMGPU_ISA {
namespace {

template <bool all, class T>
void move(Warp& w, const Instruction& i) {
  const T* a = lanes<T>(w, i, 1);
  write<all>(w, lanes<T>(w, i, 0), [&](int lane) { return a[lane]; });
}

/// d = {a, b ...}: the first is the lowest.
template <bool all, class D, class S>
void pack(Warp& w, const Instruction& i) {
  constexpr int count = sizeof(D) / sizeof(S);
  const S* parts[count];
  for (int k = 0; k < count; ++k) parts[k] = lanes<S>(w, i, 1 + k);
  write<all>(w, lanes<D>(w, i, 0), [&](int lane) {
    D whole = 0;
    for (int k = 0; k < count; ++k)
      whole = static_cast<D>(whole | static_cast<D>(static_cast<D>(parts[k][lane])
                                                    << (k * 8 * static_cast<int>(sizeof(S)))));
    return whole;
  });
}

/// {d, e ...} = a.
template <bool all, class D, class S>
void unpack(Warp& w, const Instruction& i) {
  constexpr int count = sizeof(S) / sizeof(D);
  const S* a = lanes<S>(w, i, count);
  for (int k = 0; k < count; ++k)
    write<all>(w, lanes<D>(w, i, k), [&](int lane) {
      return static_cast<D>(a[lane] >> (k * 8 * static_cast<int>(sizeof(D))));
    });
}

/// selp d, a, b, c: a where the predicate c holds.
template <bool all, class T>
void select(Warp& w, const Instruction& i) {
  const T* a = lanes<T>(w, i, 1);
  const T* b = lanes<T>(w, i, 2);
  const u32 bits = predicate(w, i, 3);
  write<all>(w, lanes<T>(w, i, 0),
             [&](int lane) { return (bits & u32{1} << lane) != 0 ? a[lane] : b[lane]; });
}

// Which of two slct takes: the first where c is not below zero. -0 is not, NaN is no number.
struct NotNegative {
  static bool of(s32 c) { return c >= 0; }
};
struct NotNegativeReal {
  static bool of(float c) { return c >= 0.0f; }
};
/// .ftz: a subnormal c is a zero.
struct NotNegativeFlushed {
  static bool of(float c) { return c > -0x1p-126f; }
};
/// slct d, a, b, c.
template <bool all, class T, class C, class F>
void select_by_sign(Warp& w, const Instruction& i) {
  const T* a = lanes<T>(w, i, 1);
  const T* b = lanes<T>(w, i, 2);
  const C* c = lanes<C>(w, i, 3);
  write<all>(w, lanes<T>(w, i, 0), [&](int lane) { return F::of(c[lane]) ? a[lane] : b[lane]; });
}

#define MOVE(type, size, T)                            \
  SIMGPU_ROW("mov" type, "d" size " s" size, move, T), \
      CHOICES(type, "d" size " s" size " s" size, T)
#define CHOICES(type, pattern, T)                                                               \
  SIMGPU_ROW("selp" type, pattern " sp", select, T),                                            \
      SIMGPU_ROW("slct" type ".s32", pattern " s4", select_by_sign, T, s32, NotNegative),       \
      SIMGPU_ROW("slct" type ".f32", pattern " s4", select_by_sign, T, float, NotNegativeReal), \
      SIMGPU_ROW("slct.ftz" type ".f32", pattern " s4", select_by_sign, T, float,               \
                 NotNegativeFlushed)
#define VECTOR(type, whole, part, count, W, P)                       \
  SIMGPU_ROW("mov" type, "d" whole " s" part "v" count, pack, W, P), \
      SIMGPU_ROW("mov" type, "d" part "v" count " s" whole, unpack, P, W)

constexpr Opcode table[] = {
    MOVE(".b16", "2", u16),
    MOVE(".u16", "2", u16),
    MOVE(".s16", "2", u16),
    MOVE(".b32", "4", u32),
    MOVE(".u32", "4", u32),
    MOVE(".s32", "4", u32),
    MOVE(".f32", "4", u32),
    MOVE(".b64", "8", u64),
    MOVE(".u64", "8", u64),
    MOVE(".s64", "8", u64),
    MOVE(".f64", "8", u64),
    SIMGPU_ROW("mov.b128", "d16 s16", move, u128),
    VECTOR(".b16", "2", "1", "2", u16, u8),
    VECTOR(".b32", "4", "2", "2", u32, u16),
    VECTOR(".b32", "4", "1", "4", u32, u8),
    VECTOR(".b64", "8", "4", "2", u64, u32),
    VECTOR(".b64", "8", "2", "4", u64, u16),
    VECTOR(".b128", "16", "8", "2", u128, u64),
    VECTOR(".b128", "16", "4", "4", u128, u32),
};

}  // namespace

OpcodeList move_opcodes() { return {table, sizeof table / sizeof *table, "move"}; }

}  // namespace SIMGPU_ISA
}  // namespace simgpu
