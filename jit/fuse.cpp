#include "jit/fuse.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "jit/size_rules.h"
#include "runtime/attributes.h"
#include "runtime/log.h"

namespace sinter::jit {
namespace {

constexpr std::size_t most_members = 48;
constexpr std::size_t most_readings = 20;
/// A row that is longer is cut among threads by the op's own kernel.
constexpr std::int64_t longest_single_row = 32768;

bool is_empty(const Shape& shape) { return element_count(shape) == 0; }

/// Of the elementwise ops only the integer forms can fail on data.
bool is_elementwise(const Node& node) {
  if (node.op == Op::cast) return true;
  if (info(node.op).kind != OpKind::elementwise) return false;
  return !can_fail_on_data(node.op) || is_floating(node.dtype);
}

bool is_fold(Op op) { return op == Op::sum || op == Op::prod || op == Op::amax || op == Op::amin; }

/// The axes in the mask, counted among those whose size is not 1.
std::vector<int> wide_axes(const Shape& shape, std::int64_t mask) {
  std::vector<int> axes;
  int wide = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] == 1) continue;
    if (has_axis(mask, axis)) axes.push_back(wide);
    ++wide;
  }
  return axes;
}

bool is_range(const std::vector<int>& axes, int begin, int end) {
  if (static_cast<int>(axes.size()) != end - begin) return false;
  for (int i = begin; i < end; ++i)
    if (axes[static_cast<std::size_t>(i - begin)] != i) return false;
  return true;
}

/// The primitives as a trace, for the rules by which sizes are equal.
Trace as_trace(const Trace& trace, const Primitives& primitives) {
  Trace all;
  for (const Primitive& step : primitives.steps) all.steps.push_back(const_cast<Node*>(step.node));
  all.leaves = trace.leaves;
  all.sources = primitives.operands;
  all.first_source = primitives.first_operand;
  return all;
}

/// What would become of a group if a primitive joined it.
struct Joined {
  Role role;
  int axes, rows;
};

class Fuser {
 public:
  Fuser(const Trace& trace, const Primitives& primitives)
      : trace_(trace),
        primitives_(primitives),
        as_trace_(as_trace(trace, primitives)),
        sizes_(as_trace_) {
    fusion_.group_of.assign(primitives.steps.size(), Fusion::alone);
    readings_.resize(primitives.steps.size());
    for (PrimitiveId i = 0; i < primitives.steps.size(); ++i)
      if (primitives.folds.count(i) == 0) join_sizes(as_trace_, i, sizes_);
  }

  Fusion run() {
    for (PrimitiveId i = 0; i < primitives_.steps.size(); ++i)
      if (may_join(i)) place(i);
    drop_single_members();
    return std::move(fusion_);
  }

 private:
  const Node& node(PrimitiveId i) const { return *primitives_.steps[i].node; }
  const Shape& shape(Operand o) const { return shape_of(trace_, primitives_, o); }

  bool may_join(PrimitiveId i) const {
    const Node& n = node(i);
    if (is_empty(n.shape) || is_inlined(n) || primitives_.gathered[i]) return false;
    for (const Operand o : primitives_.operands_of(i))
      if (is_empty(shape(o))) return false;
    if (is_elementwise(n) || n.op == Op::random_uniform) return true;
    if (n.op == Op::gather) return is_last_axis(i);
    return is_fold(n.op) && n.fixed()[0] != 0;
  }

  bool is_last_axis(PrimitiveId i) const {
    const Shape& from = shape(primitives_.operands_of(i)[0]);
    return node(i).fixed()[0] == from.rank() - 1 && node(i).shape.back() == 1 && from.back() != 1;
  }

  const Shape& reader_shape(PrimitiveId i) const {
    return jit::reader_shape(trace_, primitives_, i);
  }

  void place(PrimitiveId i) {
    readings_[i] = readings_of(trace_, primitives_, i);
    std::uint32_t home = Fusion::alone;
    for (const Reading& reading : readings_[i]) {
      if (reading.from.leaf) continue;
      const std::uint32_t candidate = fusion_.group_of[reading.from.index];
      if (candidate == Fusion::alone || candidate == home) continue;
      if (home == Fusion::alone) {
        if (join(i, candidate)) home = candidate;
      } else {
        merge(i, home, candidate);
      }
    }
    if (home == Fusion::alone) found(i);
  }

