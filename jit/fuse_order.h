/// \file
/// The order in which groups and primitives in none can run, while groups grow.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/decompose.h"

namespace sinter::jit {

/// What stands between two units that were to become one.
enum class Between : std::uint8_t {
  nothing,   ///< that needs the first and is needed by the second: they are one now
  path,      ///< something that has to run between
  too_much,  ///< more than is looked through
};

/// A unit is a primitive, or several that run as one. Units stand in an order in which each comes
/// after what it reads, so whether a path leads from one unit to another is answered by what stands
/// between the two. What a unit does not depend on is moved before it when it becomes a part of one
/// that stands there, and so is passed over the next time.
///
/// D. J. Pearce and P. H. J. Kelly, "A Dynamic Topological Sort Algorithm for Directed Acyclic
/// Graphs", 2006, with a list in the place of their numbering.
class FuseOrder {
 public:
  FuseOrder(const Trace& trace, const Primitives& primitives);

  /// Appends the next primitive, as a unit.
  void append(PrimitiveId i);

  /// Makes one unit of those that a and b are in, if no path leads from one to the other through a
  /// third.
  Between contract(PrimitiveId a, PrimitiveId b);

 private:
  using Unit = PrimitiveId;  // the primitive it began with
  static constexpr Unit none = UINT32_MAX;

  /// Puts into between_ what unit `second` needs and stands after `first`, unless some of that
  /// needs `first`.
  Between find_between(Unit first, Unit second);
  /// Looks at what one unit reads. \return false where that is `first`.
  bool look_below(Unit reader, Unit first);
  /// Whether something that unit `second` reads beside `first` is seen to need that without a
  /// search.
  bool surely_needs(Unit second, Unit first) const;
  bool descends(PrimitiveId i, PrimitiveId from) const {
    return in_tree_[from] <= in_tree_[i] && in_tree_[i] < tree_end_[from];
  }
  void number_tree();
  void move_between_before(Unit unit);
  void absorb(Unit first, Unit second);
  void insert_before(Unit place, Unit unit, std::uint64_t label);
  void remove(Unit unit);
  void number_anew();

  /// Of each primitive the primitives it reads, seen through views that cost nothing.
  std::vector<PrimitiveId> reads_;
  std::vector<std::uint32_t> first_read_;

  /// Primitives in a tree, each below the last one it reads: of each its number, and that of the
  /// first one after it that is not below it.
  std::vector<std::uint32_t> in_tree_, tree_end_;

  std::vector<Unit> unit_of_;              // of each primitive
  std::vector<PrimitiveId> next_in_unit_;  // of each primitive, round in a circle
  // Of each unit: its neighbours in the order, and a number that grows along it.
  std::vector<Unit> before_, after_;
  std::vector<std::uint64_t> label_;
  Unit first_ = none, last_ = none;

  std::vector<std::uint32_t> visited_;  // of each unit, the search that found it last
  std::uint32_t search_ = 0;
  std::vector<Unit> between_;
};

}  // namespace sinter::jit
