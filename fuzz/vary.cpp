#include "fuzz/vary.h"

#include <set>

#include "fuzz/replay.h"
#include "runtime/error.h"

namespace sinter::fuzz {
namespace {

/// A slice one place further where it fits.
void move_slice(Step& step, const Shape& of) {
  for (int axis = 0; axis < of.rank(); ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    const std::int64_t length = step.shape[axis], first = step.slots[i].integer + 1;
    const std::int64_t last = first + (length - 1) * step.fixed[i];
    if (length > 0 && first < of[axis] && last >= 0 && last < of[axis])
      step.slots[i].integer = first;
  }
}

/// What stood before stands after.
void turn_pad(Step& step, const Shape& of) {
  for (int axis = 0; axis < of.rank(); ++axis) {
    Slot& before = step.slots[static_cast<std::size_t>(axis) + 1];
    before.integer = step.shape[axis] - of[axis] - before.integer;
  }
}

/// Seed and draw of random numbers follow the real numbers.
void change_numbers(Step& step) {
  for (std::size_t i = 0; i < step.slots.size(); ++i) {
    Slot& slot = step.slots[i];
    if (is_real_slot(step, i)) slot.real = slot.real * 0.5 + (step.op == Op::constant ? 0.125 : 0);
    else slot.integer += 1;
  }
}

}  // namespace

std::optional<Script> with_other_sizes(const Script& script) {
  std::set<std::int64_t> sizes;
  for (const Step& step : script.steps)
    for (const std::int64_t size : step.shape)
      if (size >= 2) sizes.insert(size);
  for (const std::int64_t size : sizes) {
    for (const std::int64_t other : {size + 1, size * 2 + 1, size * 2, size - 1}) {
      if (other < 2) continue;
      try {
        return inferred(resized(script, size, other));
      } catch (const UsageError&) {
        // Some other size goes with this one.
      }
    }
  }
  return std::nullopt;
}

Script with_other_numbers(const Script& script) {
  Script other = script;
  for (Step& step : other.steps) {
    if (step.kind != StepKind::op) continue;
    switch (step.op) {
      case Op::slice: move_slice(step, other.steps[step.operands[0]].shape); break;
      case Op::pad: turn_pad(step, other.steps[step.operands[0]].shape); break;
      case Op::constant:
        if (is_floating(step.dtype)) change_numbers(step);
        break;
      case Op::cross_entropy:
      case Op::cross_entropy_grad: step.slots[1].real *= 0.5; break;
      case Op::slice_update:
      case Op::arange:
      case Op::foreach_map: break;
      default: change_numbers(step);
    }
  }
  return other;
}

}  // namespace sinter::fuzz
