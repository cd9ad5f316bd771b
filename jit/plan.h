/// \file
/// Plan: a trace as an order of kernels, generated ones for the groups and those of the level eager
/// for the rest, with when each value dies.
///
/// A Plan is a part of a Program and as general: it holds no size and no number of the user's. What
/// depends on those is a Layout (jit/layout.h), which is made anew when they change.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/eager.h"
#include "jit/map.h"
#include "jit/schedule.h"
#include "jit/schedule_fold.h"
#include "kernels/loop_arguments.h"

namespace sinter::jit {

struct Operation {
  enum class Kind : std::uint8_t {
    group,    ///< generated: primitives that became one kernel
    map,      ///< generated: a foreach_map
    fold,     ///< generated: the sums of a list
    library,  ///< a kernel of the level eager for one primitive
    view,     ///< a reshape, which copies where strides cannot show what is asked for
  };

  Kind kind = Kind::library;
  std::uint32_t number = 0;               ///< of the group, map or fold in the Plan
  PrimitiveId primitive = 0;              ///< what gives the results, unless it is a group
  EagerKernel kernel = {};                ///< that of the library
  std::vector<std::uint32_t> dying = {};  ///< values nobody reads afterwards and nobody keeps

  bool is_generated() const { return kind < Kind::library; }
};

struct PlannedGroup {
  ScheduledGroup schedule;
  kernels::LoopFunction function;
};

struct PlannedMap {
  Map map;
  std::vector<bool> wanted;  ///< of each result, whether something reads it or keeps it
  std::vector<Loop> loops;   ///< one for each way in which positions are read
  std::vector<kernels::LoopFunction> functions;
  std::vector<std::uint32_t> loop_of;  ///< of each position
  bool single = false;  ///< whether each position has one element, so that all can be one row
};

struct PlannedFold {
  FoldLoops loops;
  kernels::LoopFunction blocks = nullptr, finish = nullptr;
};

struct Plan {
  static constexpr std::uint32_t never = UINT32_MAX;

  std::vector<Operation> operations;
  std::vector<PlannedGroup> groups;
  std::vector<PlannedMap> maps;
  std::vector<PlannedFold> folds;
  /// Values are what is in memory at some time, numbered by primitive; those of primitive i begin
  /// at first_value[i].
  std::vector<std::uint32_t> first_value;
  std::uint32_t value_count = 0;
  /// `shows[i]`: whether primitive i is a view that strides can always say. It is no operation and
  /// has no value of its own; whoever reads it reads what it shows.
  std::vector<bool> shows;
  /// For each primitive what has its elements: a leaf, or a value, by number. Itself, but for those
  /// that show another.
  std::vector<Source> bases;
  std::vector<std::uint32_t> death;  ///< of each value the operation after which it is gone
  /// Of each leaf the last operation that reads it; never where something shows it afterwards.
  std::vector<std::uint32_t> last_read;
  /// No Variable is overwritten before all operations whose data can make them fail.
  std::size_t fallible_operations = 0;
};

/// Schedules the groups and puts them in order with what is in none. A group that does not fit a
/// kernel, for it reads and writes too much, is dissolved. The functions are left to be built.
Plan plan(const Trace& trace, const Primitives& primitives, Fusion fusion);

}  // namespace sinter::jit
