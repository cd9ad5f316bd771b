#include "runtime/record.h"

#include <fmt/format.h>

#include "runtime/attributes.h"

namespace sinter {
namespace {

int category(DType dtype) {
  if (is_floating(dtype)) return 2;
  return dtype == DType::boolean ? 0 : 1;
}

using MaybeDType = std::optional<DType>;

MaybeDType join(MaybeDType a, MaybeDType b) {
  if (!a || !b) return a ? a : b;
  return promote(*a, *b);
}

/// `low` counts only where its category is higher.
MaybeDType outrank(MaybeDType high, MaybeDType low) {
  if (!high || !low) return high ? high : low;
  return category(*low) > category(*high) ? promote(*high, *low) : *high;
}

DType number_dtype(const Operand& number) {
  switch (number.kind()) {
    case Operand::Kind::truth: return DType::boolean;
    case Operand::Kind::integer: return DType::i64;
    default: return DType::f32;
  }
}

}  // namespace

DType common_dtype(std::span<const Operand> operands) {
  MaybeDType with_axes, without_axes, numbers;
  for (const Operand& operand : operands) {
    if (operand.kind() != Operand::Kind::tensor) {
      numbers = join(numbers, number_dtype(operand));
    } else if (operand.tensor().rank() > 0) {
      with_axes = join(with_axes, operand.tensor().dtype());
    } else {
      without_axes = join(without_axes, operand.tensor().dtype());
    }
  }
  return *outrank(outrank(with_axes, without_axes), numbers);
}

DType common_dtype(std::span<const Tensor> tensors) {
  MaybeDType with_axes, without_axes;
  for (const Tensor& tensor : tensors) {
    MaybeDType& kind = tensor.rank() > 0 ? with_axes : without_axes;
    kind = join(kind, tensor.dtype());
  }
  return *outrank(with_axes, without_axes);
}

NodeRef as_input(const Operand& operand, DType dtype, Where at) {
  const DType compute = compute_dtype(dtype);
  if (operand.kind() != Operand::Kind::tensor) {
    const Slot slot =
        is_floating(compute) ? real_slot(operand.real()) : integer_slot(operand.integer());
    return record({.op = Op::constant,
                   .dtype = compute,
                   .shape = {},
                   .inputs = {},
                   .slots = {&slot, 1},
                   .differentiable = false,
                   .where = at});
  }
  const Tensor& tensor = operand.tensor();
  const DType own = tensor.dtype();
  const bool same_value = compute_dtype(own) == compute && promote(own, dtype) == dtype;
  return same_value ? tensor.ref() : in_dtype(tensor, dtype, at).ref();
}

Tensor in_dtype(const Tensor& a, DType dtype, Where at) {
  if (a.dtype() == dtype) return a;
  const NodeRef input = a.ref();
  return record_op(
      {.op = Op::cast, .dtype = dtype, .shape = a.shape(), .inputs = {&input, 1}, .where = at});
}

void require_defined(std::string_view op, const Tensor& a, Where at) {
  if (!a.defined()) usage_error(op, "an operand is not defined", at);
}

std::string describe(const Tensor& a) {
  return fmt::format("{} {}", to_string(a.dtype()), to_string(a.shape()));
}

Tensor record_op(const NodeSpec& spec) { return Tensor(record(spec)); }

Tensor pick_result(const NodeRef& node, std::size_t index, Where at) {
  const Result result = result_of(*node, index);
  const auto number = static_cast<std::int64_t>(index);
  return record_op({.op = Op::pick,
                    .dtype = result.dtype,
                    .shape = result.shape,
                    .inputs = {&node, 1},
                    .fixed = {&number, 1},
                    .where = at});
}

std::vector<Tensor> pick_results(const NodeRef& node, Where at) {
  std::vector<Tensor> picked;
  const std::size_t count = result_count(*node);
  for (std::size_t i = 0; i < count; ++i) picked.push_back(pick_result(node, i, at));
  return picked;
}

}  // namespace sinter
