#include "fuzz/shrink_moves.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "fuzz/replay.h"
#include "runtime/results.h"

namespace sinter::fuzz {
namespace {

/// The same Script whose readers of step `from` read step `to`.
Script redirected(Script script, std::size_t from, std::size_t to) {
  for (std::size_t i = from + 1; i < script.steps.size(); ++i)
    for (std::size_t& operand : script.steps[i].operands)
      if (operand == from) operand = to;
  for (std::size_t& output : script.outputs)
    if (output == from) output = to;
  return script;
}

bool alike(const Step& a, const Step& b) { return a.dtype == b.dtype && a.shape == b.shape; }

bool is_read(const Script& script, std::size_t step) {
  for (const Step& reader : script.steps)
    if (std::find(reader.operands.begin(), reader.operands.end(), step) != reader.operands.end())
      return true;
  return std::find(script.outputs.begin(), script.outputs.end(), step) != script.outputs.end();
}

/// Steps that can become a leaf: not those whose results are picked, and no leaves.
bool can_be_leaf(const Step& step) {
  if (step.kind == StepKind::leaf || is_number(step)) return false;
  return step.kind != StepKind::op || !has_several_results(step.op);
}

/// A step that reads a Variable stays one to gradients.
Step leaf_for(const Step& step, std::size_t number) {
  Contents contents;
  contents.seed = number;
  if (!is_floating(step.dtype)) contents.low = 0, contents.high = 1;
  return make_leaf(step.dtype, step.shape, contents);
}

/// The steps of [first, first + count) that can be leaves as such, with their own values if given.
Script cut(const Script& script, std::size_t first, std::size_t count,
           const std::vector<Reading>& values) {
  Script candidate = script;
  for (std::size_t i = first; i < std::min(first + count, script.steps.size()); ++i) {
    if (!can_be_leaf(script.steps[i])) continue;
    Step leaf = leaf_for(script.steps[i], i);
    if (i < values.size() && values[i].error.empty()) leaf.contents.given = values[i].bytes;
    candidate.steps[i] = leaf;
  }
  return candidate;
}

}  // namespace

bool drop_outputs(const Script& script, const Accept& accept) {
  const std::size_t count = script.outputs.size();
  for (std::size_t length = 1; count > 1 && length < count; length *= 2) {
    for (std::size_t first = 0; first < count; first += length) {
      Script candidate = script;
      const auto begin = script.outputs.begin() + static_cast<std::ptrdiff_t>(first);
      const auto end =
          script.outputs.begin() + static_cast<std::ptrdiff_t>(std::min(first + length, count));
      candidate.outputs.assign(begin, end);
      if (accept(candidate)) return true;
    }
  }
  for (std::size_t i = 0; count > 1 && i < count; ++i) {
    Script candidate = script;
    candidate.outputs.erase(candidate.outputs.begin() + static_cast<std::ptrdiff_t>(i));
    if (accept(candidate)) return true;
  }
  return false;
}

bool advance_outputs(const Script& script, const Accept& accept) {
  for (std::size_t i = 0; i < script.outputs.size(); ++i) {
    for (const std::size_t operand : script.steps[script.outputs[i]].operands) {
      Script candidate = script;
      candidate.outputs[i] = operand;
      if (accept(candidate)) return true;
    }
  }
  return false;
}

bool cut_steps(const Script& script, const Accept& accept) {
  const std::size_t count = script.steps.size();
  const auto any = [&](std::size_t first, std::size_t length) {
    for (std::size_t i = first; i < std::min(first + length, count); ++i)
      if (can_be_leaf(script.steps[i]) && is_read(script, i)) return true;
    return false;
  };
  std::vector<Reading> own;
  for (std::size_t length = count / 2; length >= 1; length /= 2)
    for (std::size_t first = 0; first < count; first += length)
      if (any(first, length) && accept(cut(script, first, length, {}))) return true;
  const std::vector<Reading> values = run_all(script);
  for (std::size_t length = count / 2; length >= 1; length /= 2)
    for (std::size_t first = 0; first < count; first += length)
      if (any(first, length) && accept(cut(script, first, length, values))) return true;
  return false;
}

bool bypass_steps(const Script& script, const Accept& accept) {
  for (std::size_t i = script.steps.size(); i-- > 0;) {
    const Step& step = script.steps[i];
    const bool acts = step.kind == StepKind::assign || step.kind == StepKind::evaluate;
    if (acts || !is_read(script, i)) continue;
    // An operand of another dtype or shape is likely to be refused, but leads further.
    std::vector<std::size_t> operands = step.operands;
    std::stable_partition(operands.begin(), operands.end(),
                          [&](std::size_t operand) { return alike(script.steps[operand], step); });
    for (const std::size_t operand : operands)
      if (accept(redirected(script, i, operand))) return true;
  }
  return false;
}

bool drop_effects(const Script& script, const Accept& accept) {
  for (std::size_t i = script.steps.size(); i-- > 0;) {
    const Step& step = script.steps[i];
    if (step.kind != StepKind::assign && step.kind != StepKind::evaluate) continue;
    const std::size_t value = step.operands.back();
    Script candidate = redirected(script, i, value);
    // Nobody reads it, so pruning takes it away.
    candidate.steps[i] = make_leaf(step.dtype, step.shape, {});
    if (accept(candidate)) return true;
    // The effect may be all that asks for what fails.
    candidate.outputs = {value};
    if (accept(candidate)) return true;
  }
  return false;
}

bool merge_leaves(const Script& script, const Accept& accept) {
  for (std::size_t i = script.steps.size(); i-- > 0;) {
    const Step& leaf = script.steps[i];
    if (leaf.kind != StepKind::leaf) continue;
    for (std::size_t j = 0; j < i; ++j)
      if (script.steps[j].kind == StepKind::leaf && alike(script.steps[j], leaf) &&
          accept(redirected(script, i, j)))
        return true;
  }
  return false;
}

bool shrink_sizes(const Script& script, const Accept& accept) {
  std::set<std::int64_t, std::greater<>> sizes;
  for (const Step& step : script.steps)
    for (const std::int64_t size : step.shape)
      if (size >= 2) sizes.insert(size);
  std::set<std::int64_t, std::greater<>> units = sizes;
  for (const std::int64_t size : sizes)
    for (std::int64_t divisor = 2; divisor * divisor <= size && divisor < 100; ++divisor)
      if (size % divisor == 0) units.insert({divisor, size / divisor});
  for (const std::int64_t unit : units) {
    std::set<std::int64_t> smaller{1, 2, 3, 4, unit / 4, unit / 2, unit - unit / 4, unit - 1};
    for (const std::int64_t size : smaller)
      if (size >= 1 && size < unit && accept(resized(script, unit, size))) return true;
  }
  return false;
}

bool simplify_dtypes(const Script& script, const Accept& accept) {
  const auto changed = [&](DType from, DType to) {
    Script candidate = script;
    bool any = false;
    for (Step& step : candidate.steps) {
      const bool chosen = step.kind == StepKind::leaf || step.op == Op::cast ||
                          (info(step.op).kind == OpKind::generator && !is_number(step));
      if (!chosen || step.dtype != from) continue;
      any = true;
      if (step.op == Op::constant && is_floating(from) != is_floating(to)) step.slots[0] = {};
      step.dtype = to;
      step.contents.given.clear();
    }
    return any && accept(candidate);
  };
  for (const DType from : {boolean, u8, f16, bf16, f64, i32, i64})
    for (const DType to : {f32, i64})
      if (from != to && changed(from, to)) return true;
  return false;
}

bool simplify_leaves(const Script& script, const Accept& accept) {
  for (std::size_t i = 0; i < script.steps.size(); ++i) {
    const Step& leaf = script.steps[i];
    if (leaf.kind != StepKind::leaf) continue;
    const auto with = [&](const auto& change) {
      Script candidate = script;
      change(candidate.steps[i]);
      return accept(candidate);
    };
    if (leaf.variable && with([](Step& step) { step.variable = false; })) return true;
    if (!leaf.strides.empty() && with([](Step& step) { step.strides = {}; })) return true;
    if (leaf.contents.specials != 0 && with([](Step& step) { step.contents.specials = 0; }))
      return true;
    const bool plain = leaf.contents.low == 1 && leaf.contents.high == 1;
    if (!leaf.contents.given.empty() && with([](Step& step) { step.contents.given.clear(); }))
      return true;
    const auto constant = [](Step& step) {
      step.contents = {};
      step.contents.low = step.contents.high = 1;
    };
    if (!plain && with(constant)) return true;
  }
  return false;
}

bool simplify_numbers(const Script& script, const Accept& accept) {
  for (std::size_t i = 0; i < script.steps.size(); ++i) {
    const Step& step = script.steps[i];
    if (step.kind != StepKind::op || step.op != Op::constant) continue;
    for (const int number : {0, 1}) {
      Script candidate = script;
      Slot& slot = candidate.steps[i].slots[0];
      const bool real = is_floating(step.dtype);
      if (real ? slot.real == number : slot.integer == number) break;
      slot = real ? real_slot(number) : integer_slot(number);
      if (accept(candidate)) return true;
    }
  }
  return false;
}

}  // namespace sinter::fuzz
