#include "jit/schedule.h"

#include <algorithm>
#include <map>

#include "jit/schedule_arguments.h"
#include "jit/schedule_phases.h"
#include "kernels/loop_arguments.h"
#include "runtime/error.h"

namespace sinter::jit {
namespace {

class Scheduler {
 public:
  Scheduler(const Trace& trace, const Primitives& primitives, const Fusion& fusion,
            const Group& group, const std::vector<bool>& stored, const ContiguousRows& contiguous)
      : trace_(trace),
        primitives_(primitives),
        fusion_(fusion),
        group_(group),
        stored_(stored),
        contiguous_(contiguous),
        phases_(trace, primitives, fusion, group, stored),
        built_(phases_.members().size()),
        builder_(name_of(primitives, group)),
        arguments_(builder_) {}

  std::optional<ScheduledGroup> run() {
    result_.axes = group_.axes;
    result_.rows = group_.rows;
    result_.widest = group_.widest;
    for (const LoopMember& member : phases_.members())
      if (member.kept) built(member.id).buffer = builder_.row_buffer();
    for (int phase = 0; phase <= phases_.last_phase(); ++phase) {
      row_section(phase);
      column_section(phase);
    }
    row_section(phases_.last_phase() + 1);
    result_.operands = arguments_.take_operands();
    result_.slots = arguments_.take_slots();
    if (result_.operands.size() > kernels::loop_max_accesses) return std::nullopt;
    result_.loop = builder_.finish();
    result_.in_place = phases_.last_phase() == 0 && !result_.can_fail;
    return std::move(result_);
  }

 private:
  /// What the loop has of a member.
  struct Built {
    std::uint32_t buffer = 0;          ///< where it is kept
    std::optional<Rounded> of_row;     ///< its value of the row, once it is made
    std::optional<Rounded> sum;        ///< a reduction before it is rounded
    std::optional<Rounded> of_column;  ///< its value in the section
    std::pair<ValueId, ValueId> draw;  ///< the numbers that name a draw
  };
  using InputKey = std::tuple<std::uint32_t, Axes, std::vector<DType>>;

  static std::string name_of(const Primitives& primitives, const Group& group) {
    std::string name;
    for (const Member& member : group.members)
      append_op(name, primitives.steps[member.id].node->op);
    return name;
  }

  const Node& node(PrimitiveId i) const { return *primitives_.steps[i].node; }
  const LoopMember& member(PrimitiveId i) const { return phases_.member(i); }
  Built& built(PrimitiveId i) { return built_[phases_.place_of(i)]; }
  bool is_member(Operand o) const { return phases_.is_member(o); }
  /// Whether a value that is not a member's is made by whoever reads it.
  bool is_made_anew(Operand o) const { return !o.leaf && is_inlined(node(o.index)); }

  // Rows.

  void row_section(int phase) {
    builder_.begin_row();
    if (phase == 0) build_row_inputs();
    for (const LoopMember& own : phases_.members()) {
      const bool picks = own.role == Role::pick_column;
      if (own.phase != phase || (own.role != Role::row && !picks)) continue;
      const Rounded value = picks ? pick(own) : row_member(own.id);
      built(own.id).of_row = value;
      store(own.id, value, group_.rows);
    }
  }

  Rounded row_member(PrimitiveId i) {
    if (const auto& sum = built(i).sum) return builder_.rounded(*sum, node(i).dtype);
    return apply(i, [&](const Reading& r) { return row_value(r); });
  }

  /// Numbers, and elements that are the same for the whole row, are loaded once.
  void build_row_inputs() {
    for (const LoopMember& own : phases_.members()) {
      if (node(own.id).op == Op::random_uniform) {
        const ValueId seed = arguments_.number(own.id, 0, DType::i64),
                      draw = arguments_.number(own.id, 1, DType::i64);
        built(own.id).draw = {seed, draw};
      }
      for (const Reading& reading : own.readings) {
        if (is_member(reading.from)) continue;
        if (!reading.from.leaf && node(reading.from.index).op == Op::arange)
          arguments_.range(reading.from.index);
        if (!phases_.lies_along_columns(reading)) load_of_row(reading);
      }
    }
  }

