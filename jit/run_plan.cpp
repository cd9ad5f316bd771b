#include "jit/run_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "jit/group_launch.h"
#include "jit/launch_fold.h"
#include "jit/launch_map.h"
#include "jit/live_values.h"
#include "jit/map_readers.h"
#include "jit/value_memory.h"
#include "kernels/reduce.h"
#include "runtime/element.h"
#include "runtime/log.h"
#include "runtime/results.h"

namespace sinter::jit {
namespace {

using kernels::ConstView;
using kernels::View;

/// The data of an operation made it fail; which one, the level eager says.
struct DataFault {};

/// The number as the dtype stores it.
kernels::LoopNumber stored_number(DType dtype, Slot slot) {
  return with_storage_type(dtype, [&]<typename T>(T) {
    if (is_floating(dtype))
      return kernels::LoopNumber{.real = converted<double>(converted<T>(slot.real))};
    return kernels::LoopNumber{.integer = converted<std::int64_t>(converted<T>(slot.integer))};
  });
}

class PlanRun {
 public:
  PlanRun(const Plan& plan, const Layout& layout, const Program& program, const Trace& trace,
          const std::vector<bool>& donated, Observers observers)
      : plan_(plan),
        primitives_(layout.primitives),
        program_(program),
        trace_(trace),
        donated_(donated),
        observers_(observers),
        values_(plan, layout, trace) {
    outcome_.values.resize(program.value_count);
    outcome_.failures.resize(trace.steps.size());
    outcome_.fresh.assign(trace.steps.size(), false);
    outcome_.overwritten.assign(trace.leaves.size(), false);
  }

  std::optional<Outcome> run() {
    for (const Node* leaf : trace_.leaves)
      if (leaf->state() == NodeState::failed) return std::nullopt;
    try {
      for (at_ = 0; at_ < plan_.operations.size(); ++at_) run_operation(plan_.operations[at_]);
    } catch (const DataFault&) {
      return std::nullopt;
    } catch (const InternalError&) {
      throw;  // a fault of the plan, which running at another level would hide
    } catch (const std::exception&) {
      if (!overwrites_) return std::nullopt;
      fail_all(std::current_exception());
      return std::move(outcome_);
    }
    for (std::size_t i = 0; i < trace_.steps.size(); ++i)
      if (trace_.kept[i] && !has_several_results(trace_.steps[i]->op))
        outcome_.values[program_.steps[i].first_value] = values_.value_of(primitives_.value_of[i]);
    return std::move(outcome_);
  }

 private:
  /// The old values of some Variables are gone, so nothing of the step can be kept.
  void fail_all(const std::exception_ptr& failure) {
    outcome_.first_fresh = failure;
    std::fill(outcome_.failures.begin(), outcome_.failures.end(), failure);
    outcome_.fresh.assign(trace_.steps.size(), true);
  }

  void run_operation(const Operation& operation) {
    for (Observer* const observer : observers_) observer->before_operation(values_, operation);
    if (operation.group != Operation::no_group) run_group(plan_.groups[operation.group]);
    else if (operation.map != Operation::no_map) run_map(plan_.maps[operation.map]);
    else if (operation.fold != Operation::no_fold) run_fold(operation);
    else run_primitive(operation);
    for (Observer* const observer : observers_)
      if (!observer->after_operation(values_, operation)) throw DataFault();
    for (const std::uint32_t value : operation.dying) values_[value] = {};
  }

  // One primitive, as at the level eager.

  void run_primitive(const Operation& operation) {
    const PrimitiveId i = operation.primitive;
    const Node& n = values_.node(i);
    const auto operands = primitives_.operands_of(i);
    if (operation.kernel.run) run_kernel(operation, n, operands);
    else
      values_[plan_.first_value[i]] =
          seen(n, values_.view(operands[0]), values_.value_of(operands[0]));
  }

