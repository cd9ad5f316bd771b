/// \file
/// Schedule: in which sections of a group's loop its members stand.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/fuse.h"

namespace sinter::jit {

/// A member of a group that stands in its loop, all but the casts of sums over rows.
struct LoopMember {
  PrimitiveId id = 0;
  Role role{};
  bool reduces = false;
  int phase = 0;  ///< the column section it can first stand in, or the row section it is in
  std::uint32_t demanded = 0;  ///< the column sections something wants it in, by bit
  bool kept = false;           ///< computed in the first of them, and kept for the others
  /// With casts made on the way; of two members with the same value the first is read.
  std::vector<Reading> readings = {};

  bool is_of_columns() const { return role == Role::elementwise || role == Role::column_sum; }
  /// The column section that a reduction stands in.
  int reduced_in() const { return role == Role::row ? phase - 1 : phase; }
};

/// Row section p comes before column section p, and one more row section last.
class LoopPhases {
 public:
  /// `stored[i]`: whether primitive i is stored.
  LoopPhases(const Trace& trace, const Primitives& primitives, const Fusion& fusion,
             const Group& group, const std::vector<bool>& stored);

  const std::vector<LoopMember>& members() const { return members_; }
  int last_phase() const { return last_phase_; }

  /// Where in members() a primitive is.
  std::size_t place_of(PrimitiveId i) const;
  const LoopMember& member(PrimitiveId i) const { return members_[place_of(i)]; }
  bool is_member(Operand o) const;
  bool lies_along_columns(const Reading& reading) const { return column_count(reading) != 0; }

 private:
  const Node& node(PrimitiveId i) const { return *primitives_.steps[i].node; }
  int column_count(const Reading& reading) const;
  bool lies_along_some_columns(const Reading& reading) const;
  Reading seen(const Reading& reading) const;
  void add(const Member& member);
  void find_demand(const std::vector<bool>& stored);
  void demand(Operand o, std::uint32_t phases);
  void choose_kept();

  const Trace& trace_;
  const Primitives& primitives_;
  const Fusion& fusion_;
  const Group& group_;
  std::vector<LoopMember> members_;
  int last_phase_ = 0;
};

}  // namespace sinter::jit
