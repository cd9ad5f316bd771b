#include <fmt/format.h>

#include <array>
#include <cmath>

#include "runtime/nn.h"
#include "runtime/record.h"

namespace sinter {
namespace {

void require_floating(std::string_view op, const Tensor& a, Where at) {
  require_defined(op, a, at);
  if (!is_floating(a.dtype()))
    usage_error(op, fmt::format("takes a floating tensor, not {}", describe(a)), at);
}

Tensor record_softmax(Op op, const Tensor& a, std::int64_t axis, Where at) {
  require_floating(to_string(op), a, at);
  const std::int64_t fixed = normalize_axis(to_string(op), axis, a.rank(), at);
  const NodeRef input = a.ref();
  return record_op({.op = op,
                    .dtype = a.dtype(),
                    .shape = a.shape(),
                    .inputs = {&input, 1},
                    .fixed = {&fixed, 1},
                    .where = at});
}

/// Refuses a weight or bias that does not belong to a row of `axes` trailing axes of `a`.
void check_row_operand(std::string_view op, std::string_view name, const Tensor& operand,
                       const Tensor& a, int axes, Where at) {
  const Shape& shape = a.shape();
  const bool fits = axes >= 1 && axes <= a.rank() && operand.rank() == axes &&
                    std::equal(operand.shape().begin(), operand.shape().end(), shape.end() - axes);
  if (!fits)
    usage_error(op,
                fmt::format("the {} does not match the trailing axes: {} for {}", name,
                            describe(operand), describe(a)),
                at);
  if (!is_floating(operand.dtype()) || compute_dtype(operand.dtype()) != compute_dtype(a.dtype()))
    usage_error(op,
                fmt::format("the {} has another compute type: {} for {}", name, describe(operand),
                            describe(a)),
                at);
}

Tensor record_norm(Op op, const Tensor& a, const Tensor& weight, const Tensor& bias, double epsilon,
                   Where at) {
  const std::string_view name = to_string(op);
  require_floating(name, a, at);
  if (a.rank() == 0) usage_error(name, "needs an axis to normalise over", at);
  if (!(epsilon >= 0)) usage_error(name, fmt::format("epsilon {} is negative", epsilon), at);
  const int axes = weight.defined() ? weight.rank() : bias.defined() ? bias.rank() : 1;
  std::array<NodeRef, 3> inputs{a.ref()};
  std::size_t count = 1;
  if (weight.defined()) {
    check_row_operand(name, "weight", weight, a, axes, at);
    inputs[count++] = weight.ref();
  }
  if (bias.defined()) {
    check_row_operand(name, "bias", bias, a, axes, at);
    inputs[count++] = bias.ref();
  }
  const std::array<std::int64_t, 3> fixed{axes, weight.defined(), bias.defined()};
  const Slot slot = real_slot(epsilon);
  return record_op({.op = op,
                    .dtype = a.dtype(),
                    .shape = a.shape(),
                    .inputs = {inputs.data(), count},
                    .fixed = std::span(fixed).first(op == Op::rms_norm ? 2 : 3),
                    .slots = {&slot, 1},
                    .where = at});
}

}  // namespace

Tensor softmax(const Tensor& a, std::int64_t axis, Where at) {
  return record_softmax(Op::softmax, a, axis, at);
}

Tensor log_softmax(const Tensor& a, std::int64_t axis, Where at) {
  return record_softmax(Op::log_softmax, a, axis, at);
}

Tensor layer_norm(const Tensor& a, const Tensor& weight, const Tensor& bias, double epsilon,
                  Where at) {
  return record_norm(Op::layer_norm, a, weight, bias, epsilon, at);
}

Tensor rms_norm(const Tensor& a, const Tensor& weight, double epsilon, Where at) {
  return record_norm(Op::rms_norm, a, weight, {}, epsilon, at);
}

Tensor dropout(const Tensor& a, double p, Generator& generator, Where at) {
  require_floating("dropout", a, at);
  if (!(p >= 0 && p <= 1)) usage_error("dropout", fmt::format("p {} is not in [0, 1]", p), at);
  const std::array slots{real_slot(p), integer_slot(static_cast<std::int64_t>(generator.seed())),
                         integer_slot(static_cast<std::int64_t>(generator.take()))};
  const NodeRef input = a.ref();
  return record_op({.op = Op::dropout,
                    .dtype = a.dtype(),
                    .shape = a.shape(),
                    .inputs = {&input, 1},
                    .slots = slots,
                    .where = at});
}

}  // namespace sinter