  void run_kernel(const Operation& operation, const Node& n, std::span<const Operand> operands) {
    const PrimitiveId i = operation.primitive;
    inputs_.clear();
    outputs_.clear();
    for (const Operand o : operands) inputs_.push_back(values_.view(o));
    if (operation.kernel.in_place == InPlace::any_input) donate_any(i, n, operands);
    if (operation.kernel.in_place == InPlace::own_position) donate_own_position(i, n, operands);
    for (std::uint32_t r = 0; r < values_.result_count_of(i); ++r) {
      const Result result = values_.result(i, r);
      Value& value = values_[plan_.first_value[i] + r];
      if (!value) value = obtain(plan_.first_value[i] + r, result);
      outputs_.push_back({address(value, result.dtype), result.dtype, result.shape, value.strides});
    }
    ++outcome_.kernels;
    kernels::Fault fault;
    operation.kernel.run({n, inputs_, outputs_, fault});
    if (fault.set()) throw DataFault();
  }

  void donate_any(PrimitiveId i, const Node& n, std::span<const Operand> operands) {
    for (const Operand o : operands) {
      const bool shown_otherwise =
          std::any_of(operands.begin(), operands.end(), [&](Operand other) {
            return !(other == o) && values_.base_of(other) == values_.base_of(o);
          });
      if (!shown_otherwise && donate(o, plan_.first_value[i], {n.dtype, n.shape})) return;
    }
  }

  void donate_own_position(PrimitiveId i, const Node& n, std::span<const Operand> operands) {
    const auto lists = static_cast<std::size_t>(n.fixed()[0]);
    const auto length = static_cast<std::size_t>(n.fixed()[1]);
    const std::vector<bool> several =
        read_by_others(operands, values_.bases_of(operands), lists, length);
    for (std::uint32_t r = 0; r < values_.result_count_of(i); ++r)
      for (std::size_t list = 0; list < lists; ++list) {
        const std::size_t s = list * length + r % length;
        if (!several[s] && donate(operands[s], plan_.first_value[i] + r, result_of(n, r))) break;
      }
  }

  /// Whether the result gets the memory of an operand, which ends here and which nothing else that
  /// the operation reads shows in another way.
  bool donate(Operand o, std::uint32_t number, const Result& result) {
    if (values_.dtype(o) != result.dtype || !(values_.shape(o) == result.shape)) return false;
    const Source base = values_.base_of(o);
    if (base.leaf) {
      if (!donated_[base.index] || plan_.last_read[base.index] != at_ ||
          at_ < plan_.fallible_operations)
        return false;
    } else if (plan_.death[base.index] != at_) {
      return false;
    }
    if (!is_contiguous(result.shape, values_.placement_of(o).strides) ||
        !values_.storage_of(o)->exclusive())
      return false;
    if (base.leaf) {
      if (!reserve_rest()) return false;
      outcome_.overwritten[base.index] = true;
      overwrites_ = true;
    }
    values_[number] = values_.value_of(o);
    return true;
  }

  // A map.

  void run_map(const PlannedMap& planned) {
    const Map& map = planned.map;
    inputs_.clear();
    outputs_.clear();
    for (const Operand o : map.operands) inputs_.push_back(values_.view(o));
    for_results(planned, [&](std::uint32_t number, const Result& result, std::size_t position) {
      Value& value = values_[number];
      // Numbers are not worth that what comes later has to be reserved.
      for (std::size_t s = position; !planned.single && !value && s < map.lists() * map.length;
           s += map.length)
        if (!planned.read_by_others[s]) donate(map.operands[s], number, result);
      if (!value) value = obtain(number, result);
      outputs_.push_back({address(value, result.dtype), result.dtype, result.shape, value.strides});
    });
    std::vector<kernels::LoopNumber> numbers;
    for (std::size_t k = 0; k < map.numbers.size(); ++k)
      numbers.push_back(
          stored_number(map.body->number_dtypes[k],
                        values_.node(map.numbers[k].primitive).slots()[map.numbers[k].slot]));
    ++outcome_.kernels;
    launch_map(planned, inputs_, outputs_, numbers, observers_);
  }

  /// body(number, result, position) for the values that are wanted of a map.
  template <class Body>
  void for_results(const PlannedMap& planned, Body body) const {
    for (std::size_t r = 0; r < planned.map.results.size(); ++r) {
      if (!planned.wanted[r]) continue;
      const Map::Result& result = planned.map.results[r];
      for (std::size_t p = 0; p < planned.map.length; ++p) {
        const std::uint32_t index = result.index[p];
        body(plan_.first_value[result.primitive] + index, values_.result(result.primitive, index),
             p);
      }
    }
  }

