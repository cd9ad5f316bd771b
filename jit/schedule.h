/// \file
/// Schedule: a group as a loop, and what its arguments are.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "jit/fuse.h"
#include "jit/loop.h"

namespace sinter::jit {

/// What an access of the loop addresses.
struct LoopOperand {
  enum class Kind : std::uint8_t {
    read,
    written,     ///< the value of a member
    block_sums,  ///< a column_sum's, one row for each block of rows
    coordinate,  ///< no memory: where the elements of a member lie, or of a range it reads
  };
  Kind kind;
  Operand value;
  /// For each axis of the value whose size is not 1 the axis of the space it lies along.
  std::vector<int> axes;
  /// Of block_sums, the primitives that get the sums of all rows, each in its dtype: the column_sum
  /// and its casts, where something outside of the group reads them.
  std::vector<PrimitiveId> totals = {};
  /// Of what is read, whether an index says where along the value's first axis, which `axes` has no
  /// entry for.
  bool taken = false;
};

/// Where a number of the loop comes from: a slot of a primitive.
struct LoopSlot {
  PrimitiveId primitive;
  std::uint32_t slot;
};

struct ScheduledGroup {
  Loop loop;
  int axes, rows;                     ///< of the space, and how many of them are the rows'
  Operand widest;                     ///< something that has all axes of the space
  std::vector<LoopOperand> operands;  ///< one for each access of the loop
  std::vector<LoopSlot> slots;        ///< one for each number of the loop
  bool in_place = false;              ///< whether nothing is read after something has been written
  bool can_fail = false;              ///< whether it picks by an index
};

/// The primitives whose values the group stores, in order.
std::vector<PrimitiveId> stored_by(const ScheduledGroup& group);

/// Which leaves and primitives have contiguous rows (jit/alias.h) in the run that kernels are made
/// for.
struct ContiguousRows {
  std::vector<bool> leaves, steps;

  bool has(Operand o) const { return (o.leaf ? leaves : steps)[o.index]; }
};

/// `stored[i]`: whether something outside of its group reads primitive i.
/// \return nothing where the group does not fit a kernel.
std::optional<ScheduledGroup> schedule(const Trace& trace, const Primitives& primitives,
                                       const Fusion& fusion, const Group& group,
                                       const std::vector<bool>& stored,
                                       const ContiguousRows& contiguous);

}  // namespace sinter::jit
