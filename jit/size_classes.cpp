#include "jit/size_classes.h"

#include <numeric>

#include "runtime/attributes.h"

namespace sinter::jit {
namespace {

const Shape& shape_of(const Trace& trace, Source source) {
  return (source.leaf ? trace.leaves[source.index] : trace.steps[source.index])->shape;
}

/// Ops whose inputs and result share an axis order, each size being the result's or 1.
bool aligned(const Node& node) {
  const OpKind kind = info(node.op).kind;
  if (kind == OpKind::elementwise) return true;
  switch (node.op) {
    case Op::cast:
    case Op::detach:
    case Op::expand:
    case Op::variable:
    case Op::custom_gradient:
    case Op::cumsum:
    case Op::dropout:
    case Op::softmax:
    case Op::log_softmax:
    case Op::softmax_grad:
    case Op::log_softmax_grad: return true;
    default: return kind == OpKind::reduction;
  }
}

}  // namespace

std::int64_t size_of(const Trace& trace, const Axis& axis) {
  return shape_of(trace, axis.source)[axis.axis];
}

std::size_t SizeClasses::slot(Source source, int axis) const {
  const std::size_t item = source.index + (source.leaf ? 0 : leaf_count_);
  return item * max_rank + static_cast<std::size_t>(axis);
}

std::size_t SizeClasses::find(std::size_t slot) const {
  while (parents_[slot] != slot) {
    parents_[slot] = parents_[parents_[slot]];
    slot = parents_[slot];
  }
  return slot;
}

void SizeClasses::join(std::size_t a, std::size_t b) {
  a = find(a);
  b = find(b);
  // The lower slot leads: leaves come before steps.
  (a < b ? parents_[b] : parents_[a]) = static_cast<std::uint32_t>(a < b ? a : b);
}

void SizeClasses::join_aligned(const Trace& trace, Source from, Source to) {
  const Shape& a = shape_of(trace, from);
  const Shape& b = shape_of(trace, to);
  for (int i = 1; i <= std::min(a.rank(), b.rank()); ++i) {
    const int x = a.rank() - i, y = b.rank() - i;
    // Broadcast bits are in the key, so a size of 1 on one side alone is a rule, not a coincidence.
    if ((a[x] == 1) == (b[y] == 1)) join(slot(from, x), slot(to, y));
  }
}

void SizeClasses::join_step(const Trace& trace, std::size_t step) {
  const Node& node = *trace.steps[step];
  const Source self{static_cast<std::uint32_t>(step) & 0x7fffffffu, 0};
  const auto sources = trace.sources_of(step);
  if (aligned(node)) {
    for (const Source source : sources) join_aligned(trace, source, self);
    return;
  }
  if (node.op == Op::permute) {
    for (int i = 0; i < node.shape.rank(); ++i)
      join(slot(sources[0], static_cast<int>(node.fixed()[static_cast<std::size_t>(i)])),
           slot(self, i));
  } else if (node.op == Op::matmul) {
    const int rank = node.shape.rank();
    join(slot(sources[0], rank - 2), slot(self, rank - 2));
    join(slot(sources[1], rank - 1), slot(self, rank - 1));
    join(slot(sources[0], rank - 1), slot(sources[1], rank - 2));
    for (int i = 0; i < rank - 2; ++i) join(slot(sources[0], i), slot(self, i));
  } else if (node.op == Op::linear) {
    const int rank = node.shape.rank();
    for (int i = 0; i < rank - 1; ++i) join(slot(sources[0], i), slot(self, i));
    join(slot(sources[0], rank - 1), slot(sources[1], 1));
    join(slot(sources[1], 0), slot(self, rank - 1));
  } else if (node.op == Op::layer_norm || node.op == Op::rms_norm) {
    for (const Source source : sources) join_aligned(trace, source, self);
  }
}

SizeClasses::SizeClasses(const Trace& trace) : leaf_count_(trace.leaves.size()) {
  parents_.resize((trace.leaves.size() + trace.steps.size()) * max_rank);
  std::iota(parents_.begin(), parents_.end(), 0u);
  for (std::size_t i = 0; i < trace.steps.size(); ++i) join_step(trace, i);

  classes_.assign(parents_.size(), 0);
  const auto name = [&](Source source, int rank) {
    for (int axis = 0; axis < rank; ++axis) {
      const std::size_t own = slot(source, axis), leader = find(own);
      if (leader == own) {
        classes_[own] = count();
        representatives_.push_back({source, axis});
      }
      classes_[own] = classes_[leader];
    }
  };
  for (std::uint32_t i = 0; i < trace.leaves.size(); ++i)
    name({i & 0x7fffffffu, 1}, trace.leaves[i]->shape.rank());
  for (std::uint32_t i = 0; i < trace.steps.size(); ++i)
    name({i & 0x7fffffffu, 0}, trace.steps[i]->shape.rank());
}

SizeClass SizeClasses::of(Source source, int axis) const { return classes_[slot(source, axis)]; }

}  // namespace sinter::jit
