#include "jit/recompute.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "jit/cost.h"

namespace sinter::jit {
namespace {

/// The most that computing a value again may cost.
constexpr int most_cost = 16;

class Recomputation {
 public:
  Recomputation(const Trace& trace, const Primitives& primitives, const Fusion& fusion,
                std::uint32_t group, const std::vector<bool>& needed)
      : trace_(trace),
        primitives_(primitives),
        fusion_(fusion),
        number_(group),
        group_(fusion.groups[group]),
        needed_(needed) {}

  Group run() {
    if (group_.axes - group_.rows > 1) return group_;
    for (const Member& member : fusion_.groups[number_].members)
      for (const Reading& reading : readings_of(primitives_, member.id))
        if (!is_computed_elsewhere(reading.from)) read_.insert(key_of(reading.from));
    for (const Member& member : fusion_.groups[number_].members)
      for (const Reading& reading : readings_of(primitives_, member.id)) try_value(reading);
    std::sort(group_.members.begin(), group_.members.end(),
              [](const Member& a, const Member& b) { return a.id < b.id; });
    return std::move(group_);
  }

 private:
  /// What would be computed again for one value, and what that would read.
  struct Attempt {
    std::map<PrimitiveId, Role> members;
    std::set<std::uint32_t> read;
    int cost = 0;
    std::size_t bytes = 0;  // of an element of all that is read in addition
  };

  std::vector<Reading> readings_of(const Primitives& primitives, PrimitiveId i) const {
    return jit::readings_of(trace_, primitives, i);
  }
  static std::uint32_t key_of(Operand o) { return o.index << 1 | o.leaf; }
  const Node& node(PrimitiveId i) const { return *primitives_.steps[i].node; }

  bool is_computed_elsewhere(Operand o) const {
    if (o.leaf) return false;
    const std::uint32_t g = fusion_.group_of[o.index];
    if (g == Fusion::alone || g == number_) return false;
    const Op op = node(o.index).op;
    return op == Op::cast || info(op).kind == OpKind::elementwise;
  }

  /// The role in this group of a value that lies along its first axes; nothing for other values.
  std::optional<Role> role_of(const Reading& reading) const {
    const int depth = static_cast<int>(reading.axes.size());
    for (int axis = 0; axis < depth; ++axis)
      if (reading.axes[static_cast<std::size_t>(axis)] != axis) return std::nullopt;
    if (depth == group_.axes) return Role::elementwise;
    if (depth == group_.rows) return Role::row;
    return std::nullopt;
  }

  void try_value(const Reading& reading) {
    if (!is_computed_elsewhere(reading.from) || has(reading.from.index)) return;
    const std::optional<Role> role = role_of(reading);
    if (!role) return;
    const std::size_t saved =
        *role == Role::elementwise ? item_size(node(reading.from.index).dtype) : 0;
    Attempt attempt;
    collect(reading.from.index, *role, attempt);
    if (!pays(attempt, saved)) return;
    for (const auto& [id, own] : attempt.members) group_.members.push_back({id, own});
    read_.insert(attempt.read.begin(), attempt.read.end());
  }

  bool has(PrimitiveId i) const {
    return std::any_of(group_.members.begin(), group_.members.end(),
                       [&](const Member& member) { return member.id == i; });
  }

  static bool pays(const Attempt& attempt, std::size_t saved) {
    return attempt.cost <= most_cost && attempt.bytes <= saved;
  }

  /// Adds a value and what it is made from, as far down as that pays.
  void collect(PrimitiveId i, Role role, Attempt& attempt) const {
    if (attempt.cost > most_cost || !attempt.members.emplace(i, role).second) return;
    attempt.cost += cost_of(node(i));
    for (const Reading& reading : readings_of(primitives_, i)) {
      const Operand from = reading.from;
      if (!from.leaf && (is_inlined(node(from.index)) || has(from.index))) continue;
      const std::optional<Role> own = role_of(reading);
      Attempt deeper = attempt;
      Attempt here = attempt;
      if (read_.count(key_of(from)) == 0 && here.read.insert(key_of(from)).second &&
          own != Role::row)
        here.bytes += item_size(dtype_of(trace_, primitives_, from));
      if (own && is_computed_elsewhere(from) && !needed_[from.index]) {
        collect(from.index, *own, deeper);
        if (pays(deeper, here.bytes)) {
          attempt = std::move(deeper);
          continue;
        }
      }
      attempt = std::move(here);
    }
  }

  const Trace& trace_;
  const Primitives& primitives_;
  const Fusion& fusion_;
  const std::uint32_t number_;
  Group group_;
  const std::vector<bool>& needed_;
  std::set<std::uint32_t> read_;  // what the group reads from memory
};

}  // namespace

Group with_recomputed(const Trace& trace, const Primitives& primitives, const Fusion& fusion,
                      std::uint32_t group, const std::vector<bool>& needed) {
  return Recomputation(trace, primitives, fusion, group, needed).run();
}

Group without_unused(const Trace& trace, const Primitives& primitives, const Group& group,
                     const std::vector<bool>& stored) {
  std::set<PrimitiveId> used;
  Group rest = group;
  rest.members.clear();
  for (auto member = group.members.rbegin(); member != group.members.rend(); ++member) {
    if (!stored[member->id] && used.count(member->id) == 0) continue;
    rest.members.push_back(*member);
    for (const Reading& reading : readings_of(trace, primitives, member->id))
      if (!reading.from.leaf) used.insert(reading.from.index);
  }
  std::reverse(rest.members.begin(), rest.members.end());
  return rest;
}

}  // namespace sinter::jit
