#include "jit/schedule.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "jit/cost.h"
#include "jit/schedule_arguments.h"
#include "kernels/loop_arguments.h"
#include "runtime/error.h"

namespace sinter::jit {
namespace {

/// A value of columns that costs more is kept for the sections after its own.
constexpr int dear = 4;

class Scheduler {
 public:
  Scheduler(const Trace& trace, const Primitives& primitives, const Fusion& fusion,
            const Group& group, const std::vector<bool>& stored,
            const std::vector<bool>& contiguous_leaf, const std::vector<bool>& contiguous_step)
      : trace_(trace),
        primitives_(primitives),
        fusion_(fusion),
        group_(group),
        stored_(stored),
        contiguous_leaf_(contiguous_leaf),
        contiguous_step_(contiguous_step),
        builder_(name_of(primitives, group)),
        arguments_(builder_) {
    std::copy_if(group.members.begin(), group.members.end(), std::back_inserter(members_),
                 [](const Member& member) { return member.role != Role::cast_sum; });
  }

  std::optional<ScheduledGroup> run() {
    result_.axes = group_.axes;
    result_.rows = group_.rows;
    result_.widest = group_.widest;
    planned_.reserve(members_.size());
    for (const Member& member : members_) plan_member(member);
    find_demand();
    choose_kept();
    find_demand();
    for (Planned& own : planned_)
      if (own.kept) own.buffer = builder_.row_buffer();
    for (int phase = 0; phase <= last_phase_; ++phase) {
      row_section(phase);
      column_section(phase);
    }
    row_section(last_phase_ + 1);
    result_.operands = arguments_.take_operands();
    result_.slots = arguments_.take_slots();
    if (result_.operands.size() > kernels::loop_max_accesses) return std::nullopt;
    result_.loop = builder_.finish();
    result_.in_place = last_phase_ == 0 && !result_.can_fail;
    return std::move(result_);
  }

 private:
  struct Emitted {
    ValueId value;
    DType dtype;  ///< what it is rounded to
  };
  /// What is known of a member.
  struct Planned {
    Role role{};
    int phase = 0;  ///< the column section it can first stand in, or the row section it is in
    int cost = 0;   ///< of an element, from memory and what is kept
    std::uint32_t demanded = 0;  ///< the column sections something wants it in, by bit
    bool kept = false;           ///< computed once, in the first of them
    std::uint32_t buffer = 0;
    std::vector<Reading> readings;
    std::optional<Emitted> of_row;     ///< its value of the row, once it is made
    std::optional<Emitted> sum;        ///< a reduction before it is rounded
    std::optional<Emitted> of_column;  ///< its value in the section
    std::pair<ValueId, ValueId> draw;  ///< the numbers that name a draw
  };
  using InputKey = std::tuple<std::uint32_t, Axes, std::vector<DType>>;

  static std::string name_of(const Primitives& primitives, const Group& group) {
    std::string name;
    for (const Member& member : group.members) {
      if (name.size() > 40) break;
      if (!name.empty()) name += '_';
      name += to_string(primitives.steps[member.id].node->op);
    }
    return name;
  }

  const Node& node(PrimitiveId i) const { return *primitives_.steps[i].node; }
  /// Where in members_ a member is, or would be.
  std::size_t place_of(PrimitiveId i) const {
    const auto place =
        std::lower_bound(members_.begin(), members_.end(), i,
                         [](const Member& member, PrimitiveId id) { return member.id < id; });
    return static_cast<std::size_t>(place - members_.begin());
  }
  bool is_member(Operand o) const {
    if (o.leaf) return false;
    const std::size_t place = place_of(o.index);
    return place < members_.size() && members_[place].id == o.index;
  }
  Planned& planned(PrimitiveId i) { return planned_[place_of(i)]; }
  const Planned& planned(PrimitiveId i) const { return planned_[place_of(i)]; }
  bool is_column(PrimitiveId i) const {
    const Role role = planned(i).role;
    return role == Role::elementwise || role == Role::column_sum;
  }
  /// How many of the columns' axes a value lies along.
  int column_count(const Reading& reading) const {
    return static_cast<int>(std::count_if(reading.axes.begin(), reading.axes.end(),
                                          [&](int axis) { return axis >= group_.rows; }));
  }
  bool lies_along_columns(const Reading& reading) const { return column_count(reading) != 0; }
  /// Several columns are walked as one, along which such a value has no stride.
  bool lies_along_some_columns(const Reading& reading) const {
    return lies_along_columns(reading) && column_count(reading) != group_.axes - group_.rows;
  }

