// What lanes of a warp do together: PTX ISA 9.7.9.6 (shfl.sync), 9.7.13.2 (bar.warp.sync) and
// 9.7.13.9 to 9.7.13.14 (vote.sync, match.sync, activemask, redux.sync, elect.sync).
//
// Each active lane names the members of its group by a mask. Groups are apart: lanes that run the
// same instruction may name different ones, as halves of a warp do that work on their own.

#include "tools/simgpu/lanes/lanes.h"
#include "tools/simgpu/machine/checks.h"

namespace simgpu {
namespace SIMGPU_ISA {
namespace {

using Mask = std::uint32_t;
constexpr Mask every_lane = 0xffff'ffffu;

void check_groups(const Warp& w, const Mask* members) {
  each_active(w, [&](int lane) {
    const Mask named = members[lane];
    if ((named >> lane & 1u) == 0)
      fail(FaultKind::absent_lane, lane, 0, "the mask of members does not name the lane itself");
    if ((named & w.existing & ~w.active) != 0)
      fail(FaultKind::absent_lane, lane, 0, "the mask names a lane that has not come");
    if (members[__builtin_ctz(named & w.active)] != named)
      fail(FaultKind::absent_lane, lane, 0, "a member of the mask names another mask");
  });
}

/// Ends the launch where the group of a lane is not one: the result would be undefined. A member
/// that has left is no error.
template <bool all>
SIMGPU_INLINE void meet(const Warp& w, const Mask* members) {
  Mask common = every_lane;
  for (int lane = 0; lane < warp_size; ++lane) common &= members[lane];
  if (!all || common != every_lane) check_groups(w, members);
}

/// Calls body(group) for each group of the active lanes.
template <class Body>
SIMGPU_INLINE void each_group(const Warp& w, const Mask* members, Body body) {
  for (Mask rest = w.active; rest != 0;) {
    const Mask group = members[__builtin_ctz(rest)] & w.active;
    body(group);
    rest &= ~group;
  }
}

// PTX ISA 9.7.9.6. The source lane, where `in_range`; else a lane reads its own value.
enum class Shuffle { up, down, butterfly, index };

template <Shuffle mode>
SIMGPU_INLINE int source_lane(int lane, std::uint32_t b, std::uint32_t c, bool& in_range) {
  const int by = static_cast<int>(b & 31u), clamp = static_cast<int>(c & 31u);
  const int segment = static_cast<int>(c >> 8 & 31u);
  const int bound = (lane & segment) | (clamp & ~segment);
  const int from = mode == Shuffle::up          ? lane - by
                   : mode == Shuffle::down      ? lane + by
                   : mode == Shuffle::butterfly ? lane ^ by
                                                : (lane & segment) | (by & ~segment);
  in_range = mode == Shuffle::up ? from >= bound : from <= bound;
  return in_range ? from : lane;
}

template <bool all, Shuffle mode>
void shuffle(Warp& w, const Instruction& i) {
  const auto* a = lanes<std::uint32_t>(w, i, 2);
  const auto* b = lanes<std::uint32_t>(w, i, 3);
  const auto* c = lanes<std::uint32_t>(w, i, 4);
  const Mask* members = lanes<Mask>(w, i, 5);
  meet<all>(w, members);
  std::uint32_t values[warp_size];
  std::uint32_t ranges[warp_size];
  std::uint32_t absent[warp_size];
  for (int lane = 0; lane < warp_size; ++lane) {
    bool in_range = false;
    const int from = source_lane<mode>(lane, b[lane], c[lane], in_range);
    values[lane] = a[from];
    ranges[lane] = in_range;
    absent[lane] = ~(members[lane] & w.active) >> from & 1u;
  }
  const Mask unread = bits_where([&](int lane) { return absent[lane] != 0; }) & w.active;
  if (unread != 0)
    fail(FaultKind::absent_lane, __builtin_ctz(unread), 0,
         "it reads the value of a lane that takes no part");
  write<all>(w, lanes<std::uint32_t>(w, i, 0), [&](int lane) { return values[lane]; });
  write_predicate<all>(w, i, 1, bits_where([&](int lane) { return ranges[lane] != 0; }));
}

// PTX ISA 9.7.13.9.
enum class Vote { all, any, uniform };

template <bool all, Vote mode>
void vote(Warp& w, const Instruction& i) {
  const Mask yes = predicate(w, i, 1);
  const Mask* members = lanes<Mask>(w, i, 2);
  meet<all>(w, members);
  const Mask result = bits_where([&](int lane) {
    const Mask group = members[lane] & w.active;
    const bool every = (group & ~yes) == 0, any = (group & yes) != 0;
    return mode == Vote::all ? every : mode == Vote::any ? any : every || !any;
  });
  write_predicate<all>(w, i, 0, result);
}

template <bool all>
void ballot(Warp& w, const Instruction& i) {
  const Mask yes = predicate(w, i, 1) & w.active;
  const Mask* members = lanes<Mask>(w, i, 2);
  meet<all>(w, members);
  write<all>(w, lanes<Mask>(w, i, 0), [&](int lane) { return members[lane] & yes; });
}

// PTX ISA 9.7.13.10.
template <bool all, class T>
void match_any(Warp& w, const Instruction& i) {
  const T* a = lanes<T>(w, i, 1);
  const Mask* members = lanes<Mask>(w, i, 2);
  meet<all>(w, members);
  Mask equal[warp_size] = {};
  for (Mask rest = w.active; rest != 0;) {
    const T value = a[__builtin_ctz(rest)];
    const Mask same = bits_where([&](int lane) { return a[lane] == value; }) & w.active;
    for (Mask each = same; each != 0; each &= each - 1) equal[__builtin_ctz(each)] = same;
    rest &= ~same;
  }
  write<all>(w, lanes<Mask>(w, i, 0), [&](int lane) { return equal[lane] & members[lane]; });
}

template <bool all, class T>
void match_all(Warp& w, const Instruction& i) {
  const T* a = lanes<T>(w, i, 2);
  const Mask* members = lanes<Mask>(w, i, 3);
  meet<all>(w, members);
  Mask equal = 0;
  each_group(w, members, [&](Mask group) {
    const T value = a[__builtin_ctz(group)];
    const Mask same = bits_where([&](int lane) { return a[lane] == value; });
    if ((group & ~same) == 0) equal |= group;
  });
  write<all>(w, lanes<Mask>(w, i, 0),
             [&](int lane) { return (equal >> lane & 1u) != 0 ? members[lane] & w.active : 0u; });
  write_predicate<all>(w, i, 1, equal);
}

// PTX ISA 9.7.13.12.
struct Add {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b) { return a + b; }
};
struct And {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b) { return a & b; }
};
struct Or {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b) { return a | b; }
};
struct Xor {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b) { return a ^ b; }
};
template <class T>
struct Min {
  static T apply(T a, T b) { return b < a ? b : a; }
};
template <class T>
struct Max {
  static T apply(T a, T b) { return a < b ? b : a; }
};

