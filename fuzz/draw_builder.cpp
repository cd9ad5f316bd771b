#include "fuzz/draw_builder.h"

#include <algorithm>

#include "fuzz/call.h"
#include "fuzz/replay.h"
#include "runtime/creation.h"
#include "runtime/grad.h"
#include "runtime/results.h"

namespace sinter::fuzz {
namespace {

/// Sizes around what vectors, blocks and parts of the kernels are cut into.
constexpr std::int64_t common_sizes[] = {1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 17, 24, 31, 33};
constexpr std::int64_t rare_sizes[] = {0,   0,   63,   64,   65,   127,  128,  129, 255,
                                       257, 511, 1023, 1025, 4095, 4097, 8191, 8193};
constexpr std::int64_t large_sizes[] = {65, 129, 1023, 4095, 4097, 8193, 16385, 32767, 32769};

}  // namespace

DrawBuilder::DrawBuilder(std::uint64_t seed, const DrawOptions& options)
    : source_(seed * 0x9e3779b97f4a7c15u + 11), options_(options) {
  if (options.large) sizes_.push_back(large_sizes[below(std::size(large_sizes))]);
  while (sizes_.size() < 3)
    sizes_.push_back(one_in(6) ? rare_sizes[below(std::size(rare_sizes))]
                               : common_sizes[below(std::size(common_sizes))]);
}

std::vector<Tensor> DrawBuilder::record_step(const Step& step) {
  switch (step.kind) {
    case StepKind::leaf: return {placeholder(step.dtype, step.shape)};
    case StepKind::assign: return {tensor(step.operands[1])};
    case StepKind::evaluate: return {tensor(step.operands[0])};
    case StepKind::gradient: {
      const Tensor &y = tensor(step.operands[0]), &x = tensor(step.operands[1]);
      const Tensor found = vjp({y}, {ones_like(y)}, {x}, {.create_graph = true})[0];
      return {found.defined() ? found : zeros_like(x)};
    }
    default: break;
  }
  CallOperands operands;
  for (const std::size_t operand : step.operands) {
    operands.tensors.push_back(tensor(operand));
    operands.steps.push_back(&script_.steps[operand]);
  }
  if (step.op == Op::pick) operands.results = results_[step.operands[0]];
  return call(step, operands);
}

std::optional<std::size_t> DrawBuilder::add(Step step) {
  std::vector<Tensor> results;
  try {
    results = record_step(step);
  } catch (const UsageError&) {
    return std::nullopt;
  }
  if (results[0].element_count() > most_elements()) return std::nullopt;
  step.dtype = results[0].dtype();
  step.shape = results[0].shape();
  script_.steps.push_back(std::move(step));
  results_.push_back(std::move(results));
  return script_.steps.size() - 1;
}

std::optional<std::size_t> DrawBuilder::add_op(Op op, std::vector<std::size_t> operands,
                                               std::vector<std::int64_t> fixed,
                                               std::vector<Slot> slots) {
  return add(make_op(op, std::move(operands), std::move(fixed), std::move(slots)));
}

std::optional<std::size_t> DrawBuilder::add_shaped(Op op, std::vector<std::size_t> operands,
                                                   const Shape& shape,
                                                   std::vector<std::int64_t> fixed,
                                                   std::vector<Slot> slots) {
  Step step = make_op(op, std::move(operands), std::move(fixed), std::move(slots));
  step.shape = shape;
  if (!step.operands.empty()) step.dtype = script_.steps[step.operands[0]].dtype;
  return add(std::move(step));
}

std::size_t DrawBuilder::add_cast(std::size_t value, DType dtype) {
  Step step = make_op(Op::cast, {value});
  step.dtype = dtype;
  return add(std::move(step)).value();
}

std::size_t DrawBuilder::add_leaf(DType dtype, const Shape& shape) {
  Contents contents;
  contents.seed = seed();
  if (one_in(4)) contents.high = 0.5;
  if (one_in(12)) contents.specials = static_cast<std::uint32_t>(3 + below(std::size_t{40}));
  if (dtype == DType::boolean) contents.low = 0, contents.high = 1;
  Step leaf = make_leaf(dtype, shape, contents);
  // Memory that is not in order: axes turned around, gaps, backwards, or one element for an axis.
  if (!shape.empty() && one_in(3)) {
    leaf.strides = Strides::filled(shape.rank(), 0);
    const std::size_t manner = below(std::size_t{4});
    std::int64_t next = manner == 1 ? 2 : 1;
    for (int i = 0; i < shape.rank(); ++i) {
      const int axis = manner == 0 ? i : shape.rank() - 1 - i;
      leaf.strides[axis] = manner == 2 ? -next : next;
      next *= std::max<std::int64_t>(shape[axis], 1);
      if (manner == 1) ++next;
    }
    if (manner == 3)
      leaf.strides[static_cast<int>(below(static_cast<std::size_t>(shape.rank())))] = 0;
  } else if (is_floating(dtype) && one_in(3)) {
    leaf.variable = true;
  }
  return add(std::move(leaf)).value();
}

std::size_t DrawBuilder::add_indices(const Shape& shape, std::int64_t limit) {
  Contents contents;
  contents.seed = seed();
  contents.low = 0;
  const bool fault = options_.faults && one_in(3);
  contents.high = static_cast<double>(std::max<std::int64_t>(limit, 1) - (fault ? 0 : 1));
  return add(make_leaf(one_in(2) ? i32 : i64, shape, contents)).value();
}

std::size_t DrawBuilder::add_number(std::size_t value, double number) {
  const DType dtype = compute_dtype(step(value).dtype);
  Step constant = make_op(Op::constant, {}, {}, {number_slot(dtype, number)});
  constant.dtype = dtype;
  return add(std::move(constant)).value();
}

std::optional<std::size_t> DrawBuilder::find(const Wanted& wanted) {
  std::vector<std::size_t> fitting;
  for (std::size_t i = 0; i < size(); ++i) {
    const Step& one = step(i);
    const bool several = one.kind == StepKind::op && has_several_results(one.op);
    if (!several && !is_number(one) && wanted(one)) fitting.push_back(i);
  }
  if (fitting.empty()) return std::nullopt;
  const std::size_t recent = std::min<std::size_t>(fitting.size(), 6);
  if (one_in(2)) return fitting[fitting.size() - 1 - below(recent)];
  return fitting[below(fitting.size())];
}

std::optional<std::size_t> DrawBuilder::find_floating(int least_rank) {
  return find(
      [&](const Step& one) { return is_floating(one.dtype) && one.shape.rank() >= least_rank; });
}

std::size_t DrawBuilder::any() {
  return find([](const Step&) { return true; }).value();
}

std::size_t DrawBuilder::as(std::size_t value, DType dtype) {
  return step(value).dtype == dtype ? value : add_cast(value, dtype);
}

std::size_t DrawBuilder::like(DType dtype, const Shape& of) {
  const auto found = find([&](const Step& one) { return one.dtype == dtype && one.shape == of; });
  return found && !one_in(3) ? *found : add_leaf(dtype, of);
}

DType DrawBuilder::any_floating() {
  constexpr DType floating[] = {f32, f32, f32, f32, f64, bf16, bf16, f16};
  return floating[below(std::size(floating))];
}

DType DrawBuilder::any_dtype() {
  constexpr DType others[] = {boolean, u8, i32, i64};
  return one_in(4) ? others[below(std::size(others))] : any_floating();
}

Shape DrawBuilder::any_shape() {
  constexpr int ranks[] = {0, 1, 1, 2, 2, 2, 3, 3, 4};
  Shape shape;
  std::int64_t count = 1;
  for (int left = ranks[below(std::size(ranks))]; left > 0; --left) {
    const std::int64_t size = one_in(8) ? 1 : any_size();
    shape.push_back(count * size > most_elements() / 2 ? 1 : size);
    count *= std::max<std::int64_t>(shape.back(), 1);
  }
  return shape;
}

}  // namespace sinter::fuzz