  /// Starts a group with the primitive.
  void found(PrimitiveId i) {
    if (node(i).op == Op::gather) return;
    Group group;
    const Shape& space = reader_shape(i);
    group.axes = wide_sizes(space).rank();
    group.widest = space_of(i);
    Joined joined{Role::elementwise, group.axes, -1};
    if (is_fold(node(i).op) && !divide(i, joined)) return;
    if (!readings_fit(i, joined.rows, joined.axes)) return;
    group.rows = joined.rows;
    fusion_.group_of[i] = static_cast<std::uint32_t>(fusion_.groups.size());
    group.members.push_back({i, joined.role});
    fusion_.groups.push_back(std::move(group));
  }

  /// Divides the space into rows and columns as the reduction does.
  bool divide(PrimitiveId i, Joined& joined) const {
    const Shape& from = shape(primitives_.operands_of(i)[0]);
    const std::vector<int> reduced = wide_axes(from, node(i).fixed()[0]);
    const int count = static_cast<int>(reduced.size());
    if (count == 0) return false;
    int rows = -1;
    if (is_range(reduced, joined.axes - count, joined.axes)) {
      rows = joined.axes - count;
      joined.role = Role::row;
      if (rows == 0 && element_count(from) > longest_single_row) return false;
    } else if (node(i).op == Op::sum && is_range(reduced, 0, count)) {
      rows = count;
      joined.role = Role::column_sum;
    }
    if (rows < 0 || (joined.rows >= 0 && joined.rows != rows)) return false;
    joined.rows = rows;
    return true;
  }

  bool refuse(PrimitiveId i, std::uint32_t group, std::string_view reason) {
    fusion_.refused.push_back({i, fusion_.groups[group].members.front().id, reason});
    if (log_enabled(LogChannel::fusion))
      write_log({LogChannel::fusion,
                 fmt::format("group {}", group),
                 fmt::format("{} does not join", to_string(node(i).op)),
                 {{"reason", std::string(reason)}, {"line", to_string(node(i).user)}}});
    return false;
  }

  bool join(PrimitiveId i, std::uint32_t g) {
    Group& group = fusion_.groups[g];
    if (group.members.size() == most_members) return refuse(i, g, "the group is full");
    const std::optional<Joined> joined = fit(i, g);
    if (!joined) return false;
    if (reading_count(group, i) > most_readings)
      return refuse(i, g, "it would read too many values");
    if (!members_fit(group, joined->rows, joined->axes) ||
        !member_fits({i, joined->role}, joined->rows, joined->axes))
      return refuse(i, g, "a value is broadcast along some of several columns");
    if (reaches(i, g)) return refuse(i, g, "what it reads beside needs the group's results");
    if (joined->axes > group.axes) group.widest = {i & 0x7fffffffu, 0};
    group.axes = joined->axes;
    group.rows = joined->rows;
    group.members.push_back({i, joined->role});
    fusion_.group_of[i] = g;
    return true;
  }

  /// Whether the primitive's elements lie along the group's, and what the group would become.
  std::optional<Joined> fit(PrimitiveId i, std::uint32_t g) {
    const Group& group = fusion_.groups[g];
    const auto refused = [&](std::string_view reason) {
      refuse(i, g, reason);
      return std::nullopt;
    };
    int covered = 0;  // the axes of the space that members it reads lie along
    for (const Reading& reading : readings_[i]) {
      if (!is_member(reading.from, g)) continue;
      const Role role = role_of(group, reading.from.index);
      if (role == Role::column_sum && is_cast_sum(i, reading))
        return Joined{Role::cast_sum, group.axes, group.rows};
      if (role == Role::column_sum || role == Role::cast_sum)
        return refused("it reads a sum over the rows");
      const int depth = static_cast<int>(reading.axes.size());
      if (!is_range(reading.axes, 0, depth)) return refused("it broadcasts along the rows");
      covered = std::max(covered, depth);
    }
    const int depth = wide_sizes(reader_shape(i)).rank();
    Joined joined{Role::elementwise, group.axes, group.rows};
    if (is_fold(node(i).op)) {
      if (depth != group.axes || covered != depth) return refused("it reduces values of rows");
      if (!divide(i, joined)) return refused("it reduces other axes");
      return joined;
    }
    if (node(i).op == Op::gather) return fit_gather(i, g, joined);
    if (depth == covered) {
      if (depth == group.axes) return joined;
      if (group.rows >= 0 && group.rows != depth) return refused("rows of other axes");
      return Joined{Role::row, group.axes, depth};
    }
    // It has more axes than what it reads of the group, whose members become values of its rows.
    if (group.rows >= 0 && depth == group.axes && covered == group.rows) {
      if (!same_axes(space_of(i), group.widest)) return refused("its columns are others");
      return joined;
    }
    if (group.rows >= 0 || covered != group.axes || covered == 0)
      return refused("it has axes that the group has not");
    return Joined{Role::elementwise, depth, covered};
  }

