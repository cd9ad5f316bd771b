#include "jit/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "jit/alias.h"
#include "jit/fallible.h"
#include "jit/join_maps.h"
#include "jit/plan_map.h"
#include "jit/plan_values.h"
#include "jit/recompute.h"
#include "runtime/log.h"

namespace sinter::jit {
namespace {

class Planner {
 public:
  Planner(const Trace& trace, Plan& plan, const Primitives& primitives, const Fusion& fusion)
      : trace_(trace), plan_(plan), primitives_(primitives), fusion_(fusion) {}

  /// \return the groups that do not fit a kernel; without any the plan is complete.
  std::vector<std::uint32_t> run() {
    find_contiguous();
    find_maps();
    find_shown();
    order_units();
    find_needed();
    if (!misfits_.empty()) return std::move(misfits_);
    number_values();
    make_operations();
    find_deaths();
    return {};
  }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;

  /// A group, or a primitive in none.
  struct Unit {
    PrimitiveId primitive;
    std::uint32_t group;
  };

  const Node& node(PrimitiveId i) const { return *primitives_.steps[i].node; }

  /// How values lie in memory in the first run: kernels are made for that, and others are copied.
  void find_contiguous() {
    std::vector<Strides> leaf_strides, strides;
    for (const Node* leaf : trace_.leaves) {
      const bool known = leaf->state() == NodeState::evaluated;
      leaf_strides.push_back(known ? leaf->value().strides : contiguous_strides(leaf->shape));
      contiguous_.leaves.push_back(has_contiguous_rows(leaf->shape, leaf_strides.back()));
    }
    for (PrimitiveId i = 0; i < primitives_.steps.size(); ++i) {
      const Node& n = node(i);
      strides.push_back(contiguous_strides(n.shape));
      if (info(n.op).kind == OpKind::view && n.op != Op::pick) {
        const Operand o = primitives_.operands_of(i)[0];
        const Strides& from = o.leaf ? leaf_strides[o.index] : strides[o.index];
        const auto place = alias(n, shape_of(trace_, primitives_, o), Placement{0, from});
        if (place) strides.back() = place->strides;
      }
      contiguous_.steps.push_back(has_contiguous_rows(n.shape, strides.back()));
    }
  }

  void find_maps() {
    maps_ = join_maps(trace_, primitives_);
    map_run_by_.assign(primitives_.steps.size(), Maps::none);
    for (std::uint32_t m = 0; m < maps_.maps.size(); ++m) map_run_by_[maps_.maps[m].primitive] = m;
  }

  /// The foreach_map of a map that a primitive picks from.
  std::optional<PrimitiveId> picked_from(PrimitiveId i) const {
    if (node(i).op != Op::pick) return std::nullopt;
    const PrimitiveId from = primitives_.operands_of(i)[0].index;
    return maps_.given_by.count(from) == 0 ? std::nullopt : std::optional(from);
  }

  /// What a primitive in no group reads: of a foreach_map the map reads it, and a pick reads what
  /// runs the map.
  std::vector<Operand> reads_of(PrimitiveId i) const {
    if (map_run_by_[i] != Maps::none) return maps_.maps[map_run_by_[i]].operands;
    if (maps_.given_by.count(i) != 0) return {};
    if (const auto from = picked_from(i)) {
      const std::vector<std::uint32_t>& given = maps_.given_by.at(*from);
      const std::uint32_t map = given[static_cast<std::size_t>(node(i).fixed()[0]) % given.size()];
      if (map == Maps::none) return {};
      return {Operand::of_step(maps_.maps[map].primitive)};
    }
    const auto operands = primitives_.operands_of(i);
    return {operands.begin(), operands.end()};
  }

  /// Which views need no operation.
  void find_shown() {
    std::vector<bool> contiguous;  // in every run
    for (PrimitiveId i = 0; i < primitives_.steps.size(); ++i) {
      const Node& n = node(i);
      const bool is_view = info(n.op).kind == OpKind::view;
      const Operand from = is_view ? primitives_.operands_of(i)[0] : Operand{};
      const bool from_contiguous = is_view && !from.leaf && contiguous[from.index];
      plan_.shows.push_back(is_view && (n.op != Op::reshape || from_contiguous));
      const bool moves = n.op == Op::permute || n.op == Op::expand || n.op == Op::slice;
      contiguous.push_back(!is_view || n.op == Op::pick || (from_contiguous && !moves));
    }
  }

  /// Values are what has to be in memory and is not shown by another.
  void number_values() {
    for (PrimitiveId i = 0; i < primitives_.steps.size(); ++i) {
      const Node& n = node(i);
      plan_.first_value.push_back(plan_.value_count);
      if ((needed_[i] && !plan_.shows[i]) || maps_.given_by.count(i) != 0)
        plan_.value_count +=
            primitives_.steps[i].whole ? static_cast<std::uint32_t>(result_count(n)) : 1;
      const Operand from = plan_.shows[i] ? primitives_.operands_of(i)[0] : Operand{};
      if (n.op == Op::pick)
        plan_.bases.push_back(Source::of_step(plan_.first_value[from.index] +
                                              static_cast<std::uint32_t>(n.fixed()[0])));
      else
        plan_.bases.push_back(plan_.shows[i] ? base_of(from)
                                             : Source::of_step(plan_.first_value[i]));
    }
  }
  Source base_of(Operand o) const { return o.leaf ? o : plan_.bases[o.index]; }

