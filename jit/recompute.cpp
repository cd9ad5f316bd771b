#include "jit/recompute.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "jit/cost.h"

namespace sinter::jit {
namespace {

/// The most that computing a value again may cost: one function such as exp, and little beside.
constexpr int most_cost = 16;
/// How often a value is looked at for one attempt: values that are made from each other in many
/// ways can be computed again in many more.
constexpr int most_looks = 256;

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
      for (const Reading& reading : fusion_.readings[member.id])
        if (!is_computed_elsewhere(reading.from)) read_.insert(reading.from.key());
    for (const Member& member : fusion_.groups[number_].members)
      for (const Reading& reading : fusion_.readings[member.id]) try_value(reading);
    std::sort(group_.members.begin(), group_.members.end(),
              [](const Member& a, const Member& b) { return a.id < b.id; });
    return std::move(group_);
  }

 private:
  /// What would be computed again for one value, and what that would read. What was added last can
  /// be taken back.
  struct Attempt {
    std::vector<Member> members;
    std::vector<std::uint32_t> read;
    int cost = 0;
    std::size_t bytes = 0;  // of an element of all that is read in addition
    int looks = 0;
  };

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
    if (!reading.axes.is_range(0, depth)) return std::nullopt;
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
    group_.members.insert(group_.members.end(), attempt.members.begin(), attempt.members.end());
    read_.insert(attempt.read.begin(), attempt.read.end());
  }

  static bool has(const std::vector<Member>& members, PrimitiveId i) {
    return std::any_of(members.begin(), members.end(),
                       [&](const Member& member) { return member.id == i; });
  }
  bool has(PrimitiveId i) const { return fusion_.group_of[i] == number_ || has(group_.members, i); }

  static bool pays(const Attempt& attempt, std::size_t saved) {
    return attempt.cost <= most_cost && attempt.bytes <= saved;
  }

  /// Adds a value and what it is made from, as far down as that pays.
  void collect(PrimitiveId i, Role role, Attempt& attempt) const {
    if (has(attempt.members, i)) return;
    attempt.members.push_back({i, role});
    attempt.cost += cost_of(node(i));
    if (++attempt.looks > most_looks) attempt.cost = most_cost + 1;
    if (attempt.cost > most_cost) return;
    for (const Reading& reading : fusion_.readings[i]) {
      const Operand from = reading.from;
      if (!from.leaf && (is_inlined(node(from.index)) || has(from.index))) continue;
      const std::optional<Role> own = role_of(reading);
      const std::uint32_t key = from.key();
      const bool is_new =
          read_.count(key) == 0 &&
          std::find(attempt.read.begin(), attempt.read.end(), key) == attempt.read.end();
      const std::size_t bytes_read =
          is_new && own != Role::row ? item_size(dtype_of(trace_, primitives_, from)) : 0;
      if (own && is_computed_elsewhere(from) && !needed_[from.index] &&
          collect_instead(from.index, *own, attempt, bytes_read))
        continue;
      if (is_new) attempt.read.push_back(key);
      attempt.bytes += bytes_read;
    }
  }

  /// Adds a value where that reads no more than the value has. \return whether it does.
  bool collect_instead(PrimitiveId i, Role role, Attempt& attempt, std::size_t saved) const {
    const std::size_t members = attempt.members.size(), read = attempt.read.size();
    const std::size_t bytes = attempt.bytes;
    const int cost = attempt.cost;
    collect(i, role, attempt);
    if (pays(attempt, bytes + saved)) return true;
    attempt.members.resize(members);
    attempt.read.resize(read);
    attempt.bytes = bytes;
    attempt.cost = cost;
    return false;
  }

  const Trace& trace_;
  const Primitives& primitives_;
  const Fusion& fusion_;
  const std::uint32_t number_;
  Group group_;
  const std::vector<bool>& needed_;
  std::unordered_set<std::uint32_t> read_;  // what the group reads from memory
};

}  // namespace

Group with_recomputed(const Trace& trace, const Primitives& primitives, const Fusion& fusion,
                      std::uint32_t group, const std::vector<bool>& needed) {
  return Recomputation(trace, primitives, fusion, group, needed).run();
}

Group without_unused(const Fusion& fusion, const Group& group, const std::vector<bool>& stored) {
  std::unordered_set<PrimitiveId> used;
  Group rest = group;
  rest.members.clear();
  for (auto member = group.members.rbegin(); member != group.members.rend(); ++member) {
    if (!stored[member->id] && used.count(member->id) == 0) continue;
    rest.members.push_back(*member);
    for (const Reading& reading : fusion.readings[member->id])
      if (!reading.from.leaf) used.insert(reading.from.index);
  }
  std::reverse(rest.members.begin(), rest.members.end());
  return rest;
}

}  // namespace sinter::jit
