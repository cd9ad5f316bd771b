#include "jit/fuse_fit.h"

#include <algorithm>

#include "jit/fuse_candidate.h"
#include "runtime/attributes.h"

namespace sinter::jit {
namespace {

/// A row that is longer is cut among threads by the op's own kernel.
constexpr std::int64_t longest_single_row = 32768;

/// The axes in the mask, counted among those whose size is not 1.
Axes wide_axes(const Shape& shape, std::int64_t mask) {
  Axes axes;
  int wide = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] == 1) continue;
    if (has_axis(mask, axis)) axes.push_back(wide);
    ++wide;
  }
  return axes;
}

Role role_of(const Group& group, PrimitiveId i) {
  return std::lower_bound(group.members.begin(), group.members.end(), i,
                          [](const Member& member, PrimitiveId id) { return member.id < id; })
      ->role;
}

}  // namespace

Fitting::Fitting(const Trace& trace, const Primitives& primitives, const Fusion& fusion)
    : trace_(trace),
      primitives_(primitives),
      fusion_(fusion),
      sizes_(SizedSteps(trace, primitives)) {
  const SizedSteps steps(trace, primitives);
  for (PrimitiveId i = 0; i < primitives.steps.size(); ++i)
    if (primitives.folds.count(i) == 0) join_sizes(steps, i, sizes_);
}

const Shape& Fitting::shape(Operand o) const { return shape_of(trace_, primitives_, o); }

Fit Fitting::fit(PrimitiveId i, std::uint32_t g) {
  const Group& group = fusion_.groups[g];
  int covered = 0;  // the axes of the space that members it reads lie along
  for (const Reading& reading : fusion_.readings[i]) {
    if (!is_member(reading.from, g)) continue;
    const Role role = role_of(group, reading.from.index);
    if (role == Role::column_sum && is_cast_sum(i, reading))
      return {{}, Role::cast_sum, group.axes, group.rows};
    if (role == Role::column_sum || role == Role::cast_sum) return {"it reads a sum over the rows"};
    const int depth = static_cast<int>(reading.axes.size());
    if (!reading.axes.is_range(0, depth)) return {"it broadcasts along the rows"};
    covered = std::max(covered, depth);
  }
  const int depth = wide_sizes(reader_shape(trace_, primitives_, i)).rank();
  if (is_fold(node(i).op)) return fit_fold(i, group, depth, covered);
  if (node(i).op == Op::gather) return fit_gather(i, g);
  if (node(i).op == Op::take) return fit_take(i, g, depth, covered);
  return fit_elements(i, group, depth, covered);
}

std::optional<Fit> Fitting::fit_alone(PrimitiveId i) const {
  if (node(i).op == Op::gather) return std::nullopt;
  Fit fit;
  fit.axes = wide_sizes(reader_shape(trace_, primitives_, i)).rank();
  if (is_fold(node(i).op) && !divide(i, fit)) return std::nullopt;
  if (node(i).op == Op::take) fit.rows = index_axes(i);
  return readings_fit(i, fit.rows, fit.axes) ? std::optional(fit) : std::nullopt;
}

/// Divides the space into rows and columns as the reduction does.
bool Fitting::divide(PrimitiveId i, Fit& fit) const {
  const Shape& from = shape(primitives_.operands_of(i)[0]);
  const Axes reduced = wide_axes(from, node(i).fixed()[0]);
  const int count = static_cast<int>(reduced.size());
  if (count == 0) return false;
  int rows = -1;
  if (reduced.is_range(fit.axes - count, fit.axes)) {
    rows = fit.axes - count;
    fit.role = Role::row;
    if (rows == 0 && element_count(from) > longest_single_row) return false;
  } else if (node(i).op == Op::sum && reduced.is_range(0, count)) {
    rows = count;
    fit.role = Role::column_sum;
  }
  if (rows < 0 || (fit.rows >= 0 && fit.rows != rows)) return false;
  fit.rows = rows;
  return true;
}

Fit Fitting::fit_fold(PrimitiveId i, const Group& group, int depth, int covered) const {
  Fit fit{{}, Role::elementwise, group.axes, group.rows};
  if (depth != group.axes || covered != depth) return {"it reduces values of rows"};
  if (!divide(i, fit)) return {"it reduces other axes"};
  return fit;
}

Fit Fitting::fit_gather(PrimitiveId i, std::uint32_t g) const {
  const Group& group = fusion_.groups[g];
  const Reading& from = fusion_.readings[i][0];
  const bool of_row = is_member(from.from, g) && static_cast<int>(from.axes.size()) == group.axes &&
                      (group.rows < 0 || group.rows == group.axes - 1);
  const bool takes = std::any_of(group.members.begin(), group.members.end(),
                                 [&](const Member& m) { return node(m.id).op == Op::take; });
  if (!of_row || takes || !reads_memory(from.from.index, group.axes))
    return {"it does not pick from a row of the group"};
  return {{}, Role::pick_column, group.axes, group.axes - 1};
}