  /// The first member of the unit that a primitive is in.
  PrimitiveId first_of_unit(PrimitiveId i) const {
    const std::uint32_t g = fusion_.group_of[i];
    return g == Fusion::alone ? i : fusion_.groups[g].members.front().id;
  }

  /// body(operand) for the primitives whose values a unit reads, from the last one on: a group sees
  /// through views that cost nothing.
  template <class Body>
  void for_read_by(const Unit& unit, Body body) const {
    const auto if_step = [&](Operand o) {
      if (!o.leaf) body(o.index);
    };
    if (unit.group == Fusion::alone) {
      for (const Operand o : reads_of(unit.primitive)) if_step(o);
      return;
    }
    const std::vector<Member>& members = fusion_.groups[unit.group].members;
    for (auto member = members.rbegin(); member != members.rend(); ++member) {
      const std::vector<Reading>& readings = fusion_.readings[member->id];
      for (auto reading = readings.rbegin(); reading != readings.rend(); ++reading)
        if_step(reading->from);
    }
  }

  /// Units so that each comes after what it reads, else as they were recorded.
  void order_units() {
    std::vector<bool> entered(primitives_.steps.size(), false), done = entered;
    std::vector<PrimitiveId> open;
    for (PrimitiveId root = 0; root < primitives_.steps.size(); ++root) {
      open.push_back(root);
      while (!open.empty()) {
        const Unit unit{open.back(), fusion_.group_of[open.back()]};
        const PrimitiveId first = first_of_unit(unit.primitive);
        if (done[first]) {
          open.pop_back();
        } else if (entered[first]) {
          done[first] = true;
          units_.push_back(unit);
          open.pop_back();
        } else {
          entered[first] = true;
          for_read_by(unit, [&](PrimitiveId i) {
            const PrimitiveId read = first_of_unit(i);
            if (!done[read] && read != first) open.push_back(i);
          });
        }
      }
    }
  }

  void need(Operand o) {
    if (!o.leaf) needed_[o.index] = true;
  }

  void need_operands(PrimitiveId i) {
    for (const Operand o : reads_of(i)) need(o);
    if (const auto from = picked_from(i))
      picked_.emplace(*from, static_cast<std::uint32_t>(node(i).fixed()[0]));
    if (map_run_by_[i] == Maps::none) return;
    const Map& map = maps_.maps[map_run_by_[i]];
    std::vector<bool> wanted;
    for (const Map::Result& result : map.results)
      wanted.push_back(
          std::any_of(result.index.begin(), result.index.end(), [&](std::uint32_t index) -> bool {
            return picked_.count({result.primitive, index}) != 0;
          }));
    map_of_[i] = static_cast<std::uint32_t>(plan_.maps.size());
    plan_.maps.push_back(plan_map(trace_, primitives_, map, std::move(wanted)));
  }

  /// Which values have to be in memory, and so which units run: walked against their order.
  void find_needed() {
    needed_.assign(primitives_.steps.size(), false);
    stored_.assign(primitives_.steps.size(), false);
    planned_of_.assign(fusion_.groups.size(), none);
    map_of_.assign(primitives_.steps.size(), none);
    for (std::size_t i = 0; i < trace_.steps.size(); ++i)
      if (trace_.keeps_value(i)) need(primitives_.value_of[i]);
    for (auto unit = units_.rbegin(); unit != units_.rend(); ++unit) {
      if (unit->group != Fusion::alone) need_group(unit->group);
      else if (needed_[unit->primitive]) need_operands(unit->primitive);
    }
  }

  void need_group(std::uint32_t g) {
    const std::vector<Member>& members = fusion_.groups[g].members;
    if (std::none_of(members.begin(), members.end(),
                     [&](const Member& member) { return needed_[member.id]; }))
      return;
    for (const Member& member : members) stored_[member.id] = needed_[member.id];
    if (!plan_group(g)) {
      misfits_.push_back(g);
      for (auto member = members.rbegin(); member != members.rend(); ++member)
        if (needed_[member->id])
          for (const Reading& reading : fusion_.readings[member->id]) need(reading.from);
    }
    for (const Member& member : members) stored_[member.id] = false;
  }

  /// \return whether the group is one kernel.
  bool plan_group(std::uint32_t g) {
    std::optional<ScheduledGroup> scheduled =
        schedule_group(with_recomputed(trace_, primitives_, fusion_, g, needed_));
    if (!scheduled) scheduled = schedule_group(fusion_.groups[g]);
    if (!scheduled) return false;
    for (const LoopOperand& operand : scheduled->operands)
      if (operand.kind == LoopOperand::Kind::read) need(operand.value);
    planned_of_[g] = static_cast<std::uint32_t>(plan_.groups.size());
    plan_.groups.push_back({*std::move(scheduled), nullptr});
    return true;
  }

