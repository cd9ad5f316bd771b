#include "tools/simgpu/lanes/apply.h"

// Division of integers: PTX ISA 9.7.1.8 and 9.7.1.9. A divisor of zero gives what the ISA calls
// machine-specific: all ones, from quotient and remainder of every type, which is what ptxas 13.0
// makes for sm_80 to sm_100. The least number divided by -1 is itself, and leaves 0.

namespace simgpu {
namespace SIMGPU_ISA {
namespace {

/// Numbers below 64 bits are divided as doubles, several lanes at once, and the fraction is cut
/// off. That is exact: a quotient that is not whole is below the next whole number by 1/b or more,
/// so by at least 1/a of itself, which is more than rounding to a double adds.
template <class T>
T quotient(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    return static_cast<T>(a / b);
  } else {
    return static_cast<T>(static_cast<double>(a) / static_cast<double>(b));
  }
}

struct Divide {
  template <class T>
  static T of(T a, T b) {
    constexpr bool is_signed = static_cast<T>(-1) < T{0};
    if (b == 0) return static_cast<T>(-1);
    if (is_signed && b == static_cast<T>(-1)) return static_cast<T>(-a);
    return quotient(a, b);
  }
};
struct Remainder {
  template <class T>
  static T of(T a, T b) {
    if (b == 0) return static_cast<T>(-1);
    return static_cast<T>(a - Divide::of(a, b) * b);
  }
};

#define DIVISION(name, F)                                       \
  SIMGPU_ROW(name ".u16", "d2 s2 s2", binary, u16, u16, F),     \
      SIMGPU_ROW(name ".s16", "d2 s2 s2", binary, s16, s16, F), \
      SIMGPU_ROW(name ".u32", "d4 s4 s4", binary, u32, u32, F), \
      SIMGPU_ROW(name ".s32", "d4 s4 s4", binary, s32, s32, F), \
      SIMGPU_ROW(name ".u64", "d8 s8 s8", binary, u64, u64, F), \
      SIMGPU_ROW(name ".s64", "d8 s8 s8", binary, s64, s64, F)

constexpr Opcode table[] = {
    DIVISION("div", Divide),
    DIVISION("rem", Remainder),
};

}  // namespace

OpcodeList integer_divide_opcodes() {
  return {table, sizeof table / sizeof *table, "integer_divide"};
}

}  // namespace SIMGPU_ISA
}  // namespace simgpu