/// The axes of a take's indices, which are the rows.
int Fitting::index_axes(PrimitiveId i) const {
  return wide_sizes(shape(primitives_.operands_of(i)[1])).rank();
}

Fit Fitting::fit_take(PrimitiveId i, std::uint32_t g, int depth, int covered) {
  const Group& group = fusion_.groups[g];
  if (is_member(fusion_.readings[i][0].from, g)) return {"it takes from a value of the group"};
  if (std::any_of(group.members.begin(), group.members.end(),
                  [](const Member& member) { return member.role == Role::pick_column; }))
    return {"what it takes would be picked from"};
  Fit fit = fit_elements(i, group, depth, covered);
  if (!fit.refusal.empty()) return fit;
  const int rows = index_axes(i);
  if (fit.axes != depth || (fit.rows >= 0 && fit.rows != rows))
    return {"its indices are not those of rows"};
  fit.rows = rows;
  return fit;
}

Fit Fitting::fit_elements(PrimitiveId i, const Group& group, int depth, int covered) {
  if (depth == covered) {
    if (depth == group.axes) return {{}, Role::elementwise, group.axes, group.rows};
    if (group.rows >= 0 && group.rows != depth) return {"rows of other axes"};
    return {{}, Role::row, group.axes, depth};
  }
  // It has more axes than what it reads of the group, whose members become values of its rows.
  if (group.rows >= 0 && depth == group.axes && covered == group.rows) {
    if (!same_axes(space_of(i), group.widest)) return {"its columns are others"};
    return {{}, Role::elementwise, group.axes, group.rows};
  }
  if (group.rows >= 0 || covered != group.axes || covered == 0)
    return {"it has axes that the group has not"};
  return {{}, Role::elementwise, depth, covered};
}

/// Whether the primitive does no more to the sum it reads than to convert it.
bool Fitting::is_cast_sum(PrimitiveId i, const Reading& sum) const {
  const Node& n = node(i);
  const int depth = wide_sizes(n.shape).rank();
  // It is made from the sum before that is rounded, so rounding may not come between.
  const DType dtype = node(sum.from.index).dtype;
  return n.op == Op::cast && is_floating(n.dtype) && compute_dtype(dtype) == dtype &&
         sum.axes.is_range(0, depth);
}

/// Whether the value is made from elements in memory of each column: where it is, the index is
/// checked when they are fetched.
bool Fitting::reads_memory(PrimitiveId i, int axes) const {
  std::vector<PrimitiveId> members{i};
  for (std::size_t next = 0; next < members.size(); ++next)
    for (const Reading& reading : fusion_.readings[members[next]]) {
      if (static_cast<int>(reading.axes.size()) != axes) continue;
      const Operand from = reading.from;
      if (from.leaf) return true;
      const std::uint32_t g = fusion_.group_of[from.index];
      if (g == Fusion::alone && is_inlined(node(from.index))) continue;
      if (g == Fusion::alone || g != fusion_.group_of[i]) return true;
      if (std::find(members.begin(), members.end(), from.index) == members.end())
        members.push_back(from.index);
    }
  return false;
}

bool Fitting::readings_fit(PrimitiveId i, int rows, int axes) const {
  if (rows < 0 || axes - rows < 2) return true;
  for (const Reading& reading : fusion_.readings[i]) {
    const auto in_columns = std::count_if(reading.axes.begin(), reading.axes.end(),
                                          [&](int axis) { return axis >= rows; });
    if (in_columns != 0 && in_columns != axes - rows) return false;
  }
  return true;
}

bool Fitting::members_fit(const Group& group, int rows, int axes) const {
  if (rows == group.rows && axes == group.axes) return true;
  return std::all_of(group.members.begin(), group.members.end(), [&](const Member& member) {
    return member.role == Role::cast_sum || readings_fit(member.id, rows, axes);
  });
}

Operand Fitting::space_of(PrimitiveId i) const {
  const bool reads_more = is_fold(node(i).op) || node(i).op == Op::gather;
  return reads_more ? primitives_.operands_of(i)[0] : Operand::of_step(i);
}

bool Fitting::same_axes(Operand a, Operand b) {
  const auto wide = [&](Operand o) {
    std::vector<std::size_t> leaders;
    for (int axis = 0; axis < shape(o).rank(); ++axis)
      if (shape(o)[axis] != 1)
        leaders.push_back(sizes_.leader(axis_slot(trace_.leaves.size(), o, axis)));
    return leaders;
  };
  return wide(a) == wide(b);
}

}  // namespace sinter::jit
