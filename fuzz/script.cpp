#include "fuzz/script.h"

#include <fmt/format.h>

#include <algorithm>

#include "jit/trace_file.h"

namespace sinter::fuzz {
namespace {

/// How many operands, fixed attributes and slots an op takes; -1 where that varies.
struct Arity {
  int operands, fixed, slots;
};

Arity arity_of(Op op, const Step& step) {
  const int rank = step.shape.rank();
  switch (op) {
    case Op::constant: return {0, 0, 1};
    case Op::arange:
    case Op::random_uniform:
    case Op::random_normal:
    case Op::random_bits: return {0, 0, 2};
    case Op::reshape: return {1, -1, 0};
    case Op::expand:
    case Op::detach:
    case Op::cast:
    case Op::variable: return {1, 0, 0};
    case Op::custom_gradient: return {-1, 0, 0};
    case Op::permute: return {1, rank, 0};
    case Op::slice: return {1, rank, rank};
    case Op::slice_update: return {2, -1, -1};
    case Op::pad: return {1, 0, rank + 1};
    case Op::pick: return {1, 1, 0};
    case Op::concatenate: return {-1, 1, 0};
    case Op::take:
    case Op::gather: return {2, 1, 0};
    case Op::index_add:
    case Op::scatter_add: return {3, 1, 0};
    case Op::sort:
    case Op::topk:
    case Op::var: return {1, 2, 0};
    case Op::matmul: return {2, 0, 0};
    case Op::softmax_grad:
    case Op::log_softmax_grad: return {2, 1, 0};
    case Op::linear: return {-1, 3, 0};
    case Op::attention:
    case Op::attention_grad: return {-1, 3, 4};
    case Op::layer_norm:
    case Op::layer_norm_grad: return {-1, 3, 1};
    case Op::rms_norm:
    case Op::rms_norm_grad: return {-1, 2, 1};
    case Op::cross_entropy:
    case Op::cross_entropy_grad: return {-1, 2, 2};
    case Op::dropout: return {1, 0, 3};
    case Op::foreach_map: return {-1, 3, -1};
    default: break;
  }
  if (info(op).kind == OpKind::elementwise) return {info(op).arity, 0, 0};
  return {1, 1, 0};  // reductions over a mask or an axis, softmax, cumsum
}

/// How many operands stand for sure, of the ops whose attributes tell.
int expected_operands(const Step& step) {
  const auto flag = [&](std::size_t i) { return static_cast<int>(step.fixed[i] != 0); };
  switch (step.op) {
    case Op::linear: return 2 + flag(1) + flag(2);
    case Op::attention: return 3 + flag(1);
    case Op::attention_grad: return 4 + flag(1);
    case Op::layer_norm: return 1 + flag(1) + flag(2);
    case Op::layer_norm_grad: return 2 + flag(1) + flag(2);
    case Op::rms_norm: return 1 + flag(1);
    case Op::rms_norm_grad:
    case Op::cross_entropy: return 2 + flag(1);
    case Op::cross_entropy_grad: return 3 + flag(1);
    case Op::foreach_map:
      return static_cast<int>(step.fixed[0] * step.fixed[1]) +
             static_cast<int>(step.body->shared_dtypes.size());
    default: return static_cast<int>(step.operands.size());
  }
}

bool fits_body(const Step& step) {
  return step.body && step.fixed[0] == step.body->lists && step.fixed[1] > 0 &&
         step.fixed[2] == static_cast<std::int64_t>(step.body->results.size()) &&
         step.slots.size() == step.body->number_dtypes.size();
}

bool fits_op(const Step& step) {
  const Arity arity = arity_of(step.op, step);
  const auto agrees = [](int wanted, std::size_t got) {
    return wanted < 0 || static_cast<std::size_t>(wanted) == got;
  };
  if (step.op == Op::data || !agrees(arity.operands, step.operands.size()) ||
      !agrees(arity.fixed, step.fixed.size()) || !agrees(arity.slots, step.slots.size()))
    return false;
  if (step.op == Op::foreach_map && !fits_body(step)) return false;
  const bool any_operand = info(step.op).kind == OpKind::generator || !step.operands.empty();
  return any_operand && expected_operands(step) == static_cast<int>(step.operands.size());
}

bool fits_kind(const Script& script, const Step& step) {
  switch (step.kind) {
    case StepKind::leaf: return step.operands.empty();
    case StepKind::op: return fits_op(step);
    case StepKind::gradient: return step.operands.size() == 2;
    case StepKind::assign:
      return step.operands.size() == 2 && script.steps[step.operands[0]].variable;
    default: return step.operands.size() == 1;
  }
}

/// Strides of another shape in the same manner: the order of the axes in memory, gaps, directions
/// and repetitions stay.
Strides relaid(const Strides& strides, const Shape& before, const Shape& after) {
  std::vector<int> axes;
  for (int axis = 0; axis < strides.rank(); ++axis)
    if (strides[axis] != 0) axes.push_back(axis);
  std::stable_sort(axes.begin(), axes.end(),
                   [&](int a, int b) { return std::abs(strides[a]) < std::abs(strides[b]); });
  Strides result = Strides::filled(strides.rank(), 0);
  std::int64_t packed_before = 1, packed = 1;
  for (const int axis : axes) {
    const std::int64_t gap = std::max<std::int64_t>(std::abs(strides[axis]) - packed_before, 0);
    result[axis] = (packed + gap) * (strides[axis] < 0 ? -1 : 1);
    packed_before = std::abs(strides[axis]) * std::max<std::int64_t>(before[axis], 1);
    packed = (packed + gap) * std::max<std::int64_t>(after[axis], 1);
  }
  return result;
}

}  // namespace

bool is_real_slot(const Step& step, std::size_t slot) {
  return jit::is_real_slot(step.op, step.dtype, step.body.get(), slot);
}

bool is_number(const Step& step) {
  return step.kind == StepKind::op && step.op == Op::constant && step.shape.empty();
}

std::optional<std::string> find_flaw(const Script& script) {
  for (std::size_t i = 0; i < script.steps.size(); ++i) {
    const Step& step = script.steps[i];
    for (const std::size_t operand : step.operands)
      if (operand >= i) return fmt::format("step {} reads step {}", i, operand);
    if (!fits_kind(script, step))
      return fmt::format("step {}, {}: operands or attributes are missing or too many", i,
                         to_string(step.op));
  }
  for (const std::size_t output : script.outputs)
    if (output >= script.steps.size()) return fmt::format("there is no step {} to read", output);
  return std::nullopt;
}

std::vector<std::size_t> written_leaves(const Script& script) {
  std::vector<std::size_t> leaves;
  for (const Step& step : script.steps)
    if (step.kind == StepKind::assign &&
        std::find(leaves.begin(), leaves.end(), step.operands[0]) == leaves.end())
      leaves.push_back(step.operands[0]);
  return leaves;
}

Script pruned(const Script& script) {
  std::vector<bool> needed(script.steps.size(), false);
  for (const std::size_t output : script.outputs) needed[output] = true;
  for (std::size_t i = script.steps.size(); i-- > 0;) {
    const Step& step = script.steps[i];
    if (step.kind == StepKind::assign || step.kind == StepKind::evaluate) needed[i] = true;
    if (!needed[i]) continue;
    for (const std::size_t operand : step.operands) needed[operand] = true;
  }
  Script rest;
  std::vector<std::size_t> place(script.steps.size(), 0);
  for (std::size_t i = 0; i < script.steps.size(); ++i) {
    if (!needed[i]) continue;
    place[i] = rest.steps.size();
    rest.steps.push_back(script.steps[i]);
    for (std::size_t& operand : rest.steps.back().operands) operand = place[operand];
  }
  for (const std::size_t output : script.outputs) rest.outputs.push_back(place[output]);
  return rest;
}

Script resized(const Script& script, std::int64_t from, std::int64_t to) {
  Script other = script;
  const auto change = [&](std::int64_t& size) {
    if (size != 0 && size % from == 0) size = size / from * to;
  };
  for (Step& step : other.steps) {
    const Shape before = step.shape;
    for (int axis = 0; axis < step.shape.rank(); ++axis) change(step.shape[axis]);
    if (step.kind != StepKind::leaf || step.shape == before) continue;
    step.strides = relaid(step.strides, before, step.shape);
    step.contents.given.clear();
  }
  // Indices are drawn below the size that they are for.
  for (Step& step : other.steps) {
    const bool index = step.kind == StepKind::leaf && is_integral(step.dtype) &&
                       step.contents.low == 0 && step.contents.given.empty();
    if (!index) continue;
    auto limit = static_cast<std::int64_t>(step.contents.high) + 1;
    change(limit);
    step.contents.high = static_cast<double>(limit - 1);
  }
  return other;
}

Step make_leaf(DType dtype, const Shape& shape, const Contents& contents) {
  Step step;
  step.kind = StepKind::leaf;
  step.dtype = dtype;
  step.shape = shape;
  step.contents = contents;
  return step;
}

Step make_op(Op op, std::vector<std::size_t> operands, std::vector<std::int64_t> fixed,
             std::vector<Slot> slots) {
  Step step;
  step.op = op;
  step.operands = std::move(operands);
  step.fixed = std::move(fixed);
  step.slots = std::move(slots);
  return step;
}

}  // namespace sinter::fuzz
