#include "runtime/elementwise.h"

#include <fmt/format.h>

#include <array>

#include "runtime/attributes.h"
#include "runtime/record.h"
#include "runtime/variable.h"

namespace sinter {
namespace {

std::string describe_operands(std::span<const Operand> operands) {
  std::string text;
  for (const Operand& operand : operands) {
    if (!text.empty()) text += ", ";
    text += operand.kind() == Operand::Kind::tensor ? describe(operand.tensor()) : "number";
  }
  return text;
}

Shape broadcast_shape(std::string_view op, std::span<const Operand> operands, Where at) {
  Shape shape;
  for (const Operand& operand : operands) {
    if (operand.kind() != Operand::Kind::tensor) continue;
    const std::optional<Shape> joined = broadcast(shape, operand.tensor().shape());
    if (!joined) usage_error(op, "shapes do not broadcast: " + describe_operands(operands), at);
    shape = *joined;
  }
  return shape;
}

/// The dtype the operands are brought to. \throws UsageError where the op has no meaning in it.
DType operand_dtype(Op op, std::span<const Operand> operands, Where at) {
  const OpInfo& row = info(op);
  const auto values = row.rule == Rule::select ? operands.subspan(1) : operands;
  // Numbers alone on both sides of a where: their own dtype.
  const DType common = common_dtype(values);
  switch (row.rule) {
    case Rule::floating: return is_floating(common) ? common : DType::f32;
    case Rule::bitwise:
      if (is_floating(common))
        usage_error(row.name, "takes integers and bool, not " + describe_operands(operands), at);
      return common;
    default:
      if (common == DType::boolean && (op == Op::neg || op == Op::sub))
        usage_error(row.name, "has no meaning for bool; logical_not or logical_xor may be meant",
                    at);
      return common;
  }
}

Tensor record_elementwise(Op op, std::span<const Operand> operands, Where at) {
  const OpInfo& row = info(op);
  bool any_tensor = false;
  for (const Operand& operand : operands) {
    if (operand.kind() != Operand::Kind::tensor) continue;
    require_defined(row.name, operand.tensor(), at);
    any_tensor = true;
  }
  if (!any_tensor) usage_error(row.name, "no operand is a tensor", at);
  const Shape shape = broadcast_shape(row.name, operands, at);
  const DType dtype = operand_dtype(op, operands, at);
  // ~true is -2 in integers, which as a bool would be true again.
  if (op == Op::bitwise_not && dtype == DType::boolean) op = Op::logical_not;

  std::array<NodeRef, 3> inputs;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (row.rule == Rule::select && i == 0) {
      const Operand& condition = operands[0];
      if (condition.kind() != Operand::Kind::tensor || condition.tensor().dtype() != DType::boolean)
        usage_error(row.name, "the condition must be bool: " + describe_operands(operands), at);
      inputs[0] = condition.tensor().ref();
    } else {
      inputs[i] = as_input(operands[i], dtype, at);
    }
  }
  return record_op({.op = op,
                    .dtype = row.rule == Rule::predicate ? DType::boolean : dtype,
                    .shape = shape,
                    .inputs = {inputs.data(), operands.size()},
                    .where = at});
}

}  // namespace

#define SINTER_UNARY(name, ...)                             \
  Tensor name(const Tensor& a, Where at) {                  \
    const Operand operand(a, at);                           \
    return record_elementwise(Op::name, {&operand, 1}, at); \
  }
#define SINTER_BINARY(name, ...)                           \
  Tensor name(Operand a, Operand b, Where at) {            \
    const std::array operands{std::move(a), std::move(b)}; \
    return record_elementwise(Op::name, operands, at);     \
  }
#define SINTER_TERNARY(name, ...)                                        \
  Tensor name(Operand a, Operand b, Operand c, Where at) {               \
    const std::array operands{std::move(a), std::move(b), std::move(c)}; \
    return record_elementwise(Op::name, operands, at);                   \
  }
#include "runtime/ops.def"

Operand::Operand(const Variable& variable, Where where)
    : tensor_(variable.value(where)), where_(where) {}

// NOLINTNEXTLINE(performance-unnecessary-value-param): as in every function of operands
Tensor clamp(const Tensor& a, Operand low, Operand high, Where at) {
  require_defined("clamp", a, at);
  // Not by minimum and maximum alone: at a limit the whole gradient is that of `a`.
  const Tensor raised = where(greater_equal(a, low, at), a, maximum(a, low, at), at);
  return where(less_equal(raised, high, at), raised, minimum(raised, high, at), at);
}

Tensor lerp(const Tensor& start, const Tensor& end, Operand weight, Where at) {
  require_defined("lerp", start, at);
  require_defined("lerp", end, at);
  return add(start, mul(std::move(weight), sub(end, start, at), at), at);
}

Tensor leaky_relu(const Tensor& a, double slope, Where at) {
  require_defined("leaky_relu", a, at);
  return where(greater(a, 0, at), a, mul(a, slope, at), at);
}

Tensor elu(const Tensor& a, double alpha, Where at) {
  require_defined("elu", a, at);
  // The branch not taken must not overflow: its gradient would be inf * 0.
  const Tensor negative = mul(expm1(minimum(a, 0, at), at), alpha, at);
  return where(greater(a, 0, at), a, negative, at);
}

Tensor cast(const Tensor& a, DType dtype, Where at) {
  require_defined("cast", a, at);
  return in_dtype(a, dtype, at);
}

// NOLINTBEGIN(performance-unnecessary-value-param): as in every function of operands
Tensor operator-(Operand a) { return neg(a.tensor(), a.where()); }
Tensor operator!(Operand a) { return logical_not(a.tensor(), a.where()); }
Tensor operator~(Operand a) { return bitwise_not(a.tensor(), a.where()); }
// NOLINTEND(performance-unnecessary-value-param)

#define SINTER_OPERATOR(symbol, name)            \
  Tensor operator symbol(Operand a, Operand b) { \
    const Where at = a.where();                  \
    return name(std::move(a), std::move(b), at); \
  }
SINTER_OPERATOR(+, add)
SINTER_OPERATOR(-, sub)
SINTER_OPERATOR(*, mul)
SINTER_OPERATOR(/, div)
SINTER_OPERATOR(%, remainder)
SINTER_OPERATOR(<, less)
SINTER_OPERATOR(<=, less_equal)
SINTER_OPERATOR(>, greater)
SINTER_OPERATOR(>=, greater_equal)
SINTER_OPERATOR(==, equal)
SINTER_OPERATOR(!=, not_equal)
SINTER_OPERATOR(&, bitwise_and)
SINTER_OPERATOR(|, bitwise_or)
SINTER_OPERATOR(^, bitwise_xor)
SINTER_OPERATOR(<<, shift_left)
SINTER_OPERATOR(>>, shift_right)
#undef SINTER_OPERATOR

#define SINTER_ASSIGNMENT(symbol, name)           \
  Tensor& operator symbol(Tensor& a, Operand b) { \
    const Where at = b.where();                   \
    a = name(a, std::move(b), at);                \
    return a;                                     \
  }
SINTER_ASSIGNMENT(+=, add)
SINTER_ASSIGNMENT(-=, sub)
SINTER_ASSIGNMENT(*=, mul)
SINTER_ASSIGNMENT(/=, div)
#undef SINTER_ASSIGNMENT

}  // namespace sinter
