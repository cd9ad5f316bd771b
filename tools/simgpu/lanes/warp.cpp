// What lanes of a warp do together: PTX ISA 9.7.9.6 (shfl.sync), 9.7.13.2 (bar.warp.sync) and
// 9.7.13.9 to 9.7.13.14 (vote.sync, match.sync, activemask, redux.sync, elect.sync).
//
// Each active lane names the members of its group by a mask. Groups are apart: lanes that run the
// same instruction may name different ones, as halves of a warp do that work on their own.

#include "tools/simgpu/lanes/lanes.h"
#include "tools/simgpu/machine/checks.h"

namespace simgpu::SIMGPU_ISA {
namespace {

using Mask = u32;

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
SIMGPU_INLINE int source_lane(int lane, u32 b, u32 c, bool& in_range) {
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
  const auto* a = lanes<u32>(w, i, 2);
  const auto* b = lanes<u32>(w, i, 3);
  const auto* c = lanes<u32>(w, i, 4);
  const Mask* members = lanes<Mask>(w, i, 5);
  meet<all>(w, members);
  u32 values[warp_size];
  u32 ranges[warp_size];
  u32 absent[warp_size];
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
  write<all>(w, lanes<u32>(w, i, 0), [&](int lane) { return values[lane]; });
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
    each_lane_of(same, [&](int lane) { equal[lane] = same; });
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

/// d = of_group(group), the same in all lanes of the group.
template <bool all, class OfGroup>
SIMGPU_INLINE void write_groups(Warp& w, const Instruction& i, const Mask* members,
                                OfGroup of_group) {
  u32 results[warp_size] = {};
  meet<all>(w, members);
  each_group(w, members, [&](Mask group) {
    const u32 result = of_group(group);
    each_lane_of(group, [&](int lane) { results[lane] = result; });
  });
  write<all>(w, lanes<u32>(w, i, 0), [&](int lane) { return results[lane]; });
}

template <bool all, class T, auto f>
void reduce(Warp& w, const Instruction& i) {
  const T* a = lanes<T>(w, i, 1);
  write_groups<all>(w, i, lanes<Mask>(w, i, 2), [&](Mask group) {
    T sum = a[__builtin_ctz(group)];
    each_lane_of(group & (group - 1), [&](int lane) { sum = f(sum, a[lane]); });
    return static_cast<u32>(sum);
  });
}

/// min and max of f32. Bits are compared as integers that have the order of the numbers, in which
/// +0 is above -0.
template <bool all, auto f, bool absolute, bool propagate_nan>
void reduce_float(Warp& w, const Instruction& i) {
  constexpr u32 canonical_nan = 0x7fff'ffffu, infinity = 0x7f80'0000u, magnitude = 0x7fff'ffffu;
  const u32* a = lanes<u32>(w, i, 1);
  write_groups<all>(w, i, lanes<Mask>(w, i, 2), [&](Mask group) {
    s32 best = 0;
    bool any = false, nan = false;
    each_lane_of(group, [&](int lane) {
      const u32 bits = absolute ? a[lane] & magnitude : a[lane];
      const bool is_nan = (bits & magnitude) > infinity;
      nan |= is_nan;
      if (is_nan) return;
      const auto key = static_cast<s32>(bits >> 31 != 0 ? bits ^ magnitude : bits);
      best = any ? f(best, key) : key;
      any = true;
    });
    const auto key = static_cast<u32>(best);
    if (!any || (nan && propagate_nan)) return canonical_nan;
    return key >> 31 != 0 ? key ^ magnitude : key;
  });
}

// PTX ISA 9.7.13.14. The one that is elected is the lowest; the ISA asks only that it is always the
// same of a mask.
template <bool all>
void elect(Warp& w, const Instruction& i) {
  Mask elected = 0;
  write_groups<all>(w, i, lanes<Mask>(w, i, 2), [&](Mask group) {
    elected |= group & (~group + 1);
    return static_cast<u32>(__builtin_ctz(group));
  });
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

/// Adds an opcode whose mask of members is operand `members`.
void add(OpcodeTable& table, Parts name, const char* pattern, u8 members, Execute all,
         Execute some) {
  table.add(name, {pattern}, all, some, Control::together, members);
}

template <class T, auto f>
void add_reduce(OpcodeTable& table, const char* operation, const char* type) {
  add(table, {"redux.sync.", operation, ".", type}, "d4 s4 s4", 2, SIMGPU_BOTH(reduce, T, f));
}
template <auto f>
void add_reduce_float(OpcodeTable& table, const char* operation) {
  each_flag([&]<bool absolute>() {
    each_flag([&]<bool propagate_nan>() {
      add(table,
          {"redux.sync.", operation, when(absolute, ".abs"), when(propagate_nan, ".NaN"), ".f32"},
          "d4 s4 s4", 2, SIMGPU_BOTH(reduce_float, f, absolute, propagate_nan));
    });
  });
}

void add_shuffles(OpcodeTable& table) {
  const auto add_mode = [&]<Shuffle mode>(const char* name) {
    add(table, {"shfl.sync.", name, ".b32"}, "d4q s4 s4 s4 s4", 5, SIMGPU_BOTH(shuffle, mode));
  };
  add_mode.template operator()<Shuffle::up>("up");
  add_mode.template operator()<Shuffle::down>("down");
  add_mode.template operator()<Shuffle::butterfly>("bfly");
  add_mode.template operator()<Shuffle::index>("idx");
}

void add_votes(OpcodeTable& table) {
  const auto add_mode = [&]<Vote mode>(const char* name) {
    add(table, {"vote.sync.", name, ".pred"}, "dp sp s4", 2, SIMGPU_BOTH(vote, mode));
  };
  add_mode.template operator()<Vote::all>("all");
  add_mode.template operator()<Vote::any>("any");
  add_mode.template operator()<Vote::uniform>("uni");
  add(table, {"vote.sync.ballot.b32"}, "d4 sp s4", 2, SIMGPU_BOTH(ballot));
}

}  // namespace

void warp_opcodes(OpcodeTable& table) {
  add_shuffles(table);
  add_votes(table);
  add(table, {"match.any.sync.b32"}, "d4 s4 s4", 2, SIMGPU_BOTH(match_any, u32));
  add(table, {"match.any.sync.b64"}, "d4 s8 s4", 2, SIMGPU_BOTH(match_any, u64));
  add(table, {"match.all.sync.b32"}, "d4q s4 s4", 3, SIMGPU_BOTH(match_all, u32));
  add(table, {"match.all.sync.b64"}, "d4q s8 s4", 3, SIMGPU_BOTH(match_all, u64));
  each_type<u32, s32>([&]<class T>() {
    add_reduce<T, plus>(table, "add", type_name<T>);
    add_reduce<T, least>(table, "min", type_name<T>);
    add_reduce<T, greatest>(table, "max", type_name<T>);
  });
  add_reduce<u32, bit_and>(table, "and", "b32");
  add_reduce<u32, bit_or>(table, "or", "b32");
  add_reduce<u32, bit_xor>(table, "xor", "b32");
  add_reduce_float<least>(table, "min");
  add_reduce_float<greatest>(table, "max");
  add(table, {"elect.sync"}, "d4q s4", 2, SIMGPU_BOTH(elect));
  add(table, {"bar.warp.sync"}, "s4", 0, SIMGPU_BOTH(synchronise));
  table.add({"activemask.b32"}, {"d4"}, SIMGPU_BOTH(active_mask));
}

}  // namespace simgpu::SIMGPU_ISA
