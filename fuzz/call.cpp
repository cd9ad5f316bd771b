#include "fuzz/call.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuzz/call_parts.h"
#include "runtime/creation.h"
#include "runtime/elementwise.h"
#include "runtime/foreach.h"
#include "runtime/indexing.h"
#include "runtime/nn.h"
#include "runtime/reductions.h"
#include "runtime/variable.h"
#include "runtime/views.h"

namespace sinter::fuzz {
namespace {

Tensor call_elementwise(Op op, std::span<const Operand> o) {
#define SINTER_UNARY(name, ...) \
  if (op == Op::name) return sinter::name(o[0].tensor());
#define SINTER_BINARY(name, ...) \
  if (op == Op::name) return sinter::name(o[0], o[1]);
#define SINTER_TERNARY(name, ...) \
  if (op == Op::name) return sinter::name(o[0], o[1], o[2]);
#include "runtime/ops.def"
  internal_error("not an elementwise op");
}

std::vector<Tensor> call_elementwise(const Step& step, const CallOperands& operands) {
  const std::vector<bool> numbers = given_as_numbers(step, operands.steps);
  std::vector<Operand> given;
  for (std::size_t i = 0; i < operands.tensors.size(); ++i) {
    if (numbers[i]) given.push_back(number_beside(step, *operands.steps[i]));
    else given.emplace_back(operands.tensors[i]);
  }
  return {call_elementwise(step.op, given)};
}

std::vector<Tensor> call_view(const Step& step, const CallOperands& operands) {
  const Tensor& a = operands.tensors[0];
  switch (step.op) {
    case Op::reshape: return {reshape(a, step.shape)};
    case Op::permute: return {permute(a, Dims(step.fixed))};
    case Op::expand: return {expand(a, step.shape)};
    case Op::slice: {
      if (const Dims axes = reversed_axes(step, a.shape()); !axes.empty()) return {flip(a, axes)};
      const auto one = as_axis_slice(step, a.shape());
      return {slice(a, one->axis, one->start, one->stop, one->step)};
    }
    case Op::pick: {
      const auto result = static_cast<std::size_t>(step.fixed[0]);
      if (result >= operands.results.size())
        usage_error("pick", fmt::format("there is no result {}", result), Where::current());
      return {operands.results[result]};
    }
    default: return {detach(a)};
  }
}

std::vector<Tensor> call_movement(const Step& step, const CallOperands& operands) {
  const auto& t = operands.tensors;
  const std::int64_t axis = step.fixed.empty() ? 0 : step.fixed[0];
  switch (step.op) {
    case Op::cast: return {cast(t[0], step.dtype)};
    case Op::concatenate: return {concatenate(t, axis)};
    case Op::pad: {
      const auto [before, after, value] = padding(step, t[0].shape());
      return {pad(t[0], before, after, value)};
    }
    case Op::slice_update:
      return {slice_update(t[0], t[1], integers(step.slots), Dims(step.fixed))};
    case Op::take: return {take(t[0], t[1], axis)};
    case Op::index_add: return {index_add(t[0], axis, t[1], t[2])};
    case Op::gather: return {gather(t[0], axis, t[1])};
    case Op::scatter_add: return {scatter_add(t[0], axis, t[1], t[2])};
    case Op::cumsum: return {cumsum(t[0], axis)};
    case Op::sort: {
      const auto [values, places] = sort(t[0], axis, step.fixed[1] != 0);
      return {values, places};
    }
    default: {
      const std::int64_t count = step.shape[normalize_axis("topk", axis, step.shape.rank(), {})];
      const auto [values, places] = topk(t[0], count, axis, step.fixed[1] != 0);
      return {values, places};
    }
  }
}

std::vector<Tensor> call_reduction(const Step& step, const Tensor& a) {
  const Dims axes = masked_axes(step.fixed[0], a.rank());
  switch (step.op) {
    case Op::sum: return {sum(a, axes, true)};
    case Op::prod: return {prod(a, axes, true)};
    case Op::amax: return {amax(a, axes, true)};
    case Op::amin: return {amin(a, axes, true)};
    case Op::any: return {any(a, axes, true)};
    case Op::all: return {all(a, axes, true)};
    case Op::argmax: return {argmax(a, step.fixed[0], true)};
    case Op::argmin: return {argmin(a, step.fixed[0], true)};
    case Op::mean: return {mean(a, axes, true)};
    case Op::var: return {var(a, axes, step.fixed[1], true)};
    case Op::logsumexp: return {logsumexp(a, axes, true)};
    default: return {norm(a, axes, true)};
  }
}

/// The operands behind the first `next` that an attribute says are there, else undefined ones.
class Optionals {
 public:
  Optionals(const std::vector<Tensor>& tensors, std::size_t next)
      : tensors_(tensors), next_(next) {}
  Tensor take(std::int64_t present) { return present != 0 ? tensors_[next_++] : Tensor(); }

