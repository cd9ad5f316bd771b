/// \file
/// How an instruction is written: a loop over the 32 lanes of a warp. Files that include it are
/// compiled once for each instruction set of the host, with SIMGPU_ISA naming the namespace
/// (portable or avx2); what they define lies in that namespace, in internal linkage or in
/// templates of it, and they use no inline function of the standard library that is no template of
/// their own types: the linker keeps one copy of a shared one, and it might keep the one with
/// instructions that the machine lacks.
///
///     template <bool all, class T, class F>
///     void binary(Warp& w, const Instruction& i) {
///       const T* a = lanes<T>(w, i, 1);
///       const T* b = lanes<T>(w, i, 2);
///       write<all>(w, lanes<T>(w, i, 0), [&](int lane) { return F::apply(a[lane], b[lane]); });
///     }
///     const Opcode table[] = {{"add.s32", "d4 s4 s4", SIMGPU_BOTH(binary, std::uint32_t, Add)}};
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tools/simgpu/code/pattern.h"
#include "tools/simgpu/machine/fault.h"
#include "tools/simgpu/machine/warp.h"

#define SIMGPU_INLINE [[gnu::always_inline]] inline
/// Before a loop over lanes: registers are apart, or the same.
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#define SIMGPU_VECTORS _Pragma("clang loop vectorize(assume_safety)")
#else
#define SIMGPU_VECTORS _Pragma("GCC ivdep")
#endif
/// Both functions of an Opcode, from a template whose first argument says whether all lanes are
/// active.
#define SIMGPU_BOTH(function, ...) \
  &function<true __VA_OPT__(, ) __VA_ARGS__>, &function<false __VA_OPT__(, ) __VA_ARGS__>
/// One function that looks at Warp::active itself.
#define SIMGPU_EITHER(function) function, function

namespace simgpu {

struct OpcodeList {
  const Opcode* first = nullptr;
  std::size_t count = 0;
  std::string_view family;  ///< for tests, which walk through families
};

namespace SIMGPU_ISA {  // NOLINT(readability-identifier-naming): a macro, but where tests see it

/// The lanes of a register operand.
template <class T>
SIMGPU_INLINE T* lanes(Warp& w, const Instruction& i, int operand) {
  return reinterpret_cast<T*>(w.registers + i.operands[operand]);
}

/// A predicate operand that is read, by bit.
SIMGPU_INLINE std::uint32_t predicate(const Warp& w, const Instruction& i, int operand) {
  const std::uint32_t which = i.operands[operand];
  const std::uint32_t bits = w.predicates[which & ~negated_predicate];
  return (which & negated_predicate) != 0 ? ~bits : bits;
}

/// Writes the active lanes of a predicate.
template <bool all>
SIMGPU_INLINE void write_predicate(Warp& w, const Instruction& i, int operand, std::uint32_t bits) {
  std::uint32_t& to = w.predicates[i.operands[operand]];
  to = all ? bits : (to & ~w.active) | (bits & w.active);
}

/// to[lane] = value(lane) in the active lanes. `value` is computed in every lane: it may not fault.
template <bool all, class T, class Value>
SIMGPU_INLINE void write(const Warp& w, T* to, Value value) {
  if constexpr (all) {
    SIMGPU_VECTORS
    for (int lane = 0; lane < warp_size; ++lane) to[lane] = static_cast<T>(value(lane));
  } else {
    SIMGPU_VECTORS
    for (int lane = 0; lane < warp_size; ++lane) {
      const T made = static_cast<T>(value(lane));
      to[lane] = w.lane_masks[lane] != 0 ? made : to[lane];
    }
  }
}

/// One bit for each lane in which test(lane) holds.
template <class Test>
SIMGPU_INLINE std::uint32_t bits_where(Test test) {
  std::uint32_t bits = 0;
  for (int lane = 0; lane < warp_size; ++lane) bits |= std::uint32_t{test(lane)} << lane;
  return bits;
}

/// Calls body(lane) for each active lane, in rising order.
template <class Body>
SIMGPU_INLINE void each_active(const Warp& w, Body body) {
  for (std::uint32_t rest = w.active; rest != 0; rest &= rest - 1) body(__builtin_ctz(rest));
}

#define SIMGPU_FAMILY(name) OpcodeList name##_opcodes();
#include "tools/simgpu/lanes/families.def"
#undef SIMGPU_FAMILY

}  // namespace SIMGPU_ISA
}  // namespace simgpu
