#include "jit/alias.h"

namespace sinter::jit {
namespace {

/// Strides that show the same elements under `to`, if there are any: axes of `from` that lie
/// adjacent in memory are merged, and each merged run must be a product of sizes of `to`.
std::optional<Strides> reshape_strides(const Shape& from, const Strides& strides, const Shape& to) {
  if (element_count(from) == 0) return contiguous_strides(to);
  Shape sizes;
  Strides steps;
  for (int i = 0; i < from.rank(); ++i) {
    if (from[i] == 1) continue;
    const bool adjacent = !sizes.empty() && steps.back() == from[i] * strides[i];
    if (adjacent) {
      sizes[sizes.rank() - 1] *= from[i];
      steps[steps.rank() - 1] = strides[i];
    } else {
      sizes.push_back(from[i]);
      steps.push_back(strides[i]);
    }
  }
  Strides result = Strides::filled(to.rank(), 0);
  int run = sizes.rank() - 1;
  std::int64_t inside = 1;  // elements of the run that the axes seen so far cover
  for (int i = to.rank() - 1; i >= 0; --i) {
    if (to[i] == 1) continue;
    if (run >= 0 && inside == sizes[run]) {
      --run;
      inside = 1;
    }
    if (run < 0 || sizes[run] % (inside * to[i]) != 0) return std::nullopt;
    result[i] = steps[run] * inside;
    inside *= to[i];
  }
  return result;
}

Placement sliced(const Node& node, const Placement& input) {
  Placement value = input;
  for (int i = 0; i < node.shape.rank(); ++i) {
    const auto axis = static_cast<std::size_t>(i);
    value.offset += node.slots()[axis].integer * input.strides[i];
    value.strides[i] = node.fixed()[axis] * input.strides[i];
  }
  return value;
}

Placement expanded(const Node& node, const Shape& shape, const Placement& input) {
  Placement value = input;
  value.strides = Strides::filled(node.shape.rank(), 0);
  const int added = node.shape.rank() - shape.rank();
  for (int i = 0; i < shape.rank(); ++i)
    if (shape[i] == node.shape[i + added]) value.strides[i + added] = input.strides[i];
  return value;
}

}  // namespace

bool has_contiguous_rows(const Shape& shape, const Strides& strides) {
  for (int axis = shape.rank() - 1; axis >= 0; --axis)
    if (shape[axis] != 1) return strides[axis] == 1;
  return true;
}

std::optional<Placement> alias(const Node& node, const Shape& input_shape, const Placement& input) {
  switch (node.op) {
    case Op::detach:
    case Op::custom_gradient:
    case Op::variable: return input;
    case Op::expand: return expanded(node, input_shape, input);
    case Op::slice: return sliced(node, input);
    case Op::permute: {
      Placement value = input;
      for (int i = 0; i < node.shape.rank(); ++i)
        value.strides[i] =
            input.strides[static_cast<int>(node.fixed()[static_cast<std::size_t>(i)])];
      return value;
    }
    case Op::reshape: {
      const auto strides = reshape_strides(input_shape, input.strides, node.shape);
      if (!strides) return std::nullopt;
      return Placement{input.offset, *strides};
    }
    default: internal_error("not a view: " + std::string(to_string(node.op)));
  }
}

}  // namespace sinter::jit
