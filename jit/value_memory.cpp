#include "jit/value_memory.h"

#include <optional>

#include "jit/alias.h"
#include "kernels/elementwise.h"

namespace sinter::jit {

Value packed(const kernels::ConstView& view) {
  const Result result{view.dtype, view.shape};
  Value copy = allocate(result);
  kernels::copy(view, view_of(copy, result));
  return copy;
}

Value seen(const Node& node, const kernels::ConstView& input, const Value& value) {
  const auto shown = [&](const Value& of) -> std::optional<Value> {
    const auto place = alias(node, input.shape, placement_of(of));
    if (!place) return std::nullopt;
    return Value{of.storage, place->offset, place->strides};
  };
  if (auto result = shown(value)) return *std::move(result);
  return *shown(packed(input));
}

}  // namespace sinter::jit