  /// The reading with casts made on the way, where columns walked as one show what is cast so.
  Reading seen(const Reading& reading) const {
    Reading through = through_casts(trace_, primitives_, fusion_, reading);
    return lies_along_some_columns(through) ? reading : through;
  }

  /// Whether it is what a take takes from.
  bool is_table(PrimitiveId i, const Reading& reading) const {
    return node(i).op == Op::take && &reading == fusion_.readings[i].data();
  }

  // What is done when.

  void plan_member(const Member& member) {
    const Node& n = node(member.id);
    const bool reduces = info(n.op).kind == OpKind::reduction;
    Planned own;
    own.role = member.role;
    own.readings.reserve(fusion_.readings[member.id].size());
    for (const Reading& reading : fusion_.readings[member.id])
      own.readings.push_back(is_table(member.id, reading) ? reading : seen(reading));
    for (Reading& reading : own.readings) {
      if (!is_member(reading.from)) continue;
      // Of two members with the same value the first is read.
      const Operand same = Operand::of_step(primitives_.same_as[reading.from.index]);
      if (is_member(same)) reading.from = same;
      own.phase = std::max(own.phase, planned(reading.from.index).phase);
    }
    last_phase_ =
        std::max(last_phase_, reduces || member.role == Role::elementwise ? own.phase : 0);
    if (reduces && member.role == Role::row) ++own.phase;
    planned_.push_back(std::move(own));
  }

  /// In which sections each value of columns is wanted.
  void find_demand() {
    for (Planned& own : planned_) own.demanded = 0;
    for (auto member = members_.rbegin(); member != members_.rend(); ++member) {
      Planned& own = planned(member->id);
      const bool reduces = info(node(member->id).op).kind == OpKind::reduction;
      if (reduces) {
        const int phase = own.role == Role::row ? own.phase - 1 : own.phase;
        demand(own.readings[0].from, 1u << phase);
      }
      if (own.role != Role::elementwise) continue;
      if (stored_[member->id]) own.demanded |= 1u << own.phase;
      own.kept = own.kept && is_wanted_again(own);
      const std::uint32_t first = own.demanded & (~own.demanded + 1);
      for (const Reading& reading : own.readings)
        demand(reading.from, own.kept ? first : own.demanded);
    }
  }
  void demand(Operand o, std::uint32_t phases) {
    if (is_member(o) && planned(o.index).role == Role::elementwise)
      planned(o.index).demanded |= phases;
  }
  static bool is_wanted_again(const Planned& own) {
    return (own.demanded & (own.demanded - 1)) != 0;
  }

  /// Kept is what several sections want and would be dear to make again from what is kept before.
  void choose_kept() {
    int kept = 0;
    for (std::size_t m = 0; m < members_.size(); ++m) {
      Planned& own = planned_[m];
      own.cost = cost_in_loop(node(members_[m].id));
      for (const Reading& reading : own.readings) {
        if (!is_member(reading.from)) own.cost += 1;
        else if (is_column(reading.from.index)) own.cost += planned(reading.from.index).cost;
      }
      own.kept = own.role == Role::elementwise && is_wanted_again(own) && own.cost > dear &&
                 kept < kernels::loop_max_row_buffers;
      if (!own.kept) continue;
      ++kept;
      own.cost = 1;
    }
  }
  /// Vectors of doubles take twice the registers.
  static int cost_in_loop(const Node& n) {
    return n.dtype == DType::f64 ? 2 * cost_of(n) : cost_of(n);
  }

  // Rows.

  void row_section(int phase) {
    builder_.begin_row();
    if (phase == 0) emit_row_inputs();
    for (std::size_t m = 0; m < members_.size(); ++m) {
      Planned& own = planned_[m];
      const bool picks = own.role == Role::pick_column;
      if (own.phase != phase || (own.role != Role::row && !picks)) continue;
      const PrimitiveId i = members_[m].id;
      own.of_row = picks ? pick(i) : row_member(i, own);
      store(i, *own.of_row, group_.rows);
    }
  }

