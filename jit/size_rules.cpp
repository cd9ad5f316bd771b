#include "jit/size_rules.h"

#include <algorithm>
#include <numeric>

#include "runtime/attributes.h"
#include "runtime/results.h"

namespace sinter::jit {
namespace {

/// A step with what its rule joins.
struct Rule {
  const SizedSteps& steps;
  SizeJoins& joins;
  const Node& node;
  std::span<const Source> inputs;
  Source self;

  int rank(Source source) const { return steps.shape(source).rank(); }
  int fixed(std::size_t i) const { return static_cast<int>(node.fixed()[i]); }
};

void same_as(const Rule& rule, std::size_t input) {
  rule.joins.join_all(rule.inputs[input], rule.self);
}

void join_matmul(const Rule& rule) {
  const Source a = rule.inputs[0], b = rule.inputs[1];
  rule.joins.join(a, -2, rule.self, -2);
  rule.joins.join(b, -1, rule.self, -1);
  rule.joins.join(a, -1, b, -2);
  rule.joins.join_broadcast(a, rule.self, 2);
  rule.joins.join_broadcast(b, rule.self, 2);
}

void join_linear(const Rule& rule) {
  const Source x = rule.inputs[0], weight = rule.inputs[1];
  rule.joins.join_broadcast(x, rule.self, 1);
  rule.joins.join(x, -1, weight, 1);
  rule.joins.join(weight, 0, rule.self, -1);
  if (rule.fixed(1) != 0) rule.joins.join(rule.inputs[2], 0, rule.self, -1);
  if (rule.fixed(2) != 0) same_as(rule, rule.inputs.size() - 1);
}

/// q [b, h, s, d], k [b, n, t, d], v [b, n, t, e] and the mask, broadcast to [b, h, s, t].
void join_attention(const Rule& rule, std::size_t first) {
  const Source q = rule.inputs[first], k = rule.inputs[first + 1], v = rule.inputs[first + 2];
  rule.joins.join(q, 0, k, 0);
  rule.joins.join(q, 3, k, 3);
  for (int axis = 0; axis < 3; ++axis) rule.joins.join(k, axis, v, axis);
  if (rule.fixed(1) == 0) return;
  const Source mask = rule.inputs[first + 3];
  const Shape& shape = rule.steps.shape(mask);
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const int score = 4 - shape.rank() + axis;
    const Source other = score == 3 ? k : q;
    const int place = score == 3 ? 2 : score;
    if ((shape[axis] == 1) == (rule.steps.shape(other)[place] == 1))
      rule.joins.join(mask, axis, other, place);
  }
}

/// What attention gives: [b, h, s, e].
void join_attended(const Rule& rule, Source result, std::size_t first) {
  for (int axis = 0; axis < 3; ++axis) rule.joins.join(rule.inputs[first], axis, result, axis);
  rule.joins.join(rule.inputs[first + 2], 3, result, 3);
}

void join_attention_grad(const Rule& rule) {
  join_attention(rule, 1);
  join_attended(rule, rule.inputs[0], 1);
  same_as(rule, 1);
}

/// logits [n..., c], targets [n...], weight [c].
void join_cross_entropy(const Rule& rule, std::size_t first) {
  const Source logits = rule.inputs[first], targets = rule.inputs[first + 1];
  for (int axis = 0; axis < rule.rank(targets); ++axis)
    rule.joins.join(logits, axis, targets, axis);
  if (rule.fixed(1) != 0) rule.joins.join(rule.inputs[first + 2], 0, logits, -1);
  const bool each = static_cast<Reduction>(rule.fixed(0)) == Reduction::none;
  if (each) rule.joins.join_all(targets, first == 0 ? rule.self : rule.inputs[0]);
  if (first != 0) rule.joins.join_all(logits, rule.self);
}

void join_but_axis(const Rule& rule, Source a, Source b) {
  for (int axis = 0; axis < rule.rank(a); ++axis)
    if (axis != rule.fixed(0)) rule.joins.join(a, axis, b, axis);
}

/// The axes of the indices stand where that of the table was.
void join_take(const Rule& rule) {
  const Source a = rule.inputs[0], indices = rule.inputs[1];
  const int along = rule.fixed(0), more = rule.rank(indices) - 1;
  for (int axis = 0; axis < rule.rank(a); ++axis)
    if (axis != along) rule.joins.join(a, axis, rule.self, axis < along ? axis : axis + more);
  for (int axis = 0; axis <= more; ++axis) rule.joins.join(indices, axis, rule.self, along + axis);
}

void join_index_add(const Rule& rule) {
  same_as(rule, 0);
  join_but_axis(rule, rule.inputs[0], rule.inputs[2]);
  rule.joins.join(rule.inputs[1], 0, rule.inputs[2], rule.fixed(0));
}

/// Tensors at one position of the lists have one shape, or none.
void join_foreach(const Rule& rule) {
  const auto lists = static_cast<std::size_t>(rule.fixed(0));
  const auto length = static_cast<std::size_t>(rule.fixed(1));
  for (std::size_t i = 0; i < length; ++i) {
    const Source* first = i == 0 && rule.node.shape.rank() > 0 ? &rule.self : nullptr;
    for (std::size_t list = 0; list < lists; ++list) {
      const Source& own = rule.inputs[list * length + i];
      if (rule.rank(own) == 0) continue;
      if (first != nullptr) rule.joins.join_all(own, *first);
      first = &own;
    }
  }
}

/// The input of a node with several results that result `index` has the shape of, or -1 for the
/// shape of the node.
int input_like_result(const Rule& rule, const Node& from, std::span<const Source> inputs,
                      int index) {
  switch (from.op) {
    case Op::attention_grad:
    case Op::layer_norm_grad:
    case Op::rms_norm_grad: return index == 0 ? -1 : index + 1;
    case Op::foreach_map: {
      const int lists = static_cast<int>(from.fixed()[0]),
                length = static_cast<int>(from.fixed()[1]);
      for (int list = 0; list < lists; ++list) {
        const int input = list * length + index % length;
        if (rule.rank(inputs[static_cast<std::size_t>(input)]) == rule.node.shape.rank())
          return input;
      }
      return -1;
    }
    default: return -1;
  }
}

void join_pick(const Rule& rule) {
  const Source from = rule.inputs[0];
  const int index = rule.fixed(0);
  if (from.leaf) {  // what it was made from is no longer known
    if (index == 0) same_as(rule, 0);
    return;
  }
  const auto inputs = rule.steps.operands_of(from.index);
  const int like = input_like_result(rule, rule.steps.node(from.index), inputs, index);
  rule.joins.join_all(like < 0 ? from : inputs[static_cast<std::size_t>(like)], rule.self);
}

/// The axes its attributes say are kept.
void join_reshape(const Rule& rule) {
  for (int axis = 0; axis < rule.node.shape.rank(); ++axis)
    if (const int kept = rule.fixed(static_cast<std::size_t>(axis)); kept >= 0)
      rule.joins.join(rule.inputs[0], kept, rule.self, axis);
}

/// Each operand has the shape of the result or is broadcast to it.
void join_operands(const Rule& rule) {
  for (const Source source : rule.inputs) rule.joins.join_broadcast(source, rule.self);
}

void join_movement(const Rule& rule) {
  switch (rule.node.op) {
    case Op::cast:
    case Op::cumsum:
    case Op::sort:
    case Op::slice_update: return same_as(rule, 0);
    case Op::gather: return same_as(rule, 1);
    case Op::scatter_add:
      same_as(rule, 0);
      return rule.joins.join_all(rule.inputs[1], rule.inputs[2]);
    case Op::take: return join_take(rule);
    case Op::index_add: return join_index_add(rule);
    case Op::concatenate:
    case Op::topk:
      for (const Source source : rule.inputs) join_but_axis(rule, source, rule.self);
      return;
    default: return;  // pad: what is added may be nothing
  }
}

void join_view(const Rule& rule) {
  switch (rule.node.op) {
    case Op::reshape: return join_reshape(rule);
    case Op::permute:
      for (int axis = 0; axis < rule.node.shape.rank(); ++axis)
        rule.joins.join(rule.inputs[0], rule.fixed(static_cast<std::size_t>(axis)), rule.self,
                        axis);
      return;
    case Op::expand: return rule.joins.join_broadcast(rule.inputs[0], rule.self);
    case Op::detach:
    case Op::custom_gradient: return same_as(rule, 0);
    case Op::pick: return join_pick(rule);
    default: return;  // slice: a length is any
  }
}

}  // namespace