 private:
  const std::vector<Tensor>& tensors_;
  std::size_t next_;
};

Tensor call_attention(const Step& step, const std::vector<Tensor>& t) {
  Generator generator;
  generator.set_state(static_cast<std::uint64_t>(step.slots[2].integer),
                      static_cast<std::uint64_t>(step.slots[3].integer));
  const AttentionOptions options{.mask = step.fixed[1] != 0 ? t[3] : Tensor(),
                                 .causal = step.fixed[0] != 0,
                                 .scale = step.slots[0].real,
                                 .dropout = step.fixed[2] != 0 ? step.slots[1].real : 0,
                                 .generator = &generator};
  return scaled_dot_product_attention(t[0], t[1], t[2], options);
}

std::vector<Tensor> call_composite(const Step& step, const std::vector<Tensor>& t) {
  Optionals optional(t, step.op == Op::linear || step.op == Op::cross_entropy ? 2 : 1);
  switch (step.op) {
    case Op::matmul: return {matmul(t[0], t[1])};
    case Op::linear: {
      const Tensor bias = optional.take(step.fixed[1]), residual = optional.take(step.fixed[2]);
      return {linear(t[0], t[1], bias, static_cast<Activation>(step.fixed[0]), residual)};
    }
    case Op::attention: return {call_attention(step, t)};
    case Op::softmax: return {softmax(t[0], step.fixed[0])};
    case Op::log_softmax: return {log_softmax(t[0], step.fixed[0])};
    case Op::layer_norm: {
      const Tensor weight = optional.take(step.fixed[1]), bias = optional.take(step.fixed[2]);
      return {layer_norm(t[0], weight, bias, step.slots[0].real)};
    }
    case Op::rms_norm: return {rms_norm(t[0], optional.take(step.fixed[1]), step.slots[0].real)};
    case Op::cross_entropy:
      return {cross_entropy(t[0], t[1],
                            {.reduction = static_cast<Reduction>(step.fixed[0]),
                             .ignore_index = step.slots[0].integer,
                             .label_smoothing = step.slots[1].real,
                             .weight = optional.take(step.fixed[1])})};
    default: {
      Generator generator;
      generator.set_state(static_cast<std::uint64_t>(step.slots[1].integer),
                          static_cast<std::uint64_t>(step.slots[2].integer));
      return {dropout(t[0], step.slots[0].real, generator)};
    }
  }
}

std::vector<Tensor> call_generator(const Step& step) {
  if (step.op == Op::constant) return {constant(step)};
  const auto [start, stop, by] = range(step);
  return {arange(start, stop, by, step.dtype)};
}

std::vector<Tensor> call_foreach(const Step& step, const std::vector<Tensor>& t) {
  const auto lists = static_cast<std::size_t>(step.fixed[0]);
  const auto length = static_cast<std::size_t>(step.fixed[1]);
  std::vector<std::vector<Tensor>> given(lists);
  for (std::size_t i = 0; i < lists * length; ++i) given[i / length].push_back(t[i]);
  const std::span<const Tensor> shared = std::span(t).subspan(lists * length);
  const auto body = [&](const std::vector<Tensor>& stand_ins) {
    return run_body(step, stand_ins, shared);
  };
  std::vector<Tensor> results;
  for (const std::vector<Tensor>& list : foreach_map(body, given))
    results.insert(results.end(), list.begin(), list.end());
  return results;
}

/// Nodes are recorded without checks, so the op that a gradient belongs to is asked.
void check_gradient(const Step& step, Op forward, const CallOperands& operands) {
  Step checked = step;
  checked.op = forward;
  CallOperands rest;
  rest.tensors.assign(operands.tensors.begin() + 1, operands.tensors.end());
  const Tensor result = call(checked, rest)[0];
  const Node& node = *result.node();
  const Tensor& arriving = operands.tensors[0];
  if (!std::equal(node.fixed().begin(), node.fixed().end(), step.fixed.begin(), step.fixed.end()) ||
      arriving.shape() != result.shape() || !is_floating(arriving.dtype()))
    usage_error(to_string(step.op), "the gradient of another result", Where::current());
}

}  // namespace

std::vector<Tensor> run_body(const Step& step, const std::vector<Tensor>& stand_ins,
                             std::span<const Tensor> shared) {
  const ForeachTrace& body = *step.body;
  std::vector<Operand> values(stand_ins.begin(), stand_ins.end());
  values.insert(values.end(), shared.begin(), shared.end());
  for (std::size_t i = 0; i < body.number_dtypes.size(); ++i)
    values.push_back(number(body.number_dtypes[i], step.slots[i]));
  for (const ForeachStep& one : body.steps) {
    std::vector<Operand> operands;
    for (const int operand : one.operands)
      if (operand >= 0) operands.push_back(values[static_cast<std::size_t>(operand)]);
    if (one.op == Op::cast) values.emplace_back(cast(operands[0].tensor(), one.dtype));
    else values.emplace_back(call_elementwise(one.op, operands));
  }
  std::vector<Tensor> results;
  for (const int result : body.results) {
    const Operand& value = values[static_cast<std::size_t>(result)];
    results.push_back(value.kind() == Operand::Kind::tensor ? value.tensor()
                                                            : full({}, value.real()));
  }
  return results;
}

std::vector<Tensor> call(const Step& step, const CallOperands& operands) {
  const auto& t = operands.tensors;
  if (const auto forward = forward_of(step.op)) check_gradient(step, *forward, operands);
  if (is_node_only(step) || (step.op == Op::slice && reversed_axes(step, t[0].shape()).empty() &&
                             !as_axis_slice(step, t[0].shape())))
    return call_node(step, operands);
  switch (info(step.op).kind) {
    case OpKind::elementwise: return call_elementwise(step, operands);
    case OpKind::generator: return call_generator(step);
    case OpKind::view: return call_view(step, operands);
    case OpKind::movement: return call_movement(step, operands);
    case OpKind::reduction: return call_reduction(step, t[0]);
    case OpKind::foreach: return call_foreach(step, t);
    default: break;
  }
  const bool reduces =
      step.op == Op::mean || step.op == Op::var || step.op == Op::logsumexp || step.op == Op::norm;
  return reduces ? call_reduction(step, t[0]) : call_composite(step, t);
}

}  // namespace sinter::fuzz
