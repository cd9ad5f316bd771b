#include "jit/finite_check.h"

#include <fmt/format.h>

#include <cmath>

#include "jit/elements.h"
#include "runtime/attributes.h"
#include "runtime/foreach_body.h"

namespace sinter::jit {
namespace {

/// The position in row-major order as an index.
Dims index_at(const Shape& shape, std::int64_t position) {
  Dims index = shape;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    index[axis] = position % shape[axis];
    position /= shape[axis];
  }
  return index;
}

/// Whether a number that the user gave the call is a NaN or an infinity, or none is.
bool has_number(const Node& node, bool (*kind)(double)) {
  const auto slots = node.slots();
  const auto real = [&](std::size_t slot) { return slot < slots.size() && kind(slots[slot].real); };
  switch (node.op) {
    case Op::constant:
    case Op::pad: return is_floating(node.dtype) && real(0);
    case Op::arange: return is_floating(node.dtype) && (real(0) || real(1));
    case Op::foreach_map: break;
    default: return false;
  }
  const auto& body = static_cast<const ForeachTrace&>(*node.payload);
  for (std::size_t slot = 0; slot < body.number_dtypes.size(); ++slot)
    if (is_floating(body.number_dtypes[slot]) && real(slot)) return true;
  return false;
}

double element(const ConstView& view, std::int64_t position) {
  return read<double>(view, index_at(view.shape, position));
}

/// The failure of a node that has made the element at `position` of a result.
std::exception_ptr made_error(const Node& node, std::size_t result, const ConstView& view,
                              std::int64_t position) {
  const double value = element(view, position);
  const std::string of = result == 0 ? "" : fmt::format("result {}, ", result);
  const std::string problem =
      fmt::format("gives {} at {} of {}{} {}, and no operand has {}",
                  std::isnan(value) ? "nan" : fmt::to_string(value),
                  to_string(index_at(view.shape, position)), of, to_string(view.dtype),
                  to_string(view.shape), std::isnan(value) ? "one" : "a NaN or infinity");
  const CallScope call(node.user);  // those that were open then have ended
  try {
    usage_error(to_string(node.op), problem, node.where);
  } catch (const UsageError&) {
    return std::current_exception();
  }
}

}  // namespace

NotFinite find_not_finite(const ConstView& view) {
  NotFinite found;
  if (!is_floating(view.dtype)) return found;
  with_storage_type(view.dtype, [&]<typename T>(T) {
    std::int64_t position = 0;
    const auto look = [&](T stored) {
      const auto x =
          converted<std::conditional_t<std::is_same_v<T, double>, double, float>>(stored);
      if (!std::isfinite(x)) {
        auto& first = std::isnan(x) ? found.nan : found.infinity;
        if (!first) first = position;
      }
      ++position;
    };
    if (is_contiguous(view.shape, view.strides)) {
      const std::int64_t count = element_count(view.shape);
      for (std::int64_t i = 0; i < count; ++i) look(element_at<T>(view.data, i));
    } else {
      for_each_index(view.shape, [&](const Dims& index) {
        look(element_at<T>(view.data, offset_of(view.strides, index)));
      });
    }
  });
  return found;
}

FiniteCheck::FiniteCheck(const Trace& trace)
    : trace_(trace), leaves_(trace.leaves.size()), steps_(trace.steps.size()) {}

FiniteCheck::Kinds FiniteCheck::of_leaf(std::size_t leaf) {
  if (!leaves_[leaf]) {
    const Node& node = *trace_.leaves[leaf];
    const NotFinite found = find_not_finite(view_of(node.value(), node));
    leaves_[leaf] = Kinds{found.nan.has_value(), found.infinity.has_value()};
  }
  return *leaves_[leaf];
}

FiniteCheck::Kinds FiniteCheck::read_by(std::size_t step) {
  const Node& node = *trace_.steps[step];
  Kinds all{has_number(node, [](double x) { return std::isnan(x); }),
            has_number(node, [](double x) { return std::isinf(x); })};
  for (const Source source : trace_.sources_of(step)) {
    const Kinds kinds =
        source.leaf ? of_leaf(source.index) : steps_[source.index].value_or(Kinds{});
    all.nan = all.nan || kinds.nan;
    all.infinity = all.infinity || kinds.infinity;
  }
  return all;
}

std::exception_ptr FiniteCheck::after_step(std::size_t step, std::span<const ConstView> results) {
  const Node& node = *trace_.steps[step];
  Kinds given;
  std::vector<NotFinite> found;
  for (const ConstView& result : results) {
    found.push_back(find_not_finite(result));
    given.nan = given.nan || found.back().nan;
    given.infinity = given.infinity || found.back().infinity;
  }
  steps_[step] = given;
  if (!given.nan && !given.infinity) return nullptr;
  const Kinds read = read_by(step);
  const bool makes_nan = given.nan && !read.nan;
  const bool makes_infinity = given.infinity && !read.nan && !read.infinity;
  for (std::size_t r = 0; r < results.size(); ++r) {
    if (makes_nan && found[r].nan) return made_error(node, r, results[r], *found[r].nan);
    if (makes_infinity && found[r].infinity)
      return made_error(node, r, results[r], *found[r].infinity);
  }
  return nullptr;
}

bool FiniteCheck::after_operation(const LiveValues& values, const Operation& operation) {
  if (operation.kind == Operation::Kind::view) return true;
  for_given(values.plan(), operation, [&](PrimitiveId i, std::uint32_t r) {
    if (!suspect_) look_at(values, i, r, operation);
  });
  return !suspect_;
}

std::optional<std::size_t> FiniteCheck::step_of(const Primitives& primitives, PrimitiveId i) {
  if (step_of_.empty()) {
    step_of_.resize(primitives.steps.size());
    for (std::size_t step = primitives.value_of.size(); step-- > 0;)
      if (!primitives.value_of[step].leaf) step_of_[primitives.value_of[step].index] = step;
    for (std::size_t p = 0; p < primitives.steps.size(); ++p)
      if (primitives.steps[p].whole) step_of_[p] = primitives.steps[p].origin;
  }
  return step_of_[i];
}

/// Values inside of a composite may be infinite where its result is not.
void FiniteCheck::look_at(const LiveValues& values, PrimitiveId i, std::uint32_t r,
                          const Operation& operation) {
  const std::optional<std::size_t> step = step_of(values.primitives(), i);
  if (!step) return;
  const Value& value = values[values.plan().first_value[i] + r];
  if (!find_not_finite(view_of(value, values.result(i, r))).any()) return;
  suspect_ = {*step, operation.is_generated()
                         ? "the generated kernel " + name_of(values.plan(), operation)
                         : "the kernel of " + std::string(to_string(values.node(i).op))};
}

void FiniteCheck::finish() const {
  if (!suspect_ || !steps_[suspect_->step]) return;
  const Kinds kinds = *steps_[suspect_->step];
  if (kinds.nan || kinds.infinity) return;
  const Node& node = *trace_.steps[suspect_->step];
  internal_error(
      fmt::format("{} gives a NaN or infinity for {} ({}) where the level eager does not",
                  suspect_->kernel, to_string(node.op), sinter::to_string(node.user)));
}

}  // namespace sinter::jit