std::size_t axis_slot(std::size_t leaf_count, Source source, int axis) {
  const std::size_t item = source.index + (source.leaf ? 0 : leaf_count);
  return item * max_rank + static_cast<std::size_t>(axis);
}

SizeJoins::SizeJoins(const SizedSteps& steps) : steps_(steps) {
  parents_.resize((steps.leaf_count() + steps.count()) * max_rank);
  std::iota(parents_.begin(), parents_.end(), 0u);
}

std::size_t SizeJoins::leader(std::size_t slot) {
  while (parents_[slot] != slot) {
    parents_[slot] = parents_[parents_[slot]];
    slot = parents_[slot];
  }
  return slot;
}

void SizeJoins::join(Source a, int axis_a, Source b, int axis_b) {
  const Shape &shape_a = steps_.shape(a), &shape_b = steps_.shape(b);
  if (axis_a < 0) axis_a += shape_a.rank();
  if (axis_b < 0) axis_b += shape_b.rank();
  invariant(shape_a[axis_a] == shape_b[axis_b], "sizes that are joined are equal");
  const std::size_t leaves = steps_.leaf_count();
  const std::size_t x = leader(axis_slot(leaves, a, axis_a));
  const std::size_t y = leader(axis_slot(leaves, b, axis_b));
  parents_[std::max(x, y)] = static_cast<std::uint32_t>(std::min(x, y));
}