template <bool all, class T, class F>
void reduce(Warp& w, const Instruction& i) {
  const T* a = lanes<T>(w, i, 1);
  const Mask* members = lanes<Mask>(w, i, 2);
  meet<all>(w, members);
  T results[warp_size] = {};
  each_group(w, members, [&](Mask group) {
    T sum = a[__builtin_ctz(group)];
    for (Mask rest = group & (group - 1); rest != 0; rest &= rest - 1)
      sum = F::apply(sum, a[__builtin_ctz(rest)]);
    for (Mask rest = group; rest != 0; rest &= rest - 1) results[__builtin_ctz(rest)] = sum;
  });
  write<all>(w, lanes<T>(w, i, 0), [&](int lane) { return results[lane]; });
}

/// min and max of f32. Bits are compared as integers that have the order of the numbers, in which
/// +0 is above -0.
template <bool all, class F, bool absolute, bool propagate_nan>
void reduce_float(Warp& w, const Instruction& i) {
  constexpr std::uint32_t canonical_nan = 0x7fff'ffffu, infinity = 0x7f80'0000u;
  constexpr std::uint32_t magnitude = 0x7fff'ffffu;
  const auto* a = lanes<std::uint32_t>(w, i, 1);
  const Mask* members = lanes<Mask>(w, i, 2);
  meet<all>(w, members);
  std::uint32_t results[warp_size] = {};
  each_group(w, members, [&](Mask group) {
    std::int32_t best = 0;
    bool any = false, nan = false;
    for (Mask rest = group; rest != 0; rest &= rest - 1) {
      std::uint32_t bits = a[__builtin_ctz(rest)];
      if (absolute) bits &= magnitude;
      if ((bits & magnitude) > infinity) {
        nan = true;
        continue;
      }
      const auto key = static_cast<std::int32_t>(bits >> 31 != 0 ? bits ^ magnitude : bits);
      best = any ? F::apply(best, key) : key;
      any = true;
    }
    const auto key = static_cast<std::uint32_t>(best);
    std::uint32_t bits = key >> 31 != 0 ? key ^ magnitude : key;
    if (!any || (nan && propagate_nan)) bits = canonical_nan;
    for (Mask rest = group; rest != 0; rest &= rest - 1) results[__builtin_ctz(rest)] = bits;
  });
  write<all>(w, lanes<std::uint32_t>(w, i, 0), [&](int lane) { return results[lane]; });
}

