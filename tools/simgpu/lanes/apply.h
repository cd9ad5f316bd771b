/// \file
/// Instructions that compute a register from registers, lane by lane: the function is F::of, D what
/// it gives and S what it takes.
#pragma once

#include "tools/simgpu/lanes/lanes.h"

/// A row of the table: `shape` is a template of a function whose first argument is `all`.
#define SIMGPU_ROW(name, pattern, shape, ...) \
  { name, pattern, SIMGPU_BOTH(shape, __VA_ARGS__) }

namespace simgpu {
namespace SIMGPU_ISA {

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

namespace {

template <bool all, class D, class S, class F>
void unary(Warp& w, const Instruction& i) {
  const S* a = lanes<S>(w, i, 1);
  write<all>(w, lanes<D>(w, i, 0), [&](int lane) { return F::of(a[lane]); });
}

template <bool all, class D, class S, class F>
void binary(Warp& w, const Instruction& i) {
  const S* a = lanes<S>(w, i, 1);
  const S* b = lanes<S>(w, i, 2);
  write<all>(w, lanes<D>(w, i, 0), [&](int lane) { return F::of(a[lane], b[lane]); });
}

/// The last operand is of the type of the result.
template <bool all, class D, class S, class F>
void ternary(Warp& w, const Instruction& i) {
  const S* a = lanes<S>(w, i, 1);
  const S* b = lanes<S>(w, i, 2);
  const D* c = lanes<D>(w, i, 3);
  write<all>(w, lanes<D>(w, i, 0), [&](int lane) { return F::of(a[lane], b[lane], c[lane]); });
}

}  // namespace
}  // namespace SIMGPU_ISA
}  // namespace simgpu