  void run_fold(const Operation& operation) {
    const std::uint32_t number = plan_.first_value[operation.primitive];
    inputs_.clear();
    for (const Operand o : primitives_.operands_of(operation.primitive))
      inputs_.push_back(values_.view(o));
    const Result result = values_.result(operation.primitive, 0);
    Value& value = values_[number];
    if (!value) value = obtain(number, result);
    ++outcome_.kernels;
    launch_fold(plan_.folds[operation.fold], inputs_,
                {address(value, result.dtype), result.dtype, result.shape, value.strides},
                observers_);
  }

  // A group.

  void run_group(const PlannedGroup& group) {
    const ScheduledGroup& schedule = group.schedule;
    const Dims space = wide_sizes(values_.shape(schedule.widest));
    temporaries_.clear();
    std::vector<LaidOperand> operands;
    for (std::size_t k = 0; k < schedule.operands.size(); ++k)
      operands.push_back(lay(schedule, space, k));
    ++outcome_.kernels;
    const LaunchPart part{&schedule.loop, group.function,
                          make_launch(schedule, space, operands, numbers_of(schedule))};
    const bool accepted = observed_launch(
        observers_, {&part, 1}, [&] { return launch(schedule.loop, group.function, part.launch); });
    if (!accepted) throw DataFault();
    finish_sums(schedule, operands, part.launch);
  }

  LaidOperand lay(const ScheduledGroup& schedule, const Dims& space, std::size_t k) {
    const LoopOperand& operand = schedule.operands[k];
    const Shape& own = values_.shape(operand.value);
    const DType type = schedule.loop.accesses[k].dtype;
    const auto in_space = [&](const Strides& strides) {
      return strides_in_space(own, strides, operand.axes, schedule.axes);
    };
    switch (operand.kind) {
      case LoopOperand::Kind::coordinate: return {nullptr, in_space(contiguous_strides(own))};
      case LoopOperand::Kind::read: {
        const ConstView view = values_.view(operand.value);
        LaidOperand laid{const_cast<void*>(view.data), in_space(view.strides)};
        if (fits_columns(schedule, space, k, laid.strides)) return laid;
        temporaries_.push_back(packed(view));
        return {address(temporaries_.back(), type), in_space(temporaries_.back().strides)};
      }
      case LoopOperand::Kind::block_sums: {
        const std::int64_t blocks = row_blocks(schedule, space);
        temporaries_.push_back(allocate({type, {blocks, element_count(own)}}));
        return {address(temporaries_.back(), type), in_space(contiguous_strides(own))};
      }
      default: {
        const std::uint32_t number = plan_.first_value[operand.value.index];
        if (schedule.in_place) donate_read(schedule, operand, number, {type, own});
        Value& value = values_[number];
        if (!value) value = obtain(number, {type, own});
        return {address(value, type), in_space(value.strides)};
      }
    }
  }

  static std::int64_t row_blocks(const ScheduledGroup& schedule, const Dims& space) {
    Shape rows;
    for (int axis = 0; axis < schedule.rows; ++axis) rows.push_back(space[axis]);
    return row_block_count(rows);
  }

  /// Elements are read and written at the same place, so a result can take the place of an operand.
  void donate_read(const ScheduledGroup& schedule, const LoopOperand& written, std::uint32_t number,
                   const Result& result) {
    if (values_[number]) return;
    for (const LoopOperand& operand : schedule.operands) {
      if (operand.kind != LoopOperand::Kind::read || operand.axes != written.axes) continue;
      const auto readers = std::count_if(
          schedule.operands.begin(), schedule.operands.end(), [&](const LoopOperand& other) {
            return other.kind == LoopOperand::Kind::read &&
                   values_.base_of(other.value) == values_.base_of(operand.value);
          });
      if (readers == 1 && donate(operand.value, number, result)) return;
    }
  }

