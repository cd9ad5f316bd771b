#include "fuzz/draw_builder.h"
#include "runtime/elementwise.h"
#include "runtime/foreach.h"

namespace sinter::fuzz {
namespace {

/// The step of the node that foreach_map records for `body`.
std::optional<std::size_t> add_foreach(DrawBuilder& builder, const ForeachBody& body,
                                       const std::vector<std::vector<std::size_t>>& lists,
                                       const std::vector<std::size_t>& shared) {
  std::vector<std::vector<Tensor>> tensors(lists.size());
  std::vector<std::size_t> operands;
  for (std::size_t list = 0; list < lists.size(); ++list) {
    for (const std::size_t value : lists[list]) {
      tensors[list].push_back(builder.tensor(value));
      operands.push_back(value);
    }
  }
  const auto results = foreach_map(body, tensors);
  const NodeRef node = results.at(0).at(0).node()->input(0);
  Step step =
      make_op(Op::foreach_map, std::move(operands), {node->fixed().begin(), node->fixed().end()},
              {node->slots().begin(), node->slots().end()});
  step.body = std::static_pointer_cast<const ForeachTrace>(node->payload);
  // Those of the shared tensors that the body reads, in the order of the node.
  for (std::size_t i = step.operands.size(); i < node->inputs().size(); ++i)
    for (const std::size_t one : shared)
      if (builder.tensor(one).node() == node->input(static_cast<int>(i)).get())
        step.operands.push_back(one);
  // A body that computes with nothing but shared tensors shares what it computes.
  if (step.operands.size() != node->inputs().size()) return std::nullopt;
  return builder.add(std::move(step));
}

/// A step of Adam without decay; lists: parameter, gradient, two moments; shared: the step size.
std::vector<Tensor> adam(const std::vector<Tensor>& x, const Tensor& rate) {
  const Tensor first = x[2] * 0.9 + x[1] * 0.1;
  const Tensor second = x[3] * 0.99 + square(x[1]) * 0.01;
  return {x[0] - first / (sqrt(second) + 1e-8) * rate, first, second};
}

/// A line of elementwise ops on what there is.
std::vector<Tensor> drawn_body(std::uint64_t seed, const std::vector<Tensor>& x,
                               const Tensor& shared) {
  std::mt19937_64 source(seed);
  std::vector<Tensor> values = x;
  values.push_back(shared);
  const auto any = [&] { return values[source() % values.size()]; };
  for (std::size_t i = 3 + source() % 4; i > 0; --i) {
    switch (source() % 7) {
      case 0: values.push_back(any() * any()); break;
      case 1: values.push_back(x[0] - any()); break;
      case 2: values.push_back(tanh(any())); break;
      case 3: values.push_back(where(any() < x[0], any(), 0.5)); break;
      case 4: values.push_back(cast(any(), bf16)); break;
      case 5: values.push_back(maximum(any(), -0.25)); break;
      default: values.push_back(any() + 1.5);
    }
  }
  return {values.back(), x[0] + values[values.size() - 2]};
}

/// Values for the positions of a list, of any shapes.
std::vector<std::size_t> draw_list(DrawBuilder& builder, DType dtype, std::size_t length) {
  std::vector<std::size_t> list;
  for (std::size_t i = 0; i < length; ++i) {
    const auto found = builder.find_floating();
    list.push_back(found && !builder.one_in(3) ? builder.as(*found, dtype)
                                               : builder.add_leaf(dtype, builder.any_shape()));
  }
  return list;
}

}  // namespace

void draw_foreach(DrawBuilder& builder) {
  const DType dtype = builder.one_in(3) ? builder.any_floating() : f32;
  const std::size_t length = 1 + builder.below(std::size_t{4});
  const bool optimizer = builder.one_in(2);
  std::vector<std::vector<std::size_t>> lists{draw_list(builder, dtype, length)};
  lists.resize(optimizer ? 4 : 2 + builder.below(std::size_t{2}));
  for (std::size_t list = 1; list < lists.size(); ++list)
    for (std::size_t i = 0; i < length; ++i)
      lists[list].push_back(builder.one_in(6) && !optimizer
                                ? builder.like(dtype, {})
                                : builder.like(dtype, builder.shape(lists[0][i])));
  const std::size_t shared = builder.like(dtype, {});
  const Tensor rate = builder.tensor(shared);
  const std::uint64_t seed = builder.seed();
  const auto node = add_foreach(builder,
                                [&](const std::vector<Tensor>& x) {
                                  return optimizer ? adam(x, rate) : drawn_body(seed, x, rate);
                                },
                                lists, {shared});
  if (!node) return;
  const std::size_t results = builder.step(*node).body->results.size() * length;
  for (std::size_t i = 0; i < results; ++i) {
    if (builder.one_in(4)) continue;
    const auto picked = builder.add_op(Op::pick, {*node}, {static_cast<std::int64_t>(i)});
    // An optimizer writes what it has computed.
    const std::size_t of = lists[0][i % length];
    if (!picked || !optimizer || i >= length || !builder.step(of).variable) continue;
    Step write;
    write.kind = StepKind::assign;
    write.operands = {of, *picked};
    builder.add(std::move(write));
  }
}

void draw_gradient(DrawBuilder& builder) {
  const auto y = builder.find(
      [](const Step& step) { return is_floating(step.dtype) && step.kind != StepKind::leaf; });
  if (!y) return;
  for (std::size_t count = 1 + builder.below(std::size_t{3}); count > 0; --count) {
    const auto x = builder.find([&](const Step& step) {
      return is_floating(step.dtype) && (step.kind == StepKind::leaf || builder.one_in(4));
    });
    if (!x || *x >= *y) continue;
    Step step;
    step.kind = StepKind::gradient;
    step.operands = {*y, *x};
    builder.add(std::move(step));
  }
}

void draw_write(DrawBuilder& builder) {
  Step step;
  if (builder.one_in(4)) {
    step.kind = StepKind::evaluate;
    step.operands = {builder.any()};
    builder.add(std::move(step));
    return;
  }
  const auto leaf = builder.find([](const Step& one) { return one.variable; });
  if (!leaf) return;
  const Step& held = builder.step(*leaf);
  const DType dtype = held.dtype;
  const Shape shape = held.shape;
  auto value = builder.find([&](const Step& one) {
    return one.dtype == dtype && one.shape == shape && one.kind != StepKind::leaf;
  });
  if (!value) value = builder.add_op(Op::tanh, {*leaf});
  step.kind = StepKind::assign;
  step.operands = {*leaf, *value};
  builder.add(std::move(step));
}

}  // namespace sinter::fuzz
