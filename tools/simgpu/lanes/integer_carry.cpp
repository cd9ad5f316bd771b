#include "tools/simgpu/lanes/integer.h"

// Extended-precision arithmetic: PTX ISA 9.7.2. The carry flag CC.CF of a lane is a bit of
// `carry_predicate`; of a subtraction it is the borrow.

namespace simgpu {
namespace SIMGPU_ISA {
namespace {

/// Whether the opcode takes the flag (addc) and whether it sets it (add.cc).
enum class Flag { sets, takes, takes_and_sets };

template <class T>
struct Sum {
  static T of(T a, T b, T carry) { return static_cast<T>(a + b + carry); }
  /// A sum that wraps is below b, or b itself where the carry makes up for the rest.
  static bool carries(T a, T b, T carry) {
    const T sum = of(a, b, carry);
    return (sum < b) | ((sum == b) & (carry != 0));
  }
};
template <class T>
struct Difference {
  static T of(T a, T b, T borrow) { return static_cast<T>(a - b - borrow); }
  static bool carries(T a, T b, T borrow) { return (a < b) | ((a == b) & (borrow != 0)); }
};

/// Writes F of a(lane) and b[lane] and the flag.
template <bool all, Flag flag, class F, class T, class First>
void with_flag(Warp& w, const Instruction& i, First a, const T* b) {
  const u32 flags = flag == Flag::sets ? 0 : w.predicates[carry_predicate];
  const auto carry = [&](int lane) { return static_cast<T>(flags >> lane & 1u); };
  if constexpr (flag != Flag::takes) {
    const u32 bits =
        bits_where([&](int lane) { return F::carries(a(lane), b[lane], carry(lane)); });
    u32& to = w.predicates[carry_predicate];
    to = all ? bits : (to & ~w.active) | (bits & w.active);
  }
  write<all>(w, lanes<T>(w, i, 0), [&](int lane) { return F::of(a(lane), b[lane], carry(lane)); });
}

template <bool all, class T, Flag flag, class F>
void two(Warp& w, const Instruction& i) {
  const T* a = lanes<T>(w, i, 1);
  with_flag<all, flag, F>(
      w, i, [&](int lane) { return a[lane]; }, lanes<T>(w, i, 2));
}

/// S is T with the sign of the product, which matters to its upper half.
template <bool all, class T, class S, Flag flag, class Product>
void product(Warp& w, const Instruction& i) {
  const S* a = lanes<S>(w, i, 1);
  const S* b = lanes<S>(w, i, 2);
  with_flag<all, flag, Sum<T>>(
      w, i, [&](int lane) { return static_cast<T>(Product::of(a[lane], b[lane])); },
      lanes<T>(w, i, 3));
}

#define BOTH_SIGNS(name, type, pattern, ...) \
  SIMGPU_ROW(name ".u" type, pattern, __VA_ARGS__), SIMGPU_ROW(name ".s" type, pattern, __VA_ARGS__)
#define TWO(name, flag, F)                                    \
  BOTH_SIGNS(name, "32", "d4 s4 s4", two, u32, flag, F<u32>), \
      BOTH_SIGNS(name, "64", "d8 s8 s8", two, u64, flag, F<u64>)
#define LOW(name, flag)                                                        \
  BOTH_SIGNS(name, "32", "d4 s4 s4 s4", product, u32, u32, flag, MultiplyLow), \
      BOTH_SIGNS(name, "64", "d8 s8 s8 s8", product, u64, u64, flag, MultiplyLow)
#define HIGH(name, flag)                                                             \
  SIMGPU_ROW(name ".u32", "d4 s4 s4 s4", product, u32, u32, flag, MultiplyHigh),     \
      SIMGPU_ROW(name ".s32", "d4 s4 s4 s4", product, u32, s32, flag, MultiplyHigh), \
      SIMGPU_ROW(name ".u64", "d8 s8 s8 s8", product, u64, u64, flag, MultiplyHigh), \
      SIMGPU_ROW(name ".s64", "d8 s8 s8 s8", product, u64, s64, flag, MultiplyHigh)

constexpr Opcode table[] = {
    TWO("add.cc", Flag::sets, Sum),
    TWO("addc", Flag::takes, Sum),
    TWO("addc.cc", Flag::takes_and_sets, Sum),
    TWO("sub.cc", Flag::sets, Difference),
    TWO("subc", Flag::takes, Difference),
    TWO("subc.cc", Flag::takes_and_sets, Difference),
    LOW("mad.lo.cc", Flag::sets),
    LOW("madc.lo", Flag::takes),
    LOW("madc.lo.cc", Flag::takes_and_sets),
    HIGH("mad.hi.cc", Flag::sets),
    HIGH("madc.hi", Flag::takes),
    HIGH("madc.hi.cc", Flag::takes_and_sets),
};

}  // namespace

OpcodeList integer_carry_opcodes() {
  return {table, sizeof table / sizeof *table, "integer_carry"};
}

}  // namespace SIMGPU_ISA
}  // namespace simgpu
