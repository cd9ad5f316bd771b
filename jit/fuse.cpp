#include "jit/fuse.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "jit/fuse_candidate.h"
#include "jit/fuse_fit.h"
#include "jit/fuse_merge.h"
#include "jit/fuse_order.h"
#include "runtime/log.h"

namespace sinter::jit {
namespace {

/// The most values that a group reads from memory; the other accesses of its kernel are for what it
/// writes.
constexpr std::size_t most_readings = 20;

/// Takes the primitives in order: each joins a group of what it reads, the other groups it reads
/// are merged with that, and where there is none it begins one.
class Fuser {
 public:
  Fuser(const Trace& trace, const Primitives& primitives)
      : trace_(trace),
        primitives_(primitives),
        fitting_(trace, primitives, fusion_),
        order_(trace, primitives) {
    fusion_.group_of.assign(primitives.steps.size(), Fusion::alone);
    fusion_.readings.resize(primitives.steps.size());
  }

  Fusion run() {
    for (PrimitiveId i = 0; i < primitives_.steps.size(); ++i) {
      order_.append(i);
      if (may_join(trace_, primitives_, i)) place(i);
    }
    drop_single_members();
    return std::move(fusion_);
  }

 private:
  const Node& node(PrimitiveId i) const { return *primitives_.steps[i].node; }

  void place(PrimitiveId i) {
    fusion_.readings[i] = readings_of(trace_, primitives_, i);
    std::uint32_t home = Fusion::alone;
    for (const Reading& reading : fusion_.readings[i]) {
      if (reading.from.leaf) continue;
      const std::uint32_t candidate = fusion_.group_of[reading.from.index];
      if (candidate == Fusion::alone || candidate == home) continue;
      if (home == Fusion::alone) {
        if (join(i, candidate)) home = candidate;
      } else if (reading.axes.empty()) {
        // For one number there is nothing to gain, and what reads one group would wait for both.
        continue;
      } else if (const auto refusal = merge(fusion_, fitting_, order_, i, home, candidate)) {
        refuse(*refusal);
      }
    }
    if (home == Fusion::alone) begin_group(i);
  }

  void begin_group(PrimitiveId i) {
    const std::optional<Fit> fit = fitting_.fit_alone(i);
    if (!fit) return;
    fusion_.group_of[i] = static_cast<std::uint32_t>(fusion_.groups.size());
    fusion_.groups.push_back({{{i, fit->role}}, fit->axes, fit->rows, fitting_.space_of(i)});
  }

  bool join(PrimitiveId i, std::uint32_t g) {
    Group& group = fusion_.groups[g];
    const auto refused = [&](std::string_view reason) {
      refuse({i, group.members.front().id, reason});
      return false;
    };
    if (group.members.size() == most_members) return refused("the group is full");
    const Fit fit = fitting_.fit(i, g);
    if (!fit.refusal.empty()) return refused(fit.refusal);
    if (reads_too_many(g, i)) return refused("it would read too many values");
    if (!fitting_.members_fit(group, fit.rows, fit.axes) ||
        (fit.role != Role::cast_sum && !fitting_.readings_fit(i, fit.rows, fit.axes)))
      return refused("a value is broadcast along some of several columns");
    switch (order_.contract(group.members.front().id, i)) {
      case Between::path: return refused("what it reads beside needs the group's results");
      case Between::too_much: return refused("too much stands between them");
      case Between::nothing: break;
    }
    if (fit.axes > group.axes) group.widest = Operand::of_step(i);
    group.axes = fit.axes;
    group.rows = fit.rows;
    group.members.push_back({i, fit.role});
    fusion_.group_of[i] = g;
    return true;
  }

  void refuse(const Refusal& refusal) {
    fusion_.refused.push_back(refusal);
    if (!log_enabled(LogChannel::fusion)) return;
    write_log({LogChannel::fusion,
               "",
               fmt::format("{} does not join the group of {}", name_of(refusal.primitive),
                           name_of(refusal.group_of)),
               {{"reason", std::string(refusal.reason)},
                {"line", line_of(refusal.primitive)},
                {"group_line", line_of(refusal.group_of)}}});
  }

  const Node& origin(PrimitiveId i) const { return *trace_.steps[primitives_.steps[i].origin]; }
  std::string line_of(PrimitiveId i) const { return to_string(origin(i).user); }
  /// `sum`, or `sum of layer_norm`.
  std::string name_of(PrimitiveId i) const {
    std::string name(to_string(node(i).op));
    if (!primitives_.steps[i].whole) name += fmt::format(" of {}", to_string(origin(i).op));
    return name;
  }

  /// Whether the group would read too many values from memory with the primitive in it.
  bool reads_too_many(std::uint32_t g, PrimitiveId i) const {
    std::vector<std::pair<std::uint32_t, Axes>> values;
    const auto collect = [&](PrimitiveId reader) {
      for (const auto& [from, axes, casts] : fusion_.readings[reader])
        if (from.leaf || (!fitting_.is_member(from, g) && !is_inlined(node(from.index))))
          values.emplace_back(from.key(), axes);
    };
    collect(i);
    for (const Member& member : fusion_.groups[g].members) collect(member.id);
    if (values.size() <= most_readings) return false;
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values.size() > most_readings;
  }

  /// One op alone has its own kernel.
  void drop_single_members() {
    std::vector<Group> kept;
    for (Group& group : fusion_.groups) {
      if (std::count_if(group.members.begin(), group.members.end(),
                        [](const Member& m) { return m.role != Role::cast_sum; }) < 2) {
        for (const Member& member : group.members) fusion_.group_of[member.id] = Fusion::alone;
        continue;
      }
      settle_roles(group);
      for (const Member& member : group.members)
        fusion_.group_of[member.id] = static_cast<std::uint32_t>(kept.size());
      kept.push_back(std::move(group));
    }
    fusion_.groups = std::move(kept);
  }

  /// Members that came before the rows were known are values of rows if they have only their axes.
  void settle_roles(Group& group) const {
    if (group.rows < 0) group.rows = std::max(group.axes - 1, 0);
    for (Member& member : group.members) {
      if (member.role != Role::elementwise) continue;
      const bool of_row = wide_sizes(node(member.id).shape).rank() < group.axes;
      if (of_row) member.role = Role::row;
    }
  }

  const Trace& trace_;
  const Primitives& primitives_;
  Fusion fusion_;
  Fitting fitting_;
  FuseOrder order_;
};

}  // namespace

Reading through_casts(const Trace& trace, const Primitives& primitives, const Fusion& fusion,
                      Reading reading) {
  while (!reading.from.leaf && fusion.group_of[reading.from.index] == Fusion::alone) {
    const Node& cast = *primitives.steps[reading.from.index].node;
    if (cast.op != Op::cast) break;
    Reading inner =
        read_through(trace, primitives, cast.shape, primitives.operands_of(reading.from.index)[0]);
    Axes axes;
    for (const std::int8_t axis : inner.axes)
      axes.push_back(reading.axes[static_cast<std::uint8_t>(axis)]);
    inner.axes = axes;
    inner.casts = std::move(reading.casts);
    inner.casts.insert(inner.casts.begin(), cast.dtype);
    reading = std::move(inner);
  }
  return reading;
}

Fusion fuse(const Trace& trace, const Primitives& primitives) {
  return Fuser(trace, primitives).run();
}

}  // namespace sinter::jit
