#include "jit/eager.h"
#include "kernels/generate.h"

namespace sinter::jit {

void run_constant(const Step& step) {
  const Slot value = step.node.slots()[0];
  if (is_floating(step.node.dtype)) kernels::fill(value.real, step.outputs[0]);
  else kernels::fill_integer(value.integer, step.outputs[0]);
}

void run_arange(const Step& step) {
  const Slot start = step.node.slots()[0], by = step.node.slots()[1];
  if (is_floating(step.node.dtype)) kernels::arange(start.real, by.real, step.outputs[0]);
  else kernels::arange_integer(start.integer, by.integer, step.outputs[0]);
}

void run_random(const Step& step) {
  const auto slots = step.node.slots();
  kernels::random(step.node.op, static_cast<std::uint64_t>(slots[0].integer),
                  static_cast<std::uint64_t>(slots[1].integer), step.outputs[0]);
}

}  // namespace sinter::jit
