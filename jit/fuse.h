/// \file
/// Fuse: which primitives become one kernel.
///
/// A group walks one space of elements: the axes of its largest values, without those of size 1.
/// Each member has elements along the first axes of the space (a value of a row) or along all of
/// them. Where a member reduces or has fewer axes than the space, the axes that differ are the
/// columns and the others are the rows; a group has one such division.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "jit/reading.h"

namespace sinter::jit {

/// What a member does with the space.
enum class Role : std::uint8_t {
  elementwise,  ///< one element each, from elements at the same place
  row,          ///< a reduction over the columns, or what is computed from such
  pick_column,  ///< gather: the element of a row at an index
  column_sum,   ///< a sum over the rows, which only its own casts read
  cast_sum,     ///< a cast of a column_sum
};

struct Member {
  PrimitiveId id;
  Role role;
};

struct Group {
  std::vector<Member> members;  ///< in order
  int axes = 0;                 ///< of the space
  int rows = -1;                ///< how many of them are the rows'; -1 while it is open
  Operand widest;               ///< something whose axes are those of the space
};

/// A merge that was not made.
struct Refusal {
  PrimitiveId primitive;    ///< what did not join
  PrimitiveId group_of;     ///< the first member of the group it did not join
  std::string_view reason;  ///< a literal
};

/// The most primitives that become one kernel, which bounds what one costs the compiler. The number
/// was chosen, not measured.
inline constexpr std::size_t most_members = 48;

struct Fusion {
  static constexpr std::uint32_t alone = UINT32_MAX;

  std::vector<Group> groups;            ///< of at least two members each
  std::vector<std::uint32_t> group_of;  ///< for each primitive; `alone` for one in no group
  std::vector<Refusal> refused;         ///< in the order in which merges were tried
  /// What each primitive reads that can be in a group; none for the others.
  std::vector<std::vector<Reading>> readings;
};

/// The reading with casts that are in no group made by the reader, for each element it reads.
Reading through_casts(const Trace& trace, const Primitives& primitives, const Fusion& fusion,
                      Reading reading);

/// Merges that were refused are told on the channel `fusion`, with the reason.
Fusion fuse(const Trace& trace, const Primitives& primitives);

}  // namespace sinter::jit