  Emitted row_member(PrimitiveId i, const Planned& own) {
    const DType dtype = node(i).dtype;
    if (own.sum) return {in_dtype(*own.sum, dtype), dtype};
    return apply(i, [&](const Reading& r) { return row_value(r); });
  }

  /// Numbers, and elements that are the same for the whole row, are loaded once.
  void emit_row_inputs() {
    for (const Member& member : members_) {
      const Node& n = node(member.id);
      if (n.op == Op::random_uniform) {
        const ValueId seed = arguments_.number(member.id, 0, DType::i64),
                      draw = arguments_.number(member.id, 1, DType::i64);
        planned(member.id).draw = {seed, draw};
      }
      for (const Reading& reading : planned(member.id).readings) {
        if (is_member(reading.from)) continue;
        if (!reading.from.leaf && node(reading.from.index).op == Op::arange)
          arguments_.range(reading.from.index);
        if (!lies_along_columns(reading)) load_of_row(reading);
      }
    }
  }

  void load_of_row(const Reading& reading) {
    const InputKey key = key_of(reading);
    if (row_inputs_.count(key) != 0) return;
    row_inputs_.emplace(key, converted(inlined_of_row(reading), reading));
  }
  Emitted inlined_of_row(const Reading& reading) {
    const DType dtype = dtype_of(trace_, primitives_, reading.from);
    if (!reading.from.leaf && node(reading.from.index).op == Op::constant)
      return {arguments_.number(reading.from.index, 0, compute_dtype(dtype)), dtype};
    if (!reading.from.leaf && is_inlined(node(reading.from.index)))
      return {range(reading, builder_.coordinate(arguments_.position(reading))), dtype};
    return {builder_.load(
                arguments_.memory(LoopOperand::Kind::read, reading, dtype, Columns::contiguous)),
            dtype};
  }

  Emitted row_value(const Reading& reading) {
    if (is_member(reading.from)) return *planned(reading.from.index).of_row;
    return row_inputs_.at(key_of(reading));
  }

  /// gather: its operand once more, at the index. What is read there is fetched.
  Emitted pick(PrimitiveId i) {
    result_.can_fail = true;
    const Planned& own = planned(i);
    std::map<PrimitiveId, Emitted> made;
    return picked(own.readings[0], row_value(own.readings[1]).value, made);
  }
  Emitted picked(const Reading& reading, ValueId place, std::map<PrimitiveId, Emitted>& made) {
    if (is_member(reading.from)) {
      const PrimitiveId i = reading.from.index;
      if (!is_column(i)) return *planned(i).of_row;
      const auto known = made.find(i);
      if (known != made.end()) return known->second;
      const Emitted value = apply(
          i, [&](const Reading& r) { return picked(r, place, made); }, place);
      made.emplace(i, value);
      return value;
    }
    if (!lies_along_columns(reading)) return row_value(reading);
    const DType dtype = dtype_of(trace_, primitives_, reading.from);
    if (!reading.from.leaf && is_inlined(node(reading.from.index))) {
      const ValueId first = builder_.coordinate(arguments_.position(reading));
      return converted({range(reading, builder_.apply(Op::add, first, place)), dtype}, reading);
    }
    const std::uint32_t from =
        arguments_.memory(LoopOperand::Kind::read, reading, dtype, columns_of(reading));
    return converted({builder_.fetch(from, place), dtype}, reading);
  }

  // Columns.

  /// Stores come last: what they write may be the memory of what is read.
  void column_section(int phase) {
    for (Planned& each : planned_) each.of_column.reset();
    column_inputs_.clear();
    builder_.begin_columns();
    std::vector<PrimitiveId> written;
    for (std::size_t m = 0; m < members_.size(); ++m) {
      const Planned& own = planned_[m];
      const PrimitiveId i = members_[m].id;
      const bool reduces = info(node(i).op).kind == OpKind::reduction;
      if (reduces && own.phase - (own.role == Role::row) == phase) reduce(i, phase);
      if (own.role != Role::elementwise || own.phase != phase || !stored_[i]) continue;
      column_value(whole(i), phase);
      written.push_back(i);
    }
    for (const PrimitiveId i : written) store(i, *planned(i).of_column, group_.axes);
  }

