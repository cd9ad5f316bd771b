/// \file
/// Whether the elements of primitives lie along those of groups.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "jit/fuse.h"
#include "jit/size_rules.h"

namespace sinter::jit {

/// What a group would become with a primitive in it, or why that cannot be.
struct Fit {
  std::string_view refusal;  ///< empty where it fits
  Role role = Role::elementwise;
  int axes = 0, rows = -1;  ///< of the group
};

/// Answers for the groups there are; `fusion` has the readings of all primitives that are asked
/// about.
class Fitting {
 public:
  Fitting(const Trace& trace, const Primitives& primitives, const Fusion& fusion);

  /// Of a primitive that reads members of the group.
  Fit fit(PrimitiveId i, std::uint32_t group);
  /// Of a primitive that is to be the first of a group.
  std::optional<Fit> fit_alone(PrimitiveId i) const;
  /// Whether the members' operands lie along the columns of so many rows and axes. Several columns
  /// become one long one, so a value lies along all of them or along none.
  bool members_fit(const Group& group, int rows, int axes) const;
  bool readings_fit(PrimitiveId i, int rows, int axes) const;

  /// What has the axes that the readings of a primitive count.
  Operand space_of(PrimitiveId i) const;
  /// Whether the axes of both, but those of size 1, have the same sizes in every trace that the
  /// program serves: sizes that are equal now may differ in the next.
  bool same_axes(Operand a, Operand b);

  bool is_member(Operand o, std::uint32_t group) const {
    return !o.leaf && fusion_.group_of[o.index] == group;
  }

 private:
  const Node& node(PrimitiveId i) const { return *primitives_.steps[i].node; }
  const Shape& shape(Operand o) const;
  bool divide(PrimitiveId i, Fit& fit) const;
  Fit fit_fold(PrimitiveId i, const Group& group, int depth, int covered) const;
  Fit fit_gather(PrimitiveId i, std::uint32_t group) const;
  int index_axes(PrimitiveId i) const;
  Fit fit_take(PrimitiveId i, std::uint32_t group, int depth, int covered);
  Fit fit_elements(PrimitiveId i, const Group& group, int depth, int covered);
  bool is_cast_sum(PrimitiveId i, const Reading& sum) const;
  bool reads_memory(PrimitiveId i, int axes) const;

  const Trace& trace_;
  const Primitives& primitives_;
  const Fusion& fusion_;
  SizeJoins sizes_;
};

}  // namespace sinter::jit
