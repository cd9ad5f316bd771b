/// \file
/// How an instruction is written: a loop over the 32 lanes of a warp. Files that include it are
/// compiled once for each instruction set of the host, with SIMGPU_ISA naming the namespace
/// (portable or avx2); what they define lies in that namespace, in internal linkage or in
/// templates of it, and they use no inline function of the standard library that is no template of
/// their own types: the linker keeps one copy of a shared one, and it might keep the one with
/// instructions that the machine lacks.
///
///     void bit_opcodes(OpcodeTable& table) {
///       each_type<u16, u32, u64>([&]<class T>() {
///         add_lanes<[](T a, T b) { return a & b; }, T, T, T>(table, {"and.", bits_name<T>});
///       });
///     }
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "tools/simgpu/lanes/opcode_table.h"
#include "tools/simgpu/machine/fault.h"
#include "tools/simgpu/machine/warp.h"

#define SIMGPU_INLINE [[gnu::always_inline]] inline
#define SIMGPU_LAMBDA __attribute__((always_inline))
/// Before a loop over lanes: registers are apart, or the same.
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#define SIMGPU_VECTORS _Pragma("clang loop vectorize(assume_safety)")
#define SIMGPU_APART [[gnu::noinline]]
#else
#define SIMGPU_VECTORS _Pragma("GCC ivdep")
/// A function that others call by its name: GCC 12 may rewrite the addresses of a loop so that it
/// takes the loop for one without effects, and leaves out the call.
#define SIMGPU_APART [[gnu::noipa]]
#endif
/// Both functions of an Opcode, from a template whose first argument says whether all lanes are
/// active.
#define SIMGPU_BOTH(function, ...) \
  &function<true __VA_OPT__(, ) __VA_ARGS__>, &function<false __VA_OPT__(, ) __VA_ARGS__>

namespace simgpu::SIMGPU_ISA {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
__extension__ using u128 = unsigned __int128;
__extension__ using s128 = __int128;

inline constexpr u32 every_lane = 0xffff'ffffu;

/// The lanes of a register operand.
template <class T>
SIMGPU_INLINE T* lanes(Warp& w, const Instruction& i, int operand) {
  return reinterpret_cast<T*>(w.registers + i.operands[operand]);
}

/// A predicate operand that is read, by bit.
SIMGPU_INLINE u32 predicate(const Warp& w, const Instruction& i, int operand) {
  const u32 which = i.operands[operand];
  const u32 bits = w.predicates[which & ~negated_predicate];
  return (which & negated_predicate) != 0 ? ~bits : bits;
}

/// Writes the active lanes of a predicate with this number, or of one that is an operand.
template <bool all>
SIMGPU_INLINE void write_bits(Warp& w, u32 number, u32 bits) {
  u32& to = w.predicates[number];
  to = all ? bits : (to & ~w.active) | (bits & w.active);
}
template <bool all>
SIMGPU_INLINE void write_predicate(Warp& w, const Instruction& i, int operand, u32 bits) {
  write_bits<all>(w, i.operands[operand], bits);
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
SIMGPU_INLINE u32 bits_where(Test test) {
  u32 bits = 0;
  for (int lane = 0; lane < warp_size; ++lane) bits |= u32{test(lane)} << lane;
  return bits;
}

/// Calls body(lane) for each lane of a mask, in rising order.
template <class Body>
SIMGPU_INLINE void each_lane_of(u32 mask, Body body) {
  for (; mask != 0; mask &= mask - 1) body(__builtin_ctz(mask));
}
template <class Body>
SIMGPU_INLINE void each_active(const Warp& w, Body body) {
  each_lane_of(w.active, body);
}

/// What has no effect here.
inline void nothing(Warp&, const Instruction&) {}

/// d = f(a, b ...): D is the type of the first operand, S those of the others.
template <bool all, auto f, class D, class... S>
SIMGPU_APART void compute(Warp& w, const Instruction& i) {
  [&]<std::size_t... n>(std::index_sequence<n...>) SIMGPU_LAMBDA {
    const auto run = [&](const S*... from) SIMGPU_LAMBDA {
      const auto value = [&](int lane) SIMGPU_LAMBDA { return f(from[lane]...); };
      write<all>(w, lanes<D>(w, i, 0), value);
    };
    run(lanes<S>(w, i, static_cast<int>(n) + 1)...);
  }
  (std::index_sequence_for<S...>());
}

/// Adds the opcode of such a function.
template <auto f, class D, class... S>
void add_lanes(OpcodeTable& table, Parts name) {
  table.add(name, {written<D>, read<S>...}, SIMGPU_BOTH(compute, f, D, S...));
}
/// The same for one that is rare: a function for all lanes being active would be worth little.
template <auto f, class D, class... S>
void add_rare(OpcodeTable& table, Parts name) {
  table.add(name, {written<D>, read<S>...}, &compute<false, f, D, S...>);
}

// What several families compute, of integers and of numbers of floating point.
inline constexpr auto plus = [](auto a, auto b) { return a + b; };
inline constexpr auto minus = [](auto a, auto b) { return a - b; };
inline constexpr auto times = [](auto a, auto b) { return a * b; };
inline constexpr auto bit_and = [](auto a, auto b) { return a & b; };
inline constexpr auto bit_or = [](auto a, auto b) { return a | b; };
inline constexpr auto bit_xor = [](auto a, auto b) { return a ^ b; };
inline constexpr auto least = [](auto a, auto b) { return b < a ? b : a; };
inline constexpr auto greatest = [](auto a, auto b) { return a < b ? b : a; };

}  // namespace simgpu::SIMGPU_ISA
