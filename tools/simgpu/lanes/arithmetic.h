/// \file
/// Arithmetic of every format as one template: operands are flushed, the operation is done, the
/// result is rounded, flushed and clamped.
#pragma once

#include <cfenv>

#include "tools/simgpu/lanes/formats.h"
#include "tools/simgpu/lanes/opcode_table.h"

namespace simgpu::SIMGPU_ISA {

struct Add {
  template <class F, class N>
  SIMGPU_INLINE static auto apply(N a, N b) {
    return a + b;
  }
};
struct Subtract {
  template <class F, class N>
  SIMGPU_INLINE static auto apply(N a, N b) {
    return a - b;
  }
};
struct Multiply {
  template <class F, class N>
  SIMGPU_INLINE static auto apply(N a, N b) {
    return a * b;
  }
};
struct Divide {
  template <class F, class N>
  SIMGPU_INLINE static auto apply(N a, N b) {
    return a / b;
  }
};
struct Reciprocal {
  template <class F, class N>
  SIMGPU_INLINE static auto apply(N a) {
    return 1 / a;
  }
};
struct SquareRoot {
  template <class F, class N>
  SIMGPU_INLINE static auto apply(N a) {
    if constexpr (F::bits == 64) return __builtin_sqrt(a);
    else return __builtin_sqrtf(a);
  }
};
struct MultiplyAdd {
  template <class F, class N>
  SIMGPU_INLINE static auto apply(N a, N b, N c) {
    return multiply_add<F>(a, b, c);
  }
};

/// The rounding of the host while it lives. Nothing moves across: setting it is a call of a
/// library, which might read and write the registers of a warp, and arithmetic stands between loads
/// and stores of those.
template <Rounding rounding>
class HostRounding {
 public:
  HostRounding() {
    if constexpr (rounding == Rounding::zero) std::fesetround(FE_TOWARDZERO);
    if constexpr (rounding == Rounding::down) std::fesetround(FE_DOWNWARD);
    if constexpr (rounding == Rounding::up) std::fesetround(FE_UPWARD);
  }
  ~HostRounding() {
    if constexpr (rounding != Rounding::nearest) std::fesetround(FE_TONEAREST);
  }
  HostRounding(const HostRounding&) = delete;
  HostRounding& operator=(const HostRounding&) = delete;
};

/// An operation on words of a format. 16-bit formats have .rn alone: the operation is done in
/// float, and a second rounding to p bits changes nothing where the first has 2p + 2 (float: 24;
/// f16: 11; bf16: 8). Source: Figueroa, "When is double rounding innocuous?", SIGNUM Newsletter
/// 30(3), 1995. That is of normal numbers. Below them sums are exact, and products of f16 in float.
/// A product of bf16 has 16 bits: from 2^-134 on, half of the least bf16, a float holds it; a
/// smaller one becomes at most 2^-134, which is a tie that goes to zero, where it belongs.
template <class F, class Operation, Rounding host, bool flushes, Clamp clamp>
struct Arithmetic {
  using Word = typename F::Word;
  static constexpr Rounding rounding = host;

  template <class... Words>
  SIMGPU_INLINE static Word apply(Words... words) {
    return finish<F, flushes, clamp>(
        round_to<F>(Operation::template apply<F>(F::number(flush<F, flushes>(words))...)));
  }
};

/// The register of one number, or of two (f16x2, bf16x2, f32x2).
template <int bits>
struct RegisterOf;
template <>
struct RegisterOf<16> {
  using Lane = std::uint16_t;
};
template <>
struct RegisterOf<32> {
  using Lane = std::uint32_t;
};
template <>
struct RegisterOf<64> {
  using Lane = std::uint64_t;
};

/// Applies a function to each number of the operands.
template <bool all, class F, int numbers, int... operand, class Function>
SIMGPU_INLINE void apply_each(Warp& w, const Instruction& i, const Function& function) {
  using Lane = typename RegisterOf<F::bits * numbers>::Lane;
  using Word = typename F::Word;
  const auto run = [&](const auto*... from) {
    write<all>(
        w, lanes<Lane>(w, i, 0), [&](int lane) __attribute__((always_inline)) {
          if constexpr (numbers == 1) {
            return static_cast<Lane>(function.apply(Word{from[lane]}...));
          } else {
            constexpr Lane low_bits = (Lane{1} << F::bits) - 1;
            const Lane low{function.apply(static_cast<Word>(from[lane] & low_bits)...)};
            const Lane high{function.apply(static_cast<Word>(from[lane] >> F::bits)...)};
            return low | high << F::bits;
          }
        });
  };
  run(lanes<Lane>(w, i, operand)...);
}

/// An instruction that is such a function, in the rounding of the host that it asks for.
template <bool all, class F, int numbers, class Function, int... operand>
void each_number(Warp& w, const Instruction& i) {
  const HostRounding<Function::rounding> scope;
  apply_each<all, F, numbers, operand...>(w, i, Function{});
}

/// The patterns of instructions with one to three operands, all registers of a size.
template <int bytes, int operands>
inline constexpr std::string_view same_size = [] {
  constexpr std::string_view patterns[4][3] = {
      {"d2 s2", "d2 s2 s2", "d2 s2 s2 s2"},
      {"d4 s4", "d4 s4 s4", "d4 s4 s4 s4"},
      {},
      {"d8 s8", "d8 s8 s8", "d8 s8 s8 s8"},
  };
  return patterns[bytes / 2 - 1][operands - 1];
}();

template <class F, int numbers, int operands, class Function, bool all>
inline constexpr Execute run_each = [] {
  if constexpr (operands == 1) return &each_number<all, F, numbers, Function, 1>;
  else if constexpr (operands == 2) return &each_number<all, F, numbers, Function, 1, 2>;
  else return &each_number<all, F, numbers, Function, 1, 2, 3>;
}();

/// Adds the opcode of these parts as a function of each number of its operands.
template <class F, int numbers, int operands, class Function, Text... parts, std::size_t capacity>
constexpr void add_each(OpcodeTable<capacity>& table) {
  table.template add<parts...>(same_size<F::bits * numbers / 8, operands>,
                               run_each<F, numbers, operands, Function, true>,
                               run_each<F, numbers, operands, Function, false>);
}

/// The part of an opcode that names a rounding.
template <Rounding rounding>
inline constexpr Text rounding_text = [] {
  switch (rounding) {
    case Rounding::nearest: return Text(".rn");
    case Rounding::nearest_away: return Text(".rna");
    case Rounding::zero: return Text(".rz");
    case Rounding::down: return Text(".rm");
    case Rounding::up: return Text(".rp");
  }
}();

template <Clamp clamp>
inline constexpr Text clamp_text = [] {
  switch (clamp) {
    case Clamp::none: return Text("");
    case Clamp::saturate: return Text(".sat");
    case Clamp::relu: return Text(".relu");
  }
}();

}  // namespace simgpu::SIMGPU_ISA
