#include "jit/program.h"

#include <algorithm>

#include "jit/fallible.h"
#include "jit/interpret.h"
#include "runtime/results.h"

namespace sinter::jit {
namespace {

/// Handled by the executor itself at every level: the value is another's.
bool aliases_always(Op op) { return op == Op::pick || op == Op::variable; }

EagerKernel choose_kernel(const Node& node, Level level) {
  if (aliases_always(node.op)) return {};
  if (level == Level::interpret) return {interpret};
  return eager_kernel(node.op);
}

/// A size of 0 or 1 means other strides, broadcasting and identities: such sizes are fixed, all
/// others are free.
std::vector<SizeConstraint> constrain_sizes(const Trace& trace) {
  const SizeClasses classes(trace);
  std::vector<SizeConstraint> constraints;
  constraints.reserve(classes.count());
  for (SizeClass i = 0; i < classes.count(); ++i) {
    const Axis axis = classes.representative(i);
    const std::int64_t size = size_of(trace, axis);
    if (size <= 1) {
      constraints.push_back({.axis = axis, .low = size, .high = size});
    } else {
      constraints.push_back({.axis = axis, .low = 2});
    }
  }
  return constraints;
}

/// Values are numbered by step; a value dies after its last reader, or at once without one.
void find_deaths(const Trace& trace, Program& program) {
  std::vector<std::uint32_t> last(trace.steps.size());
  for (std::uint32_t i = 0; i < trace.steps.size(); ++i) {
    last[i] = i;
    for (const Source source : trace.sources_of(i))
      if (!source.leaf) last[source.index] = i;
  }
  program.death.assign(program.value_count, never_dies);
  for (std::uint32_t i = 0; i < trace.steps.size(); ++i) {
    if (trace.kept[i]) continue;
    const ProgramStep& step = program.steps[i];
    for (std::uint32_t value = 0; value < step.value_count; ++value) {
      program.death[step.first_value + value] = last[i];
      program.steps[last[i]].dying.push_back(step.first_value + value);
    }
  }
}

}  // namespace

Program build_program(const Trace& trace, Level level) {
  Program program;
  program.key = trace.key;
  program.constraints = constrain_sizes(trace);
  for (const auto& nodes : {trace.leaves, trace.steps})
    for (const Node* node : nodes)
      program.first_sizes.insert(program.first_sizes.end(), node->shape.begin(), node->shape.end());
  program.steps.reserve(trace.steps.size());
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    const Node& node = *trace.steps[i];
    if (node.payload && node.payload->in_program()) program.payloads.push_back(node.payload);
    const auto count = static_cast<std::uint32_t>(result_count(node));
    program.steps.push_back({choose_kernel(node, level), program.value_count, count, {}});
    program.value_count += count;
    if (can_fail(node)) program.fallible_steps = i + 1;
  }
  find_deaths(trace, program);
  return program;
}

}  // namespace sinter::jit