  static Reading whole(PrimitiveId i) { return {Operand::of_step(i), {}}; }

  void reduce(PrimitiveId i, int phase) {
    const Node& n = node(i);
    const Planned& own = planned(i);
    const Emitted value = column_value(own.readings[0], phase);
    const ValueId wide = in_compute(value, compute_dtype(value.dtype));
    if (own.role == Role::column_sum) {
      const Reading total{Operand::of_step(i), axes_between(group_.rows, group_.axes)};
      const std::uint32_t sums = arguments_.memory(LoopOperand::Kind::block_sums, total,
                                                   compute_dtype(n.dtype), Columns::contiguous);
      builder_.add_rows(wide, sums);
      arguments_.operand(sums).totals = totals_of(i);
      return;
    }
    planned(i).sum = Emitted{builder_.reduce(n.op, wide), compute_dtype(value.dtype)};
  }

  /// The column_sum and its casts, where they are stored.
  std::vector<PrimitiveId> totals_of(PrimitiveId sum) const {
    std::vector<PrimitiveId> totals;
    if (stored_[sum]) totals.push_back(sum);
    for (const Member& member : group_.members)
      if (member.role == Role::cast_sum && stored_[member.id] &&
          fusion_.readings[member.id][0].from == Operand::of_step(sum))
        totals.push_back(member.id);
    return totals;
  }

  static Axes axes_between(int begin, int end) {
    Axes axes;
    for (int axis = begin; axis < end; ++axis) axes.push_back(axis);
    return axes;
  }

  Emitted column_value(const Reading& reading, int phase) {
    if (is_member(reading.from)) {
      const PrimitiveId i = reading.from.index;
      if (!is_column(i)) return *planned(i).of_row;
      return column_member(i, phase);
    }
    if (!lies_along_columns(reading)) return row_value(reading);
    const InputKey key = key_of(reading);
    const auto known = column_inputs_.find(key);
    if (known != column_inputs_.end()) return known->second;
    const DType dtype = dtype_of(trace_, primitives_, reading.from);
    const bool ranged = !reading.from.leaf && is_inlined(node(reading.from.index));
    const ValueId value = ranged ? range(reading, builder_.coordinate(arguments_.position(reading)))
                                 : builder_.load(arguments_.memory(LoopOperand::Kind::read, reading,
                                                                   dtype, columns_of(reading)));
    return column_inputs_.emplace(key, converted({value, dtype}, reading)).first->second;
  }

  Emitted column_member(PrimitiveId i, int phase) {
    Planned& own = planned(i);
    if (own.of_column) return *own.of_column;
    const bool first = (own.demanded & ((1u << phase) - 1)) == 0;
    Emitted value{no_value, node(i).dtype};
    if (own.kept && !first) {
      value.value = builder_.recall(own.buffer);
    } else {
      value = apply(i, [&](const Reading& reading) { return column_value(reading, phase); });
      if (own.kept) builder_.keep(value.value, own.buffer);
    }
    own.of_column = value;
    return value;
  }

  // Both.

  /// An elementwise op on what `operand(reading)` gives, computed and rounded as the op is; of one
  /// column of the row where a row section picks it.
  template <class OperandOf>
  Emitted apply(PrimitiveId i, OperandOf operand, ValueId column = no_value) {
    const Node& n = node(i);
    const std::vector<Reading>& readings = planned(i).readings;
    if (n.op == Op::random_uniform) {
      const int depth = planned(i).role == Role::row ? group_.rows : group_.axes;
      const auto [seed, draw] = planned(i).draw;
      const std::uint32_t place =
          arguments_.position({Operand::of_step(i), axes_between(0, depth)});
      return {builder_.uniform(place, seed, draw, column), DType::f32};
    }
    if (n.op == Op::take) return taken(readings[0], operand(readings[1]));
    std::array<Emitted, 3> read{};
    DType joined = DType::i64;
    for (std::size_t k = 0; k < readings.size(); ++k) {
      read[k] = operand(readings[k]);
      if (n.op != Op::where || k > 0) joined = std::max(joined, compute_dtype(read[k].dtype));
    }
    if (n.op == Op::cast) return {in_dtype(read[0], n.dtype), n.dtype};
    std::array<ValueId, 3> values{no_value, no_value, no_value};
    for (std::size_t k = 0; k < readings.size(); ++k) values[k] = in_compute(read[k], joined);
    const ValueId value = builder_.apply(n.op, values[0], values[1], values[2]);
    return {in_dtype({value, joined}, n.dtype), n.dtype};
  }