  std::optional<ScheduledGroup> schedule_group(const Group& group) const {
    return schedule(trace_, primitives_, fusion_, without_unused(fusion_, group, stored_), stored_,
                    contiguous_);
  }

  void make_operations() {
    for (const Unit& unit : units_) {
      Operation operation;
      bool fails = false;
      if (unit.group != Fusion::alone) {
        if (planned_of_[unit.group] == none) continue;  // nothing needs it
        operation = {.kind = Operation::Kind::group, .number = planned_of_[unit.group]};
        fails = plan_.groups[operation.number].schedule.can_fail;
      } else {
        if (!needed_[unit.primitive] || plan_.shows[unit.primitive]) continue;
        operation = operation_of(unit.primitive);
        fails = can_fail(node(unit.primitive));
      }
      plan_.operations.push_back(std::move(operation));
      if (fails) plan_.fallible_operations = plan_.operations.size();
    }
  }

  /// That of a primitive in no group.
  Operation operation_of(PrimitiveId i) {
    using Kind = Operation::Kind;
    if (map_of_[i] != none) return {.kind = Kind::map, .number = map_of_[i], .primitive = i};
    if (const auto fold = primitives_.folds.find(i); fold != primitives_.folds.end()) {
      plan_.folds.push_back({schedule_fold(fold->second)});
      const auto number = static_cast<std::uint32_t>(plan_.folds.size() - 1);
      return {.kind = Kind::fold, .number = number, .primitive = i};
    }
    const EagerKernel kernel = eager_kernel(node(i).op);
    return {.kind = kernel.run ? Kind::library : Kind::view, .primitive = i, .kernel = kernel};
  }

  void find_deaths() {
    std::vector<std::uint32_t> last(plan_.value_count, Plan::never);
    plan_.last_read.assign(trace_.leaves.size(), 0);
    const auto reads = [&](Operand o, std::uint32_t at) {
      const Source base = base_of(o);
      (base.leaf ? plan_.last_read : last)[base.index] = at;
    };
    for (std::uint32_t at = 0; at < plan_.operations.size(); ++at) {
      const Operation& operation = plan_.operations[at];
      for (const Operand o : operands_of(plan_, primitives_, operation)) reads(o, at);
      for_given(plan_, operation,
                [&](PrimitiveId i, std::uint32_t r) { last[plan_.first_value[i] + r] = at; });
    }
    plan_.death.assign(plan_.value_count, Plan::never);
    const std::vector<bool> kept = find_kept();
    for (std::uint32_t value = 0; value < plan_.value_count; ++value) {
      if (kept[value]) continue;
      plan_.death[value] = last[value];
      if (last[value] != Plan::never) plan_.operations[last[value]].dying.push_back(value);
    }
  }

  /// The values that nodes get which something refers to after the run; a leaf that such a node
  /// shows is read as long.
  std::vector<bool> find_kept() {
    std::vector<bool> kept(plan_.value_count, false);
    for (std::size_t i = 0; i < trace_.steps.size(); ++i) {
      if (!trace_.keeps_value(i)) continue;
      const Source base = base_of(primitives_.value_of[i]);
      if (base.leaf) plan_.last_read[base.index] = Plan::never;
      else kept[base.index] = true;
    }
    return kept;
  }

  const Trace& trace_;
  Plan& plan_;
  const Primitives& primitives_;
  const Fusion& fusion_;
  ContiguousRows contiguous_;
  std::vector<Unit> units_;
  std::vector<bool> needed_;            // of each primitive
  std::vector<bool> stored_;            // of each primitive, of the group that is scheduled
  std::vector<std::uint32_t> misfits_;  // groups
  Maps maps_;
  std::vector<std::uint32_t> map_run_by_;  // of each primitive, the map whose last part it is
  /// Results of foreach_maps that something reads.
  std::set<std::pair<PrimitiveId, std::uint32_t>> picked_;
  std::vector<std::uint32_t> planned_of_;  // of each group, its number in the plan
  std::vector<std::uint32_t> map_of_;      // of each primitive, the map it is in the plan
};

/// Groups that were to become kernels become single primitives again.
void dissolve(const Trace& trace, const Primitives& primitives, Fusion& fusion, std::uint32_t g) {
  for (const Member& member : fusion.groups[g].members) fusion.group_of[member.id] = Fusion::alone;
  if (!log_enabled(LogChannel::fusion)) return;
  const Node& first = *trace.steps[primitives.steps[fusion.groups[g].members.front().id].origin];
  write_log({LogChannel::fusion,
             "",
             fmt::format("the group of {} is dissolved", to_string(first.op)),
             {{"reason", "it reads and writes more than a kernel can"},
              {"line", sinter::to_string(first.user)}}});
}

}  // namespace

Plan plan(const Trace& trace, const Primitives& primitives, Fusion fusion) {
  for (;;) {
    Plan result;
    const std::vector<std::uint32_t> misfits = Planner(trace, result, primitives, fusion).run();
    if (misfits.empty()) return result;
    for (const std::uint32_t group : misfits) dissolve(trace, primitives, fusion, group);
  }
}

}  // namespace sinter::jit