  /// Whether the primitive does no more to the sum it reads than to convert it.
  bool is_cast_sum(PrimitiveId i, const Reading& sum) const {
    const Node& n = node(i);
    const int depth = wide_sizes(n.shape).rank();
    return n.op == Op::cast && is_floating(n.dtype) && is_range(sum.axes, 0, depth);
  }

  /// What has the axes that the readings of a primitive count.
  Operand space_of(PrimitiveId i) const {
    const bool reads_more = is_fold(node(i).op) || node(i).op == Op::gather;
    return reads_more ? primitives_.operands_of(i)[0] : Operand{i & 0x7fffffffu, 0};
  }

  /// Whether the axes of both, but those of size 1, have the same sizes in every trace that the
  /// program serves: sizes that are equal now may differ in the next.
  bool same_axes(Operand a, Operand b) {
    const auto wide = [&](Operand o) {
      std::vector<std::size_t> leaders;
      for (int axis = 0; axis < shape(o).rank(); ++axis)
        if (shape(o)[axis] != 1)
          leaders.push_back(sizes_.leader(axis_slot(trace_.leaves.size(), o, axis)));
      return leaders;
    };
    return wide(a) == wide(b);
  }

  std::optional<Joined> fit_gather(PrimitiveId i, std::uint32_t g, Joined joined) {
    const Reading& from = readings_[i][0];
    const bool of_row = is_member(from.from, g) &&
                        static_cast<int>(from.axes.size()) == joined.axes &&
                        (joined.rows < 0 || joined.rows == joined.axes - 1);
    if (!of_row || !reads_memory(from.from.index, joined.axes)) {
      refuse(i, g, "it does not pick from a row of the group");
      return std::nullopt;
    }
    return Joined{Role::pick_column, joined.axes, joined.axes - 1};
  }

  /// Whether the value is made from elements in memory of each column: where it is, the index is
  /// checked when they are fetched.
  bool reads_memory(PrimitiveId i, int axes) const {
    return std::any_of(readings_[i].begin(), readings_[i].end(), [&](const Reading& reading) {
      if (static_cast<int>(reading.axes.size()) != axes) return false;
      const Operand from = reading.from;
      if (from.leaf || fusion_.group_of[from.index] == Fusion::alone)
        return from.leaf || !is_inlined(node(from.index));
      return fusion_.group_of[from.index] != fusion_.group_of[i] || reads_memory(from.index, axes);
    });
  }

  bool is_member(Operand o, std::uint32_t g) const {
    return !o.leaf && fusion_.group_of[o.index] == g;
  }
  static Role role_of(const Group& group, PrimitiveId i) {
    const auto found = std::find_if(group.members.begin(), group.members.end(),
                                    [&](const Member& member) { return member.id == i; });
    return found->role;
  }

  /// Several columns become one long one, so a value lies along all of them or along none.
  bool readings_fit(PrimitiveId i, int rows, int axes) const {
    if (rows < 0 || axes - rows < 2) return true;
    for (const Reading& reading : readings_[i]) {
      const auto in_columns = std::count_if(reading.axes.begin(), reading.axes.end(),
                                            [&](int axis) { return axis >= rows; });
      if (in_columns != 0 && in_columns != axes - rows) return false;
    }
    return true;
  }
  bool member_fits(const Member& member, int rows, int axes) const {
    return member.role == Role::cast_sum || readings_fit(member.id, rows, axes);
  }
  bool all_fit(const Group& group, int rows, int axes) const {
    return std::all_of(group.members.begin(), group.members.end(),
                       [&](const Member& member) { return member_fits(member, rows, axes); });
  }
  bool members_fit(const Group& group, int rows, int axes) const {
    return (rows == group.rows && axes == group.axes) || all_fit(group, rows, axes);
  }

  /// How many values from outside the group would read with the primitive in it.
  std::size_t reading_count(const Group& group, PrimitiveId i) const {
    std::size_t count = readings_[i].size();
    for (const Member& member : group.members)
      for (const Reading& reading : readings_[member.id])
        count += reading.from.leaf || fusion_.group_of[reading.from.index] == Fusion::alone ||
                 fusion_.group_of[reading.from.index] != fusion_.group_of[group.members[0].id];
    return count;
  }

  /// Whether something outside of the group that the primitive needs depends on the group.
  bool reaches(PrimitiveId i, std::uint32_t g) {
    return depends({i}, [&](PrimitiveId at) { return fusion_.group_of[at] == g; });
  }

