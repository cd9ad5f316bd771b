#include "fuzz/call_parts.h"

#include "runtime/creation.h"
#include "runtime/record.h"
#include "runtime/results.h"

namespace sinter::fuzz {
namespace {

void check_slice(const Step& step, const Tensor& a) {
  bool fits = a.rank() == step.shape.rank();
  for (int axis = 0; fits && axis < a.rank(); ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    const std::int64_t first = step.slots[i].integer, length = step.shape[axis];
    const std::int64_t last = first + step.fixed[i] * (length - 1);
    fits = step.fixed[i] != 0 && (length == 0 || (first >= 0 && first < a.shape()[axis] &&
                                                  last >= 0 && last < a.shape()[axis]));
  }
  if (!fits) usage_error("slice", "not inside of " + describe(a), Where::current());
}

}  // namespace

std::optional<Op> forward_of(Op gradient) {
  switch (gradient) {
    case Op::softmax_grad: return Op::softmax;
    case Op::log_softmax_grad: return Op::log_softmax;
    case Op::layer_norm_grad: return Op::layer_norm;
    case Op::rms_norm_grad: return Op::rms_norm;
    case Op::cross_entropy_grad: return Op::cross_entropy;
    case Op::attention_grad: return Op::attention;
    default: return std::nullopt;
  }
}

bool is_node_only(const Step& step) {
  return forward_of(step.op) || step.op == Op::random_uniform || step.op == Op::random_normal ||
         step.op == Op::random_bits;
}

std::vector<bool> given_as_numbers(const Step& step, std::span<const Step* const> operands) {
  std::vector<bool> numbers(operands.size(), false);
  if (info(step.op).kind != OpKind::elementwise || operands.size() < 2) return numbers;
  // The condition of a select is a tensor and does not stand for the dtype.
  const std::size_t typed = info(step.op).rule == Rule::select ? 1 : 0;
  bool beside_tensor = false;
  for (std::size_t i = typed; i < operands.size(); ++i)
    if (!is_number(*operands[i])) beside_tensor = true;
  for (std::size_t i = typed; i < operands.size(); ++i)
    numbers[i] = beside_tensor && is_number(*operands[i]);
  return numbers;
}

Dims reversed_axes(const Step& step, const Shape& of) {
  Dims axes;
  for (int axis = 0; axis < of.rank(); ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    const std::int64_t start = step.slots[i].integer, by = step.fixed[i];
    if (step.shape[axis] != of[axis]) return {};
    if (by == -1 && start == of[axis] - 1) axes.push_back(axis);
    else if (by != 1 || start != 0) return {};
  }
  return axes;
}

std::optional<AxisSlice> as_axis_slice(const Step& step, const Shape& of) {
  std::optional<AxisSlice> found;
  for (int axis = 0; axis < of.rank(); ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    const std::int64_t start = step.slots[i].integer, by = step.fixed[i];
    const std::int64_t length = step.shape[axis];
    if (start == 0 && by == 1 && length == of[axis]) continue;
    if (found) return std::nullopt;
    const std::int64_t stop = start + by * length;
    found = AxisSlice{axis, start, std::nullopt, by};
    if (stop >= 0) found->stop = stop;
    if (length == 0) *found = {axis, 0, 0, 1};
  }
  if (!found && of.rank() > 0) found = AxisSlice{0, 0, of[0], 1};
  return found;
}

Operand number(DType dtype, const Slot& slot) {
  if (dtype == DType::boolean) return slot.integer != 0;
  if (is_floating(dtype)) return slot.real;
  return static_cast<long long>(slot.integer);
}

Operand number_beside(const Step& reader, const Step& constant) {
  // The constants of an op on bools are kept in i64, in which it is computed.
  const bool truth = reader.dtype == DType::boolean && info(reader.op).rule != Rule::predicate &&
                     !is_floating(constant.dtype);
  return number(truth ? DType::boolean : constant.dtype, constant.slots[0]);
}

Tensor constant(const Step& step) {
  return is_floating(step.dtype) ? full(step.shape, step.slots[0].real, step.dtype)
                                 : full_integer(step.shape, step.slots[0].integer, step.dtype);
}

Range range(const Step& step) {
  const auto value = [&](std::size_t i) {
    const Slot& slot = step.slots[i];
    return is_floating(step.dtype) ? slot.real : static_cast<double>(slot.integer);
  };
  // Half a step before the first number that is not in it, so that rounding does not matter.
  const double count = static_cast<double>(step.shape.empty() ? 0 : step.shape[0]);
  return {value(0), value(0) + (count - 0.5) * value(1), value(1)};
}

Dims integers(std::span<const Slot> slots) {
  Dims values;
  for (const Slot& slot : slots) values.push_back(slot.integer);
  return values;
}

Padding padding(const Step& step, const Shape& of) {
  Padding result{integers(std::span(step.slots).subspan(1)), {}, 0};
  for (int axis = 0; axis < of.rank(); ++axis)
    result.after.push_back(step.shape[axis] - of[axis] - result.before[axis]);
  const Slot& value = step.slots[0];
  result.value = is_real_slot(step, 0) ? value.real : static_cast<double>(value.integer);
  return result;
}

std::vector<Tensor> call_node(const Step& step, const CallOperands& operands) {
  std::vector<NodeRef> inputs;
  for (const Tensor& tensor : operands.tensors) inputs.push_back(tensor.ref());
  // Of the operand that it is the gradient of.
  const bool gradient = forward_of(step.op).has_value();
  if (step.op == Op::slice) check_slice(step, operands.tensors[0]);
  const NodeRef node = record({.op = step.op,
                               .dtype = inputs.empty() ? step.dtype : inputs[gradient]->dtype,
                               .shape = gradient ? inputs[1]->shape : step.shape,
                               .inputs = inputs,
                               .fixed = step.fixed,
                               .slots = step.slots,
                               .where = Where::current()});
  if (has_several_results(step.op)) return pick_results(node, Where::current());
  return {Tensor(node)};
}

}  // namespace sinter::fuzz
