#include "jit/execute.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "jit/map_readers.h"
#include "jit/value_memory.h"
#include "runtime/results.h"

namespace sinter::jit {
namespace {

using kernels::ConstView;
using kernels::View;

/// What a fault means to the user, with the lines of the call that recorded the step.
std::exception_ptr fault_error(const Node& node, const kernels::Fault& fault) {
  std::string problem = "integer division by zero";
  if (fault.kind() == kernels::FaultKind::index_out_of_range)
    problem = fmt::format("index {} is out of range for {}, at element {} of the indices",
                          fault.value(), fault.limit(), fault.position());
  else if (fault.value() < 0) problem = fmt::format("an integer to the power of {}", fault.value());
  const CallScope call(node.user);  // those that were open then have ended
  try {
    usage_error(to_string(node.op), problem, node.where);
  } catch (const UsageError&) {
    return std::current_exception();
  }
}

/// What a kernel or an allocation threw, with the op, the result and the user's line.
std::exception_ptr step_error(const Node& node, const std::exception& error) noexcept {
  try {
    return std::make_exception_ptr(
        Error(fmt::format("{}: {}: {} {} ({})", to_string(node.op), error.what(),
                          to_string(node.dtype), to_string(node.shape), to_string(node.where))));
  } catch (const std::exception&) {  // no memory for the message either
    return std::current_exception();
  }
}

class Execution {
 public:
  Execution(const Program& program, const Trace& trace, const std::vector<bool>& donated,
            Observers observers)
      : program_(program), trace_(trace), donated_(donated), observers_(observers) {
    outcome_.values.resize(program.value_count);
    outcome_.failures.resize(trace.steps.size());
    outcome_.fresh.assign(trace.steps.size(), false);
    outcome_.overwritten.assign(trace.leaves.size(), false);
    // A Variable that is written with a failed value goes back to its old one.
    for (const Node* leaf : trace.leaves)
      if (leaf->state() == NodeState::failed) donating_ = false;
    leaf_last_use_.assign(trace.leaves.size(), 0);
    for (std::size_t i = 0; i < trace.steps.size(); ++i)
      for (const Source source : trace.sources_of(i))
        if (source.leaf) leaf_last_use_[source.index] = i;
  }

  Outcome run() {
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
      const ProgramStep& step = program_.steps[i];
      if (!inherit_failure(i)) {
        try {
          run_step(i);
          if (!observers_.empty()) show(i);
        } catch (const std::exception& error) {
          fail(i, step_error(*trace_.steps[i], error));
        }
      }
      if (outcome_.failures[i])
        for (std::uint32_t r = 0; r < step.value_count; ++r)
          outcome_.values[step.first_value + r] = {};
      for (const std::uint32_t value : step.dying) outcome_.values[value] = {};
    }
    return std::move(outcome_);
  }

 private:
  void fail(std::size_t i, std::exception_ptr failure) {
    if (!outcome_.first_fresh) outcome_.first_fresh = failure;
    outcome_.failures[i] = std::move(failure);
    outcome_.fresh[i] = true;
    donating_ = false;
  }

  /// Fails the step if something that it reads has failed, and says whether it does. A failure of
  /// this run comes before an older one.
  bool inherit_failure(std::size_t i) {
    std::exception_ptr& own = outcome_.failures[i];
    for (const Source source : trace_.sources_of(i)) {
      if (source.leaf) {
        const Node& leaf = *trace_.leaves[source.index];
        if (!own && leaf.state() == NodeState::failed) own = leaf.failure();
      } else if (outcome_.failures[source.index] && (!own || outcome_.fresh[source.index])) {
        own = outcome_.failures[source.index];
        if (outcome_.fresh[source.index]) outcome_.fresh[i] = true;
        if (outcome_.fresh[i]) break;
      }
    }
    return own != nullptr;
  }

  /// The value number of an operand that is a step with one result.
  std::uint32_t value_number(Source source) const {
    return program_.steps[source.index].first_value;
  }

  const Value& value_of(Source source) const {
    return source.leaf ? trace_.leaves[source.index]->value()
                       : outcome_.values[value_number(source)];
  }

  void run_step(std::size_t i) {
    const Node& node = *trace_.steps[i];
    const ProgramStep& step = program_.steps[i];
    const auto sources = trace_.sources_of(i);
    if (node.op == Op::pick) {
      const auto result = static_cast<std::uint32_t>(node.fixed()[0]);
      outcome_.values[step.first_value] = outcome_.values[value_number(sources[0]) + result];
    } else if (!step.kernel.run) {
      outcome_.values[step.first_value] = seen(node, view(sources[0]), value_of(sources[0]));
    } else {
      run_kernel(i, node, step, sources);
    }
  }

  ConstView view(Source source) const { return view_of(value_of(source), trace_.node(source)); }