  /// Whether a path leads from `starts` through others to a primitive that is `wanted`.
  template <class Wanted>
  bool depends(const std::vector<PrimitiveId>& starts, Wanted wanted) {
    visited_.assign(primitives_.steps.size(), false);
    std::vector<PrimitiveId> open;
    const auto visit = [&](PrimitiveId at, bool outside) {
      for (const Operand operand : primitives_.operands_of(at)) {
        const Operand o = read_through(trace_, primitives_, shape(operand), operand).from;
        if (o.leaf || visited_[o.index]) continue;
        if (wanted(o.index)) {
          if (outside) return true;
          continue;
        }
        push(o.index, open);
      }
      return false;
    };
    for (const PrimitiveId start : starts) visit(start, false);
    while (!open.empty()) {
      const PrimitiveId at = open.back();
      open.pop_back();
      if (visit(at, true)) return true;
    }
    return false;
  }
  /// A group is entered as a whole: it runs as one.
  void push(PrimitiveId at, std::vector<PrimitiveId>& open) {
    const std::uint32_t g = fusion_.group_of[at];
    if (g == Fusion::alone) {
      visited_[at] = true;
      open.push_back(at);
      return;
    }
    for (const Member& member : fusion_.groups[g].members) {
      if (visited_[member.id]) continue;
      visited_[member.id] = true;
      open.push_back(member.id);
    }
  }

  /// Puts the members of `from` into `home`, which primitive i has just joined and reads both.
  void merge(PrimitiveId i, std::uint32_t home, std::uint32_t from) {
    Group& group = fusion_.groups[home];
    Group& other = fusion_.groups[from];
    if (group.members.size() + other.members.size() > most_members) {
      refuse(i, from, "the groups together would be too large");
      return;
    }
    if (!readers_fit(group, from) || !readers_fit(other, home)) return;
    int rows = group.rows;
    if (other.axes == group.axes) {
      if (rows >= 0 && other.rows >= 0 && rows != other.rows) {
        refuse(i, from, "the groups have other rows");
        return;
      }
      if (!same_axes(group.widest, other.widest)) {
        refuse(i, from, "the groups have columns of other sizes");
        return;
      }
      if (rows < 0) rows = other.rows;
    } else if (other.rows >= 0 || other.axes == 0 || other.axes != rows) {
      refuse(i, from, "the groups have other axes");
      return;
    }
    if (!members_fit(group, rows, group.axes) || !all_fit(other, rows, group.axes)) {
      refuse(i, from, "a value is broadcast along some of several columns");
      return;
    }
    if (are_apart(home, from)) absorb(home, from, rows);
    else refuse(i, from, "something between them must run between");
  }

  /// Whether each member that reads group g could have joined it: some were refused, and are in
  /// their own group for that.
  bool readers_fit(const Group& readers, std::uint32_t g) {
    return std::all_of(readers.members.begin(), readers.members.end(), [&](const Member& member) {
      const auto& readings = readings_[member.id];
      const bool reads = std::any_of(readings.begin(), readings.end(), [&](const Reading& reading) {
        return is_member(reading.from, g);
      });
      return !reads || fit(member.id, g);
    });
  }

  /// Whether no path leads from one group to the other through what is in neither.
  bool are_apart(std::uint32_t a, std::uint32_t b) {
    std::vector<PrimitiveId> all;
    for (const std::uint32_t g : {a, b})
      for (const Member& member : fusion_.groups[g].members) all.push_back(member.id);
    return !depends(all, [&](PrimitiveId at) {
      return fusion_.group_of[at] == a || fusion_.group_of[at] == b;
    });
  }

  void absorb(std::uint32_t home, std::uint32_t from, int rows) {
    Group& group = fusion_.groups[home];
    Group& other = fusion_.groups[from];
    const bool becomes_row = other.axes != group.axes;
    for (Member member : other.members) {
      if (becomes_row) member.role = Role::row;
      fusion_.group_of[member.id] = home;
      group.members.push_back(member);
    }
    group.rows = rows;
    other.members.clear();
    std::sort(group.members.begin(), group.members.end(),
              [](const Member& a, const Member& b) { return a.id < b.id; });
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
  const Trace as_trace_;
  SizeJoins sizes_;
  Fusion fusion_;
  std::vector<std::vector<Reading>> readings_;  // of each primitive that may join
  std::vector<bool> visited_;
};

}  // namespace

Reading through_casts(const Trace& trace, const Primitives& primitives, const Fusion& fusion,
                      Reading reading) {
  while (!reading.from.leaf && fusion.group_of[reading.from.index] == Fusion::alone) {
    const Node& cast = *primitives.steps[reading.from.index].node;
    if (cast.op != Op::cast) break;
    Reading inner =
        read_through(trace, primitives, cast.shape, primitives.operands_of(reading.from.index)[0]);
    for (int& axis : inner.axes) axis = reading.axes[static_cast<std::size_t>(axis)];
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