// PTX ISA 9.7.13.14. The one that is elected is the lowest; the ISA asks only that it is always the
// same of a mask.
template <bool all>
void elect(Warp& w, const Instruction& i) {
  const Mask* members = lanes<Mask>(w, i, 2);
  meet<all>(w, members);
  std::uint32_t leaders[warp_size] = {};
  Mask elected = 0;
  each_group(w, members, [&](Mask group) {
    const int leader = __builtin_ctz(group);
    elected |= Mask{1} << leader;
    for (Mask rest = group; rest != 0; rest &= rest - 1)
      leaders[__builtin_ctz(rest)] = static_cast<std::uint32_t>(leader);
  });
  write<all>(w, lanes<std::uint32_t>(w, i, 0), [&](int lane) { return leaders[lane]; });
  write_predicate<all>(w, i, 1, elected);
}

template <bool all>
void active_mask(Warp& w, const Instruction& i) {
  write<all>(w, lanes<Mask>(w, i, 0), [&](int) { return w.active; });
}

/// The scheduler lets members wait for each other. It is the only one that orders memory, too.
template <bool all>
void synchronise(Warp& w, const Instruction& i) {
  const Mask* members = lanes<Mask>(w, i, 0);
  meet<all>(w, members);
  if (w.block->checks == nullptr) return;
  each_group(w, members, [&](Mask group) { w.block->checks->meet_lanes(w, group); });
}

#define TOGETHER(name, pattern, members, ...) \
  { name, pattern, SIMGPU_BOTH(__VA_ARGS__), Control::together, members }
#define SHUFFLE(name, mode) \
  TOGETHER("shfl.sync." name ".b32", "d4q s4 s4 s4 s4", 5, shuffle, Shuffle::mode)
#define REDUCE(op, type, ...) \
  TOGETHER("redux.sync." op "." type, "d4 s4 s4", 2, reduce, __VA_ARGS__)
#define REDUCE_FLOAT(op, ...) \
  TOGETHER("redux.sync." op ".f32", "d4 s4 s4", 2, reduce_float, __VA_ARGS__)

constexpr Opcode table[] = {
    SHUFFLE("up", up),
    SHUFFLE("down", down),
    SHUFFLE("bfly", butterfly),
    SHUFFLE("idx", index),
    TOGETHER("vote.sync.all.pred", "dp sp s4", 2, vote, Vote::all),
    TOGETHER("vote.sync.any.pred", "dp sp s4", 2, vote, Vote::any),
    TOGETHER("vote.sync.uni.pred", "dp sp s4", 2, vote, Vote::uniform),
    TOGETHER("vote.sync.ballot.b32", "d4 sp s4", 2, ballot),
    TOGETHER("match.any.sync.b32", "d4 s4 s4", 2, match_any, std::uint32_t),
    TOGETHER("match.any.sync.b64", "d4 s8 s4", 2, match_any, std::uint64_t),
    TOGETHER("match.all.sync.b32", "d4q s4 s4", 3, match_all, std::uint32_t),
    TOGETHER("match.all.sync.b64", "d4q s8 s4", 3, match_all, std::uint64_t),
    REDUCE("add", "u32", std::uint32_t, Add),
    REDUCE("add", "s32", std::uint32_t, Add),
    REDUCE("min", "u32", std::uint32_t, Min<std::uint32_t>),
    REDUCE("min", "s32", std::int32_t, Min<std::int32_t>),
    REDUCE("max", "u32", std::uint32_t, Max<std::uint32_t>),
    REDUCE("max", "s32", std::int32_t, Max<std::int32_t>),
    REDUCE("and", "b32", std::uint32_t, And),
    REDUCE("or", "b32", std::uint32_t, Or),
    REDUCE("xor", "b32", std::uint32_t, Xor),
    REDUCE_FLOAT("min", Min<std::int32_t>, false, false),
    REDUCE_FLOAT("min.NaN", Min<std::int32_t>, false, true),
    REDUCE_FLOAT("min.abs", Min<std::int32_t>, true, false),
    REDUCE_FLOAT("min.abs.NaN", Min<std::int32_t>, true, true),
    REDUCE_FLOAT("max", Max<std::int32_t>, false, false),
    REDUCE_FLOAT("max.NaN", Max<std::int32_t>, false, true),
    REDUCE_FLOAT("max.abs", Max<std::int32_t>, true, false),
    REDUCE_FLOAT("max.abs.NaN", Max<std::int32_t>, true, true),
    TOGETHER("elect.sync", "d4q s4", 2, elect),
    TOGETHER("bar.warp.sync", "s4", 0, synchronise),
    {"activemask.b32", "d4", SIMGPU_BOTH(active_mask)},
};

}  // namespace

OpcodeList warp_opcodes() { return {table, sizeof table / sizeof *table, "warp"}; }

}  // namespace SIMGPU_ISA
}  // namespace simgpu