  void load_of_row(const Reading& reading) {
    const InputKey key = key_of(reading);
    if (row_inputs_.count(key) != 0) return;
    row_inputs_.emplace(key, converted(input_of_row(reading), reading));
  }
  Rounded input_of_row(const Reading& reading) {
    const DType dtype = dtype_of(trace_, primitives_, reading.from);
    if (!reading.from.leaf && node(reading.from.index).op == Op::constant)
      return {arguments_.number(reading.from.index, 0, compute_dtype(dtype)), dtype};
    if (is_made_anew(reading.from))
      return {range(reading, builder_.coordinate(arguments_.position(reading))), dtype};
    return {builder_.load(
                arguments_.memory(LoopOperand::Kind::read, reading, dtype, Columns::contiguous)),
            dtype};
  }

  Rounded row_value(const Reading& reading) {
    if (is_member(reading.from)) return *built(reading.from.index).of_row;
    return row_inputs_.at(key_of(reading));
  }

  /// gather: its operand once more, at the index. What is read there is fetched.
  Rounded pick(const LoopMember& gather) {
    result_.can_fail = true;
    std::map<PrimitiveId, Rounded> made;
    return picked(gather.readings[0], row_value(gather.readings[1]).value, made);
  }
  Rounded picked(const Reading& reading, ValueId place, std::map<PrimitiveId, Rounded>& made) {
    if (is_member(reading.from)) {
      const PrimitiveId i = reading.from.index;
      if (!member(i).is_of_columns()) return *built(i).of_row;
      const auto known = made.find(i);
      if (known != made.end()) return known->second;
      const Rounded value = apply(
          i, [&](const Reading& r) { return picked(r, place, made); }, place);
      made.emplace(i, value);
      return value;
    }
    if (!phases_.lies_along_columns(reading)) return row_value(reading);
    const DType dtype = dtype_of(trace_, primitives_, reading.from);
    if (is_made_anew(reading.from)) {
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
    for (Built& each : built_) each.of_column.reset();
    column_inputs_.clear();
    builder_.begin_columns();
    std::vector<PrimitiveId> written;
    for (const LoopMember& own : phases_.members()) {
      if (own.reduces && own.reduced_in() == phase) reduce(own, phase);
      if (own.role != Role::elementwise || own.phase != phase || !stored_[own.id]) continue;
      column_member(own.id, phase);
      written.push_back(own.id);
    }
    for (const PrimitiveId i : written) store(i, *built(i).of_column, group_.axes);
  }

  void reduce(const LoopMember& own, int phase) {
    const PrimitiveId i = own.id;
    const Node& n = node(i);
    const Rounded value = column_value(own.readings[0], phase);
    if (own.role == Role::column_sum) {
      const Reading total{Operand::of_step(i), axes_between(group_.rows, group_.axes)};
      const std::uint32_t sums = arguments_.memory(LoopOperand::Kind::block_sums, total,
                                                   compute_dtype(n.dtype), Columns::contiguous);
      builder_.add_rows(value.value, sums);
      arguments_.operand(sums).totals = totals_of(i);
      return;
    }
    built(i).sum = Rounded{builder_.reduce(n.op, value.value), compute_dtype(value.dtype)};
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

  Rounded column_value(const Reading& reading, int phase) {
    if (is_member(reading.from)) {
      const PrimitiveId i = reading.from.index;
      return member(i).is_of_columns() ? column_member(i, phase) : *built(i).of_row;
    }
    if (!phases_.lies_along_columns(reading)) return row_value(reading);
    const InputKey key = key_of(reading);
    const auto known = column_inputs_.find(key);
    if (known != column_inputs_.end()) return known->second;
    const DType dtype = dtype_of(trace_, primitives_, reading.from);
    const ValueId value = is_made_anew(reading.from)
                              ? range(reading, builder_.coordinate(arguments_.position(reading)))
                              : builder_.load(arguments_.memory(LoopOperand::Kind::read, reading,
                                                                dtype, columns_of(reading)));
    return column_inputs_.emplace(key, converted({value, dtype}, reading)).first->second;
  }

  Rounded column_member(PrimitiveId i, int phase) {
    Built& own = built(i);
    if (own.of_column) return *own.of_column;
    const bool kept = member(i).kept, first = (member(i).demanded & ((1u << phase) - 1)) == 0;
    Rounded value{no_value, node(i).dtype};
    if (kept && !first) {
      value.value = builder_.recall(own.buffer);
    } else {
      value = apply(i, [&](const Reading& reading) { return column_value(reading, phase); });
      if (kept) builder_.keep(value.value, own.buffer);
    }
    own.of_column = value;
    return value;
  }

  // Both.

  /// An elementwise op on what `operand(reading)` gives, computed and rounded as the op is; of one
  /// column of the row where a row section picks it.
  template <class OperandOf>
  Rounded apply(PrimitiveId i, OperandOf operand, ValueId column = no_value) {
    const Node& n = node(i);
    const std::vector<Reading>& readings = member(i).readings;
    if (n.op == Op::random_uniform) {
      const int depth = member(i).role == Role::row ? group_.rows : group_.axes;
      const auto [seed, draw] = built(i).draw;
      const std::uint32_t place =
          arguments_.position({Operand::of_step(i), axes_between(0, depth)});
      return {builder_.uniform(place, seed, draw, column), DType::f32};
    }
    if (n.op == Op::take) return taken(readings[0], operand(readings[1]));
    std::array<Rounded, 3> read{};
    DType joined = DType::i64;
    for (std::size_t k = 0; k < readings.size(); ++k) {
      read[k] = operand(readings[k]);
      if (n.op != Op::where || k > 0) joined = std::max(joined, compute_dtype(read[k].dtype));
    }
    if (n.op == Op::cast) return builder_.rounded(read[0], n.dtype);
    std::array<ValueId, 3> values{no_value, no_value, no_value};
    for (std::size_t k = 0; k < readings.size(); ++k)
      values[k] = builder_.in_compute(read[k], joined);
    const ValueId value = builder_.apply(n.op, values[0], values[1], values[2]);
    return builder_.rounded({value, joined}, n.dtype);
  }

  /// The element of a slice of the table.
  Rounded taken(const Reading& table, const Rounded& index) {
    result_.can_fail = true;
    const DType dtype = dtype_of(trace_, primitives_, table.from);
    const std::uint32_t from =
        arguments_.memory(LoopOperand::Kind::read, table, dtype, columns_of(table));
    arguments_.operand(from).taken = true;
    return {builder_.fetch(from, builder_.in_compute(index, DType::i64)), dtype};
  }

  /// The element of a range at a place; its start and step are numbers of the user's.
  ValueId range(const Reading& reading, ValueId place) {
    const PrimitiveId i = reading.from.index;
    const ValueId steps = builder_.apply(Op::mul, place, arguments_.range(i).second);
    return builder_.cast(builder_.apply(Op::add, steps, arguments_.range(i).first), node(i).dtype);
  }
  void store(PrimitiveId i, const Rounded& value, int axes) {
    if (!stored_[i]) return;
    const Reading own{Operand::of_step(i), axes_between(0, axes)};
    builder_.store(value.value, arguments_.memory(LoopOperand::Kind::written, own, node(i).dtype,
                                                  Columns::contiguous));
  }

  static InputKey key_of(const Reading& reading) {
    return {reading.from.key(), reading.axes, reading.casts};
  }

  Rounded converted(Rounded value, const Reading& reading) {
    for (const DType dtype : reading.casts) value = builder_.rounded(value, dtype);
    return value;
  }

  Columns columns_of(const Reading& reading) const {
    return contiguous_.has(reading.from) && reading.axes.back() == group_.axes - 1
               ? Columns::contiguous
               : Columns::strided;
  }

  const Trace& trace_;
  const Primitives& primitives_;
  const Fusion& fusion_;
  const Group& group_;
  const std::vector<bool>& stored_;
  const ContiguousRows& contiguous_;
  const LoopPhases phases_;
  std::vector<Built> built_;  // of each member of phases_
  LoopBuilder builder_;
  LoopArgumentList arguments_;
  ScheduledGroup result_;
  std::map<InputKey, Rounded> row_inputs_, column_inputs_;
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
                                       const ContiguousRows& contiguous) {
  return Scheduler(trace, primitives, fusion, group, stored, contiguous).run();
}

}  // namespace sinter::jit
