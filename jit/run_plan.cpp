#include "jit/run_plan.h"

#include <algorithm>

#include "jit/group_launch.h"
#include "jit/launch_fold.h"
#include "jit/launch_map.h"
#include "jit/live_values.h"
#include "jit/plan_values.h"
#include "jit/value_memory.h"
#include "kernels/elementwise.h"
#include "kernels/reduce.h"
#include "runtime/element.h"
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
  PlanRun(const Plan& plan, const PlanLayout& laid, const Program& program, const Trace& trace,
          const std::vector<bool>& donated, Observers observers)
      : plan_(plan),
        primitives_(laid.layout.primitives),
        memory_(laid.memory),
        program_(program),
        trace_(trace),
        donated_(donated),
        observers_(observers),
        values_(plan, laid.layout, trace) {
    outcome_.values.resize(program.value_count);
    outcome_.failures.resize(trace.steps.size());
    outcome_.fresh.assign(trace.steps.size(), false);
    outcome_.overwritten.assign(trace.leaves.size(), false);
  }

  std::optional<Outcome> run() {
    for (const Node* leaf : trace_.leaves)
      if (leaf->state() == NodeState::failed) return std::nullopt;
    try {
      const auto bytes = static_cast<std::size_t>(memory_.bytes);
      arena_ = StorageRef(new Storage(Buffer::allocate(bytes)));
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
      if (trace_.keeps_value(i))
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
    switch (operation.kind) {
      case Operation::Kind::group: run_group(operation.number); break;
      case Operation::Kind::map: run_map(operation); break;
      case Operation::Kind::fold: run_fold(operation); break;
      case Operation::Kind::library: run_primitive(operation); break;
      case Operation::Kind::view: run_view(operation); break;
    }
    for (Observer* const observer : observers_)
      if (!observer->after_operation(values_, operation)) throw DataFault();
    for (const std::uint32_t value : operation.dying) values_[value] = {};
  }

  // One primitive, as at the level eager.

  void run_primitive(const Operation& operation) {
    inputs_.clear();
    outputs_.clear();
    for (const Operand o : primitives_.operands_of(operation.primitive))
      inputs_.push_back(values_.view(o));
    obtain_given(operation);
    ++outcome_.kernels;
    kernels::Fault fault;
    operation.kernel.run({values_.node(operation.primitive), inputs_, outputs_, fault});
    if (fault.set()) throw DataFault();
  }

  void run_view(const Operation& operation) {
    const Operand shown = primitives_.operands_of(operation.primitive)[0];
    const Node& n = values_.node(operation.primitive);
    const std::uint32_t number = plan_.first_value[operation.primitive];
    if (memory_.offsets[number] == MemoryPlan::outside) {
      values_[number] = seen(n, values_.view(shown), values_.value_of(shown));
    } else {
      const ConstView input = values_.view(shown);
      const Result copy{n.dtype, input.shape};
      kernels::copy(input, view_of(in_arena(memory_.offsets[number], copy), copy));
      obtain(number, {n.dtype, n.shape});
    }
  }

  // Lists.

  void run_map(const Operation& operation) {
    const PlannedMap& planned = plan_.maps[operation.number];
    const Map& map = planned.map;
    inputs_.clear();
    outputs_.clear();
    for (const Operand o : map.operands) inputs_.push_back(values_.view(o));
    obtain_given(operation);
    std::vector<kernels::LoopNumber> numbers;
    for (std::size_t k = 0; k < map.numbers.size(); ++k)
      numbers.push_back(
          stored_number(map.body->number_dtypes[k],
                        values_.node(map.numbers[k].primitive).slots()[map.numbers[k].slot]));
    ++outcome_.kernels;
    launch_map(planned, inputs_, outputs_, numbers, observers_);
  }

  void run_fold(const Operation& operation) {
    inputs_.clear();
    outputs_.clear();
    for (const Operand o : primitives_.operands_of(operation.primitive))
      inputs_.push_back(values_.view(o));
    obtain_given(operation);
    ++outcome_.kernels;
    launch_fold(plan_.folds[operation.number], inputs_, outputs_[0], observers_);
  }

  // A group.

  void run_group(std::uint32_t number) {
    const PlannedGroup& group = plan_.groups[number];
    const ScheduledGroup& schedule = group.schedule;
    const Dims space = wide_sizes(values_.shape(schedule.widest));
    temporaries_.clear();
    std::vector<LaidOperand> operands;
    block_sums_ = memory_.block_sums[number];
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
      return strides_in_space(own, strides, operand.axes, schedule.axes, operand.taken ? 1 : 0);
    };
    switch (operand.kind) {
      case LoopOperand::Kind::coordinate: return {nullptr, in_space(contiguous_strides(own))};
      case LoopOperand::Kind::read: {
        const ConstView view = values_.view(operand.value);
        LaidOperand laid{const_cast<void*>(view.data), in_space(view.strides)};
        Strides strides = view.strides;
        if (!fits_columns(schedule, space, k, laid.strides)) {
          temporaries_.push_back(packed(view));
          strides = temporaries_.back().strides;
          laid = {address(temporaries_.back(), type), in_space(strides)};
        }
        if (operand.taken) {
          laid.index_stride = strides[0];
          laid.index_extent = own[0];
        }
        return laid;
      }
      case LoopOperand::Kind::block_sums: {
        std::byte* const sums = arena_->data() + block_sums_.front();
        block_sums_ = block_sums_.subspan(1);
        return {sums, in_space(contiguous_strides(own))};
      }
      default: {
        const Value& value = obtain(plan_.first_value[operand.value.index], {type, own});
        return {address(value, type), in_space(value.strides)};
      }
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
        const Value& value = obtain(plan_.first_value[i], result);
        kernels::reduce(Op::sum, {operands[k].base, type, {blocks, count}, {count, 1}}, 1, 0,
                        {address(value, result.dtype), result.dtype, {1, count}, {count, 1}});
      }
    }
  }

  // Memory.

  Value in_arena(std::int64_t offset, const Result& result) const {
    return {arena_, offset / static_cast<std::int64_t>(item_size(result.dtype)),
            contiguous_strides(result.shape)};
  }

  /// Memory for all that the operation gives.
  void obtain_given(const Operation& operation) {
    for_given(plan_, operation, [&](PrimitiveId i, std::uint32_t r) {
      const Result result = values_.result(i, r);
      outputs_.push_back(view_of(obtain(plan_.first_value[i] + r, result), result));
    });
  }

  /// Memory for a value that is about to be written.
  const Value& obtain(std::uint32_t number, const Result& result) {
    Value& value = values_[number];
    if (memory_.offsets[number] != MemoryPlan::outside)
      value = in_arena(memory_.offsets[number], result);
    else if (!overwrite_leaf(number, result)) value = allocate_or_reserved(number, result);
    return value;
  }

  Value allocate_or_reserved(std::uint32_t number, const Result& result) {
    if (!reserved_.empty() && reserved_[number]) return std::move(reserved_[number]);
    return allocate(result);
  }

  /// Whether the value got the memory of a leaf which nobody needs any more.
  bool overwrite_leaf(std::uint32_t number, const Result& result) {
    for (const Operand o : memory_.leaves_to_overwrite(number)) {
      const Value& leaf = trace_.leaves[o.index]->value();
      if (!donated_[o.index] || !is_contiguous(result.shape, leaf.strides) ||
          !leaf.storage->exclusive() || !reserve_rest())
        continue;
      outcome_.overwritten[o.index] = true;
      overwrites_ = true;
      values_[number] = leaf;
      return true;
    }
    return false;
  }

  /// A failure after the first write to a Variable's buffer loses the Variable, so what later
  /// operations give is allocated before. Where that is not possible no such buffer is written.
  bool reserve_rest() {
    if (!reserved_.empty()) return true;
    std::vector<Value> reserved(plan_.value_count);
    try {
      for (std::uint32_t at = at_ + 1; at < plan_.operations.size(); ++at) {
        if (plan_.operations[at].kind == Operation::Kind::view) continue;
        for_given(plan_, plan_.operations[at], [&](PrimitiveId i, std::uint32_t r) {
          const std::uint32_t number = plan_.first_value[i] + r;
          if (memory_.offsets[number] == MemoryPlan::outside)
            reserved[number] = allocate(values_.result(i, r));
        });
      }
    } catch (const std::exception&) {
      return false;
    }
    reserved_ = std::move(reserved);
    return true;
  }

  const Plan& plan_;
  const Primitives& primitives_;
  const MemoryPlan& memory_;
  const Program& program_;
  const Trace& trace_;
  const std::vector<bool>& donated_;
  const Observers observers_;
  LiveValues values_;
  StorageRef arena_;
  std::vector<Value> reserved_;               // outside of the arena
  std::vector<Value> temporaries_;            // of the operation
  std::span<const std::int64_t> block_sums_;  // of the operation, those that are still to be laid
  std::uint32_t at_ = 0;                      // the operation
  bool overwrites_ = false;
  std::vector<ConstView> inputs_;
  std::vector<View> outputs_;
  Outcome outcome_;
};

}  // namespace

std::optional<Outcome> run_plan(const Form& form, const Program& program, const Trace& trace,
                                const std::vector<bool>& donated, Observers observers) {
  return PlanRun(form.lowered->plan, *form.layout, program, trace, donated, observers).run();
}

}  // namespace sinter::jit