  std::vector<kernels::LoopNumber> numbers_of(const ScheduledGroup& schedule) const {
    std::vector<kernels::LoopNumber> numbers;
    for (const LoopSlot& slot : schedule.slots) numbers.push_back(number_of(slot));
    return numbers;
  }
  kernels::LoopNumber number_of(const LoopSlot& slot) const {
    const Primitive& primitive = primitives_.steps[slot.primitive];
    const Node& n = values_.node(slot.primitive);
    if (n.op == Op::random_uniform) {
      const Node& origin = *trace_.steps[primitive.origin];
      const std::size_t first = origin.op == Op::dropout ? 1 : 0;
      return {.integer = origin.slots()[first + slot.slot].integer};
    }
    return stored_number(n.dtype, n.slots()[slot.slot]);
  }

  /// The sums of blocks of rows become sums of all rows.
  void finish_sums(const ScheduledGroup& schedule, const std::vector<LaidOperand>& operands,
                   const Launch& run) {
    for (std::size_t k = 0; k < operands.size(); ++k) {
      if (schedule.operands[k].kind != LoopOperand::Kind::block_sums) continue;
      const DType type = schedule.loop.accesses[k].dtype;
      const std::int64_t blocks = row_block_count(run.rows), count = run.columns;
      for (const PrimitiveId i : schedule.operands[k].totals) {
        const Result result = values_.result(i, 0);
        Value& value = values_[plan_.first_value[i]];
        if (!value) value = obtain(plan_.first_value[i], result);
        kernels::reduce(Op::sum, {operands[k].base, type, {blocks, count}, {count, 1}}, 1, 0,
                        {address(value, result.dtype), result.dtype, {1, count}, {count, 1}});
      }
    }
  }

  // Memory.

  Value obtain(std::uint32_t number, const Result& result) {
    if (!reserved_.empty() && reserved_[number]) return std::move(reserved_[number]);
    return allocate(result);
  }

  /// A failure after the first write to a Variable's buffer loses the Variable, so what later
  /// operations give is allocated before. Where that is not possible no such buffer is written.
  bool reserve_rest() {
    if (!reserved_.empty()) return true;
    std::vector<Value> reserved(plan_.value_count);
    try {
      for (std::uint32_t at = at_ + 1; at < plan_.operations.size(); ++at) {
        const Operation& operation = plan_.operations[at];
        if (operation.group != Operation::no_group) {
          for (const LoopOperand& operand : plan_.groups[operation.group].schedule.operands) {
            if (operand.kind == LoopOperand::Kind::written) reserve(operand.value.index, reserved);
            for (const PrimitiveId total : operand.totals) reserve(total, reserved);
          }
        } else if (operation.map != Operation::no_map) {
          for_results(plan_.maps[operation.map],
                      [&](std::uint32_t number, const Result& result, std::size_t) {
                        reserved[number] = allocate(result);
                      });
        } else if (operation.kernel.run) {
          const PrimitiveId i = operation.primitive;
          for (std::uint32_t r = 0; r < values_.result_count_of(i); ++r)
            reserved[plan_.first_value[i] + r] = allocate(values_.result(i, r));
        }
      }
    } catch (const std::exception&) {
      return false;
    }
    reserved_ = std::move(reserved);
    return true;
  }

  void reserve(PrimitiveId i, std::vector<Value>& reserved) const {
    reserved[plan_.first_value[i]] = allocate(values_.result(i, 0));
  }

  const Plan& plan_;
  const Primitives& primitives_;
  const Program& program_;
  const Trace& trace_;
  const std::vector<bool>& donated_;
  const Observers observers_;
  LiveValues values_;
  std::vector<Value> reserved_;
  std::vector<Value> temporaries_;  // of the operation
  std::uint32_t at_ = 0;            // the operation
  bool overwrites_ = false;
  std::vector<ConstView> inputs_;
  std::vector<View> outputs_;
  Outcome outcome_;
};

}  // namespace

std::optional<Outcome> run_plan(const Lowered& lowered, const Program& program, const Trace& trace,
                                const std::vector<bool>& donated, Observers observers) {
  const Layout* layout = lowered.layouts.find(trace);
  if (!layout) {
    if (log_enabled(LogChannel::perf_hints))
      write_log(
          {LogChannel::perf_hints,
           fmt::format("program {}", program.id),
           "a number of a composite (label smoothing) is 0, or is not, unlike when the program was "
           "built: the level eager runs",
           {}});
    return std::nullopt;
  }
  return PlanRun(lowered.plan, *layout, program, trace, donated, observers).run();
}

}  // namespace sinter::jit