void SizeJoins::join_all(Source a, Source b) {
  const int rank = steps_.shape(a).rank();
  invariant(rank == steps_.shape(b).rank(), "shapes that are joined have one rank");
  for (int axis = 0; axis < rank; ++axis) join(a, axis, b, axis);
}

void SizeJoins::join_broadcast(Source from, Source to, int skipped) {
  const Shape &a = steps_.shape(from), &b = steps_.shape(to);
  for (int i = skipped + 1; i <= std::min(a.rank(), b.rank()); ++i) {
    // Which sizes are 1 is in the key, so a 1 on one side alone is a rule, not a coincidence.
    if ((a[a.rank() - i] == 1) == (b[b.rank() - i] == 1)) join(from, -i, to, -i);
  }
}

void join_sizes(const SizedSteps& steps, std::uint32_t step, SizeJoins& joins) {
  const Node& node = steps.node(step);
  const Rule rule{steps, joins, node, steps.operands_of(step), Source::of_step(step)};
  switch (info(node.op).kind) {
    case OpKind::view: return join_view(rule);
    case OpKind::movement: return join_movement(rule);
    case OpKind::foreach: return join_foreach(rule);
    case OpKind::generator: return;
    default: break;
  }
  switch (node.op) {
    case Op::matmul: return join_matmul(rule);
    case Op::linear: return join_linear(rule);
    case Op::attention: join_attention(rule, 0); return join_attended(rule, rule.self, 0);
    case Op::attention_grad: return join_attention_grad(rule);
    case Op::cross_entropy: return join_cross_entropy(rule, 0);
    case Op::cross_entropy_grad: return join_cross_entropy(rule, 1);
    default: return join_operands(rule);
  }
}

}  // namespace sinter::jit