  /// Shows the observers what the step gave.
  void show(std::size_t i) {
    if (outcome_.failures[i]) return;
    const Node& node = *trace_.steps[i];
    std::vector<ConstView> results;
    for (std::uint32_t r = 0; r < program_.steps[i].value_count; ++r)
      results.push_back(
          view_of(outcome_.values[program_.steps[i].first_value + r], result_of(node, r)));
    for (Observer* const observer : observers_)
      if (auto failure = observer->after_step(i, results); failure && !outcome_.failures[i])
        fail(i, std::move(failure));
  }

  void run_kernel(std::size_t i, const Node& node, const ProgramStep& step,
                  std::span<const Source> sources) {
    inputs_.clear();
    outputs_.clear();
    for (const Source source : sources) inputs_.push_back(view(source));
    if (step.kernel.in_place == InPlace::any_input) donate_any(i, node, step, sources);
    if (step.kernel.in_place == InPlace::own_position) donate_own_position(i, node, step, sources);
    for (std::uint32_t r = 0; r < step.value_count; ++r) {
      Value& value = outcome_.values[step.first_value + r];
      const Result result = result_of(node, r);
      if (!value && !reserved_.empty() && !reserved_[i].empty()) value = std::move(reserved_[i][r]);
      if (!value) value = allocate(result);
      outputs_.push_back(view_of(value, result));
    }
    ++outcome_.kernels;
    kernels::Fault fault;
    step.kernel.run({node, inputs_, outputs_, fault});
    if (fault.set()) fail(i, fault_error(node, fault));
  }

  /// Gives the result the memory of any operand that ends here.
  void donate_any(std::size_t i, const Node& node, const ProgramStep& step,
                  std::span<const Source> sources) {
    const Result result = result_of(node, 0);
    for (std::size_t s = 0; s < sources.size(); ++s)
      if (donate(i, sources[s], inputs_[s], step.first_value, result)) return;
  }

  /// Gives the results at a position the memory of the lists at that position, where it ends here
  /// and no other position reads it: positions are computed one after the other.
  void donate_own_position(std::size_t i, const Node& node, const ProgramStep& step,
                           std::span<const Source> sources) {
    const auto lists = static_cast<std::size_t>(node.fixed()[0]);
    const auto length = static_cast<std::size_t>(node.fixed()[1]);
    const std::vector<bool> several = read_by_others(sources, sources, lists, length);
    for (std::uint32_t r = 0; r < step.value_count; ++r) {
      const Result result = result_of(node, r);
      for (std::size_t list = 0; list < lists; ++list) {
        const std::size_t s = list * length + r % length;
        if (!several[s] && donate(i, sources[s], inputs_[s], step.first_value + r, result)) break;
      }
    }
  }

  /// Gives a result the memory of an operand if that may be overwritten by step i and fits.
  bool donate(std::size_t i, Source source, const ConstView& input, std::uint32_t number,
              const Result& result) {
    if (input.dtype != result.dtype || !(input.shape == result.shape) ||
        !is_contiguous(input.shape, input.strides) || !value_of(source).storage->exclusive())
      return false;
    if (source.leaf) {
      if (!donated_[source.index] || leaf_last_use_[source.index] != i ||
          i < program_.fallible_steps || !donating_ || !reserve_after(i))
        return false;
      outcome_.overwritten[source.index] = true;
    } else if (program_.death[value_number(source)] != i) {
      return false;
    }
    outcome_.values[number] = value_of(source);
    return true;
  }

  /// A failure after the first write to a Variable's buffer loses the Variable, so the results of
  /// the later steps are allocated before. Where that is not possible no such buffer is written.
  bool reserve_after(std::size_t first) {
    if (!reserved_.empty()) return true;
    std::vector<std::vector<Value>> reserved(program_.steps.size());
    try {
      for (std::size_t i = first + 1; i < program_.steps.size(); ++i) {
        if (!program_.steps[i].kernel.run) continue;
        for (std::uint32_t r = 0; r < program_.steps[i].value_count; ++r)
          reserved[i].push_back(allocate(result_of(*trace_.steps[i], r)));
      }
    } catch (const std::exception&) {
      donating_ = false;
      return false;
    }
    reserved_ = std::move(reserved);
    return true;
  }

  const Program& program_;
  const Trace& trace_;
  const std::vector<bool>& donated_;
  const Observers observers_;
  std::vector<std::size_t> leaf_last_use_;
  std::vector<std::vector<Value>> reserved_;
  bool donating_ = true;  // whether buffers of Variables may be overwritten
  // Reused from step to step.
  std::vector<ConstView> inputs_;
  std::vector<View> outputs_;
  Outcome outcome_;
};

}  // namespace

Outcome execute(const Program& program, const Trace& trace, const std::vector<bool>& donated,
                Observers observers) {
  return Execution(program, trace, donated, observers).run();
}

}  // namespace sinter::jit