  /// The element of a slice of the table.
  Emitted taken(const Reading& table, const Emitted& index) {
    result_.can_fail = true;
    const DType dtype = dtype_of(trace_, primitives_, table.from);
    const std::uint32_t from =
        arguments_.memory(LoopOperand::Kind::read, table, dtype, columns_of(table));
    arguments_.operand(from).taken = true;
    return {builder_.fetch(from, in_compute(index, DType::i64)), dtype};
  }

  ValueId in_compute(const Emitted& a, DType compute) {
    return compute_dtype(a.dtype) == compute ? a.value : builder_.cast(a.value, compute);
  }
  /// Rounded to `dtype`.
  ValueId in_dtype(const Emitted& a, DType dtype) {
    const bool is_rounded = a.dtype == dtype || compute_dtype(a.dtype) == dtype;
    return is_rounded ? a.value : builder_.cast(a.value, dtype);
  }

  ValueId range(const Reading& reading, ValueId place) {
    // Their start and step are numbers of the user's.
    const PrimitiveId i = reading.from.index;
    const ValueId steps = builder_.apply(Op::mul, place, arguments_.range(i).second);
    return builder_.cast(builder_.apply(Op::add, steps, arguments_.range(i).first), node(i).dtype);
  }
  void store(PrimitiveId i, const Emitted& value, int axes) {
    if (!stored_[i]) return;
    const Reading own{Operand::of_step(i), axes_between(0, axes)};
    builder_.store(value.value, arguments_.memory(LoopOperand::Kind::written, own, node(i).dtype,
                                                  Columns::contiguous));
  }

  static InputKey key_of(const Reading& reading) {
    return {reading.from.key(), reading.axes, reading.casts};
  }

  Emitted converted(Emitted value, const Reading& reading) {
    for (const DType dtype : reading.casts) value = {in_dtype(value, dtype), dtype};
    return value;
  }

  Columns columns_of(const Reading& reading) const {
    const bool lies = reading.from.leaf ? contiguous_leaf_[reading.from.index]
                                        : contiguous_step_[reading.from.index];
    return lies && reading.axes.back() == group_.axes - 1 ? Columns::contiguous : Columns::strided;
  }

  const Trace& trace_;
  const Primitives& primitives_;
  const Fusion& fusion_;
  const Group& group_;
  std::vector<Member> members_;  // that stand in the loop: a cast of a sum is made afterwards
  const std::vector<bool>& stored_;
  const std::vector<bool>& contiguous_leaf_;
  const std::vector<bool>& contiguous_step_;
  LoopBuilder builder_;
  LoopArgumentList arguments_;
  ScheduledGroup result_;
  int last_phase_ = 0;
  std::vector<Planned> planned_;  // of each of members_
  std::map<InputKey, Emitted> row_inputs_, column_inputs_;
};

}  // namespace

std::vector<PrimitiveId> stored_by(const ScheduledGroup& group) {
  std::vector<PrimitiveId> stored;
  for (const LoopOperand& operand : group.operands) {
    if (operand.kind == LoopOperand::Kind::written) stored.push_back(operand.value.index);
    stored.insert(stored.end(), operand.totals.begin(), operand.totals.end());
  }
  std::sort(stored.begin(), stored.end());
  return stored;
}

std::optional<ScheduledGroup> schedule(const Trace& trace, const Primitives& primitives,
                                       const Fusion& fusion, const Group& group,
                                       const std::vector<bool>& stored,
                                       const std::vector<bool>& contiguous_leaf,
                                       const std::vector<bool>& contiguous_step) {
  return Scheduler(trace, primitives, fusion, group, stored, contiguous_leaf, contiguous_step)
      .run();
}

}  // namespace sinter::jit
