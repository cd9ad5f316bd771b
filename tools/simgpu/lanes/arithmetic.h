/// \file
/// Arithmetic of every format as one template: operands are flushed, the operation is done, the
/// result is rounded, flushed and clamped.
#pragma once

#include <cfenv>

#include "tools/simgpu/lanes/formats.h"

namespace simgpu::SIMGPU_ISA {

inline constexpr auto divide = [](auto a, auto b) { return a / b; };
inline constexpr auto reciprocal = [](auto a) { return 1 / a; };
inline constexpr auto square_root = []<class N>(N a) {
  if constexpr (sizeof(N) == 8) return __builtin_sqrt(a);
  else return __builtin_sqrtf(a);
};
template <class F>
inline constexpr auto fused =
    [](auto a, auto b, auto c) SIMGPU_LAMBDA { return multiply_add<F>(a, b, c); };

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
template <class F, auto operation, bool flushes = false, Clamp clamp = Clamp::none>
inline constexpr auto rounded = [](auto... words) SIMGPU_LAMBDA {
  return finish<F, flushes, clamp>(round_to<F>(operation(F::number(flush<F, flushes>(words))...)));
};

/// f of each number that a register holds.
template <class P, auto f>
struct OfEach {
  template <class... Lanes>
  SIMGPU_INLINE constexpr auto operator()(Lanes... lanes) const {
    return static_cast<typename P::Lane>(f(typename P::Word{lanes}...));
  }
};
template <class F, auto f>
struct OfEach<Pair<F>, f> {
  template <class... Lanes>
  SIMGPU_INLINE constexpr auto operator()(Lanes... lanes) const {
    using Lane = typename Pair<F>::Lane;
    using Word = typename F::Word;
    constexpr Lane low_bits = (Lane{1} << F::bits) - 1;
    const Lane low{f(static_cast<Word>(lanes & low_bits)...)};
    const Lane high{f(static_cast<Word>(lanes >> F::bits)...)};
    return low | high << F::bits;
  }
};

/// A function of an instruction, in a rounding of the host.
template <Rounding rounding, Execute run>
void in_rounding(Warp& w, const Instruction& i) {
  const HostRounding<rounding> scope;
  run(w, i);
}

/// Adds the opcode of a function of each number of its one to three operands.
template <class P, auto f, int operands, Rounding rounding = Rounding::nearest>
void add_each(OpcodeTable& table, Parts name) {
  using Lane = typename P::Lane;
  const auto add = [&]<class... S>() {
    constexpr Execute all = &compute<true, OfEach<P, f>{}, Lane, S...>;
    constexpr Execute some = &compute<false, OfEach<P, f>{}, Lane, S...>;
    if constexpr (rounding == Rounding::nearest)
      table.add(name, {written<Lane>, read<S>...}, all, some);
    else
      table.add(name, {written<Lane>, read<S>...}, &in_rounding<rounding, all>,
                &in_rounding<rounding, some>);
  };
  if constexpr (operands == 1) add.template operator()<Lane>();
  else if constexpr (operands == 2) add.template operator()<Lane, Lane>();
  else add.template operator()<Lane, Lane, Lane>();
}

/// The parts of an opcode that name a rounding and a clamp.
[[gnu::always_inline]] constexpr const char* rounding_name(Rounding rounding) {
  constexpr const char* names[] = {".rn", ".rna", ".rz", ".rm", ".rp"};
  return names[static_cast<int>(rounding)];
}
[[gnu::always_inline]] constexpr const char* clamp_name(Clamp clamp) {
  return clamp == Clamp::none ? "" : clamp == Clamp::saturate ? ".sat" : ".relu";
}

/// body<rounding>() for those that results in f32 and f64 may have.
template <class Body>
void each_rounding(Body body) {
  each_value<Rounding::nearest, Rounding::zero, Rounding::down, Rounding::up>(body);
}
/// body<flushes>() for what arithmetic of a format may have: f32 and f16 have .ftz.
template <class F, class Body>
void each_flush(Body body) {
  body.template operator()<false>();
  if constexpr (__is_same(F, Single) || __is_same(F, Half)) body.template operator()<true>();
}

}  // namespace simgpu::SIMGPU_ISA
