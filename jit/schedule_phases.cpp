#include "jit/schedule_phases.h"

#include <algorithm>

#include "jit/cost.h"
#include "kernels/loop_arguments.h"

namespace sinter::jit {
namespace {

/// A value of columns that costs more is kept for the sections after its own.
constexpr int dear = 4;

/// Vectors of doubles take twice the registers.
int cost_in_loop(const Node& node) {
  return node.dtype == DType::f64 ? 2 * cost_of(node) : cost_of(node);
}

bool is_wanted_again(const LoopMember& member) {
  return (member.demanded & (member.demanded - 1)) != 0;
}

}  // namespace

LoopPhases::LoopPhases(const Trace& trace, const Primitives& primitives, const Fusion& fusion,
                       const Group& group, const std::vector<bool>& stored)
    : trace_(trace), primitives_(primitives), fusion_(fusion), group_(group) {
  members_.reserve(group.members.size());
  for (const Member& member : group.members)
    if (member.role != Role::cast_sum) add(member);
  find_demand(stored);
  choose_kept();
  find_demand(stored);
}

std::size_t LoopPhases::place_of(PrimitiveId i) const {
  const auto place =
      std::lower_bound(members_.begin(), members_.end(), i,
                       [](const LoopMember& member, PrimitiveId id) { return member.id < id; });
  return static_cast<std::size_t>(place - members_.begin());
}

bool LoopPhases::is_member(Operand o) const {
  if (o.leaf) return false;
  const std::size_t place = place_of(o.index);
  return place < members_.size() && members_[place].id == o.index;
}

/// How many of the columns' axes a value lies along.
int LoopPhases::column_count(const Reading& reading) const {
  return static_cast<int>(std::count_if(reading.axes.begin(), reading.axes.end(),
                                        [&](int axis) { return axis >= group_.rows; }));
}

/// Several columns are walked as one, along which such a value has no stride.
bool LoopPhases::lies_along_some_columns(const Reading& reading) const {
  return lies_along_columns(reading) && column_count(reading) != group_.axes - group_.rows;
}

/// The reading with casts made on the way, where columns walked as one show what is cast so.
Reading LoopPhases::seen(const Reading& reading) const {
  Reading through = through_casts(trace_, primitives_, fusion_, reading);
  return lies_along_some_columns(through) ? reading : through;
}

void LoopPhases::add(const Member& member) {
  const Op op = node(member.id).op;
  LoopMember own{
      .id = member.id, .role = member.role, .reduces = info(op).kind == OpKind::reduction};
  const std::vector<Reading>& readings = fusion_.readings[member.id];
  own.readings.reserve(readings.size());
  for (const Reading& reading : readings) {
    const bool is_table = op == Op::take && own.readings.empty();
    own.readings.push_back(is_table ? reading : seen(reading));
    Reading& last = own.readings.back();
    if (!is_member(last.from)) continue;
    const Operand same = Operand::of_step(primitives_.same_as[last.from.index]);
    if (is_member(same)) last.from = same;
    own.phase = std::max(own.phase, this->member(last.from.index).phase);
  }
  if (own.reduces || own.role == Role::elementwise) last_phase_ = std::max(last_phase_, own.phase);
  if (own.reduces && own.role == Role::row) ++own.phase;
  members_.push_back(std::move(own));
}

/// In which sections each value of columns is wanted.
void LoopPhases::find_demand(const std::vector<bool>& stored) {
  for (LoopMember& own : members_) own.demanded = 0;
  for (auto member = members_.rbegin(); member != members_.rend(); ++member) {
    LoopMember& own = *member;
    if (own.reduces) demand(own.readings[0].from, 1u << own.reduced_in());
    if (own.role != Role::elementwise) continue;
    if (stored[own.id]) own.demanded |= 1u << own.phase;
    own.kept = own.kept && is_wanted_again(own);
    const std::uint32_t first = own.demanded & (~own.demanded + 1);
    for (const Reading& reading : own.readings)
      demand(reading.from, own.kept ? first : own.demanded);
  }
}

void LoopPhases::demand(Operand o, std::uint32_t phases) {
  if (!is_member(o)) return;
  LoopMember& member = members_[place_of(o.index)];
  if (member.role == Role::elementwise) member.demanded |= phases;
}

/// Kept is what several sections want and would be dear to make again from what is kept before.
void LoopPhases::choose_kept() {
  std::vector<int> costs;  // of an element of each member, from memory and what is kept
  int kept = 0;
  for (LoopMember& own : members_) {
    int cost = cost_in_loop(node(own.id));
    for (const Reading& reading : own.readings) {
      if (!is_member(reading.from)) cost += 1;
      else if (member(reading.from.index).is_of_columns())
        cost += costs[place_of(reading.from.index)];
    }
    own.kept = own.role == Role::elementwise && is_wanted_again(own) && cost > dear &&
               kept < kernels::loop_max_row_buffers;
    kept += own.kept;
    costs.push_back(own.kept ? 1 : cost);
  }
}

}  // namespace sinter::jit
