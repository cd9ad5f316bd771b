#include "jit/execute.h"

#include <fmt/format.h>

#include "jit/alias.h"
#include "kernels/elementwise.h"
#include "runtime/results.h"

namespace sinter::jit {
namespace {

using kernels::ConstView;
using kernels::View;

Value allocate(const Result& result) {
  const auto count = static_cast<std::size_t>(element_count(result.shape));
  BufferRef buffer = Buffer::allocate(count * item_size(result.dtype));
  return {StorageRef(new Storage(std::move(buffer))), 0, contiguous_strides(result.shape)};
}

std::byte* address(const Value& value, DType dtype) {
  return value.storage->data() + value.offset * static_cast<std::int64_t>(item_size(dtype));
}

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
std::exception_ptr step_error(const Node& node, const std::exception& error) {
  return std::make_exception_ptr(
      Error(fmt::format("{}: {}: {} {} ({})", to_string(node.op), error.what(),
                        to_string(node.dtype), to_string(node.shape), to_string(node.where))));
}

class Execution {
 public:
  Execution(const Program& program, const Trace& trace, const std::vector<bool>& donated)
      : program_(program), trace_(trace), donated_(donated) {
    outcome_.values.resize(program.value_count);
    leaf_last_use_.assign(trace.leaves.size(), 0);
    for (std::size_t i = 0; i < trace.steps.size(); ++i)
      for (const Source source : trace.sources_of(i))
        if (source.leaf) leaf_last_use_[source.index] = i;
  }

  Outcome run() {
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
      try {
        run_step(i);
      } catch (const std::exception& error) {
        // The step fails, as by its data: if it stayed pending, every later read would fail with
        // it.
        outcome_.failure = step_error(*trace_.steps[i], error);
        outcome_.failed_step = i;
      }
      if (outcome_.failure) break;
      for (const std::uint32_t value : program_.steps[i].dying) outcome_.values[value] = {};
    }
    return std::move(outcome_);
  }

 private:
  /// The value number of an operand that is a step with one result.
  std::uint32_t value_number(Source source) const {
    return program_.steps[source.index].first_value;
  }

  const Value& value_of(Source source) const {
    return source.leaf ? trace_.leaves[source.index]->value()
                       : outcome_.values[value_number(source)];
  }

  const Node& node_of(Source source) const {
    return *(source.leaf ? trace_.leaves[source.index] : trace_.steps[source.index]);
  }

  void run_step(std::size_t i) {
    const Node& node = *trace_.steps[i];
    const ProgramStep& step = program_.steps[i];
    const auto sources = trace_.sources_of(i);
    if (node.op == Op::pick) {
      const auto result = static_cast<std::uint32_t>(node.fixed()[0]);
      outcome_.values[step.first_value] = outcome_.values[value_number(sources[0]) + result];
    } else if (!step.kernel.run) {
      run_view(node, step, sources[0]);
    } else {
      run_kernel(i, node, step, sources);
    }
  }

  void run_view(const Node& node, const ProgramStep& step, Source source) {
    const Node& input = node_of(source);
    std::optional<Value> value = alias(node, input.shape, value_of(source));
    if (!value) {
      Value packed = allocate({input.dtype, input.shape});
      kernels::copy(view(source),
                    {address(packed, input.dtype), input.dtype, input.shape, packed.strides});
      value = alias(node, input.shape, packed);
    }
    outcome_.values[step.first_value] = *std::move(value);
  }

  ConstView view(Source source) const {
    const Node& node = node_of(source);
    const Value& value = value_of(source);
    return {address(value, node.dtype), node.dtype, node.shape, value.strides};
  }

  void run_kernel(std::size_t i, const Node& node, const ProgramStep& step,
                  std::span<const Source> sources) {
    inputs_.clear();
    outputs_.clear();
    for (const Source source : sources) inputs_.push_back(view(source));
    const std::vector<Result> expected = results(node);
    if (step.kernel.in_place) donate(i, step, sources, expected);
    for (std::uint32_t r = 0; r < step.value_count; ++r) {
      Value& value = outcome_.values[step.first_value + r];
      const Result& result = expected[r];
      if (!value && i < reserved_.size() && !reserved_[i].empty())
        value = std::move(reserved_[i][r]);
      if (!value) value = allocate(result);
      outputs_.push_back({address(value, result.dtype), result.dtype, result.shape, value.strides});
    }
    kernels::Fault fault;
    step.kernel.run({node, inputs_, outputs_, fault});
    if (fault.set()) {
      outcome_.failure = fault_error(node, fault);
      outcome_.failed_step = i;
    }
  }

  /// Gives results the memory of operands that end here, where dtype and shape are the same.
  void donate(std::size_t i, const ProgramStep& step, std::span<const Source> sources,
              const std::vector<Result>& expected) {
    taken_.assign(sources.size(), false);
    for (std::uint32_t r = 0; r < step.value_count; ++r) {
      for (std::size_t s = 0; s < sources.size(); ++s) {
        const ConstView& input = inputs_[s];
        const bool fits = !taken_[s] && input.dtype == expected[r].dtype &&
                          input.shape == expected[r].shape &&
                          is_contiguous(input.shape, input.strides);
        if (!fits || !ends_at(i, sources[s])) continue;
        taken_[s] = true;
        if (sources[s].leaf) reserve_after(i);
        outcome_.values[step.first_value + r] = value_of(sources[s]);
        break;
      }
    }
  }

  /// Whether the operand's memory may be overwritten by step i.
  bool ends_at(std::size_t i, Source source) const {
    if (source.leaf)
      return donated_[source.index] && leaf_last_use_[source.index] == i &&
             i >= program_.fallible_steps && value_of(source).storage->exclusive();
    return program_.death[value_number(source)] == i && value_of(source).storage->exclusive();
  }

  /// From the first write to a Variable's buffer on nothing may fail, so everything that the later
  /// steps can need is allocated before.
  void reserve_after(std::size_t first) {
    if (!reserved_.empty()) return;
    reserved_.resize(program_.steps.size());
    for (std::size_t i = first + 1; i < program_.steps.size(); ++i) {
      if (!program_.steps[i].kernel.run) continue;
      for (const Result& result : results(*trace_.steps[i]))
        reserved_[i].push_back(allocate(result));
    }
  }

  const Program& program_;
  const Trace& trace_;
  const std::vector<bool>& donated_;
  std::vector<std::size_t> leaf_last_use_;
  std::vector<std::vector<Value>> reserved_;
  // Reused from step to step.
  std::vector<ConstView> inputs_;
  std::vector<View> outputs_;
  std::vector<bool> taken_;
  Outcome outcome_;
};

}  // namespace

Outcome execute(const Program& program, const Trace& trace, const std::vector<bool>& donated) {
  return Execution(program, trace, donated).run();
}

}  // namespace sinter::jit
