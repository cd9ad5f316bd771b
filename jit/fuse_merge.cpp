#include "jit/fuse_merge.h"

#include <algorithm>
#include <iterator>

namespace sinter::jit {
namespace {

/// The rows of the space that two groups would have together, or why they have none.
struct Rows {
  std::string_view refusal;
  int count = -1;
};

Rows common_rows(const Group& home, const Group& from, Fitting& fitting) {
  if (from.axes != home.axes) {
    // The other's values become values of the rows.
    if (from.rows >= 0 || from.axes == 0 || from.axes != home.rows)
      return {"the groups have other axes"};
    return {{}, home.rows};
  }
  if (home.rows >= 0 && from.rows >= 0 && home.rows != from.rows)
    return {"the groups have other rows"};
  if (!fitting.same_axes(home.widest, from.widest))
    return {"the groups have columns of other sizes"};
  return {{}, home.rows < 0 ? from.rows : home.rows};
}

/// The first member that reads group g and could not have joined it: some were refused, and are in
/// their own group for that.
std::optional<Refusal> find_refused(const Fusion& fusion, Fitting& fitting, const Group& readers,
                                    std::uint32_t g) {
  for (const Member& member : readers.members) {
    const auto& readings = fusion.readings[member.id];
    const bool reads = std::any_of(readings.begin(), readings.end(), [&](const Reading& reading) {
      return fitting.is_member(reading.from, g);
    });
    if (!reads) continue;
    if (const Fit fit = fitting.fit(member.id, g); !fit.refusal.empty())
      return Refusal{member.id, fusion.groups[g].members.front().id, fit.refusal};
  }
  return std::nullopt;
}

void absorb(Fusion& fusion, std::uint32_t home, std::uint32_t from, int rows) {
  Group& group = fusion.groups[home];
  Group& other = fusion.groups[from];
  const bool becomes_row = other.axes != group.axes;
  const auto own = static_cast<std::ptrdiff_t>(group.members.size());
  for (Member& member : other.members) {
    if (becomes_row) member.role = Role::row;
    fusion.group_of[member.id] = home;
    group.members.push_back(member);
  }
  std::inplace_merge(group.members.begin(), group.members.begin() + own, group.members.end(),
                     [](const Member& a, const Member& b) { return a.id < b.id; });
  group.rows = rows;
  other.members.clear();
}

}  // namespace

std::optional<Refusal> merge(Fusion& fusion, Fitting& fitting, FuseOrder& order, PrimitiveId i,
                             std::uint32_t home, std::uint32_t from) {
  const Group& group = fusion.groups[home];
  const Group& other = fusion.groups[from];
  const auto refused = [&](std::string_view reason) {
    return Refusal{i, other.members.front().id, reason};
  };
  if (group.members.size() + other.members.size() > most_members)
    return refused("the groups together would be too large");
  if (auto refusal = find_refused(fusion, fitting, group, from)) return refusal;
  if (auto refusal = find_refused(fusion, fitting, other, home)) return refusal;
  const Rows rows = common_rows(group, other, fitting);
  if (!rows.refusal.empty()) return refused(rows.refusal);
  if (!fitting.members_fit(group, rows.count, group.axes) ||
      !fitting.members_fit(other, rows.count, group.axes))
    return refused("a value is broadcast along some of several columns");
  switch (order.contract(i, other.members.front().id)) {
    case Between::path: return refused("something between them must run between");
    case Between::too_much: return refused("too much stands between them");
    case Between::nothing: break;
  }
  absorb(fusion, home, from, rows.count);
  return std::nullopt;
}

}  // namespace sinter::jit
