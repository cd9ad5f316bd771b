#include "jit/trace_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/attributes.h"
#include "runtime/element.h"
#include "runtime/foreach_body.h"
#include "runtime/results.h"

namespace sinter::jit {
namespace {

template <typename T>
std::string number_text(T value) {
  if constexpr (is_half<T>) return number_text(static_cast<float>(value));
  else if constexpr (std::is_same_v<T, bool>) return value ? "1" : "0";
  else if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) return "\"nan\"";
    if (std::isinf(value)) return value < 0 ? "\"-inf\"" : "\"inf\"";
    return fmt::format("{}", value);
  } else {
    return fmt::format("{}", static_cast<std::int64_t>(value));
  }
}

std::string names(const std::vector<DType>& dtypes) {
  std::vector<std::string> quoted;
  for (const DType dtype : dtypes) quoted.push_back(fmt::format("\"{}\"", to_string(dtype)));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

/// `, "name": [1, 2]`, or nothing for an empty list.
template <typename Range>
std::string list_text(std::string_view name, const Range& values) {
  if (std::begin(values) == std::end(values)) return "";
  return fmt::format(", \"{}\": [{}]", name, fmt::join(values, ", "));
}

/// Calls body(element) for all elements in row-major order.
template <typename T, typename Body>
void for_each_element(const Node& leaf, const Body& body) {
  const Value& value = leaf.value();
  const std::int64_t count = element_count(leaf.shape);
  const std::byte* data = value.storage->data();
  for (std::int64_t position = 0; position < count; ++position) {
    std::int64_t rest = position, offset = value.offset;
    for (int axis = leaf.shape.rank() - 1; axis >= 0; --axis) {
      offset += rest % leaf.shape[axis] * value.strides[axis];
      rest /= leaf.shape[axis];
    }
    body(element_at<T>(data, offset));
  }
}

std::string elements_text(const Node& leaf) {
  return with_storage_type(leaf.dtype, [&]<typename T>(T) {
    if (element_count(leaf.shape) <= most_written_elements) {
      std::vector<std::string> items;
      for_each_element<T>(leaf, [&](T element) { items.push_back(number_text(element)); });
      return fmt::format(", \"elements\": [{}]", fmt::join(items, ", "));
    }
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for_each_element<T>(leaf, [&](T element) {
      const auto number = converted<double>(element);
      if (!std::isfinite(number)) return;
      low = std::min(low, number);
      high = std::max(high, number);
    });
    return low <= high ? fmt::format(", \"range\": [{}, {}]", low, high) : std::string();
  });
}

std::string leaf_text(const Node& leaf) {
  std::string text = fmt::format("{{\"leaf\": \"{}\", \"shape\": {}", to_string(leaf.dtype),
                                 to_string(leaf.shape));
  // A failed leaf has no elements, and its readers fail.
  if (leaf.state() == NodeState::evaluated) {
    if (!is_contiguous(leaf.shape, leaf.value().strides))
      text += list_text("strides", leaf.value().strides);
    text += elements_text(leaf);
  }
  return text + "}";
}

std::string body_text(const ForeachTrace& body) {
  std::vector<std::string> steps;
  for (const ForeachStep& step : body.steps) {
    std::vector<int> operands;
    for (const int operand : step.operands)
      if (operand >= 0) operands.push_back(operand);
    steps.push_back(fmt::format(
        "{{\"op\": \"{}\", \"dtype\": \"{}\", \"compute\": \"{}\", \"operands\": [{}]}}",
        to_string(step.op), to_string(step.dtype), to_string(step.compute),
        fmt::join(operands, ", ")));
  }
  return fmt::format(
      "{{\"lists\": {}, \"shared\": {}, \"numbers\": {}, \"results\": [{}], \"steps\": [{}]}}",
      names(body.list_dtypes), names(body.shared_dtypes), names(body.number_dtypes),
      fmt::join(body.results, ", "), fmt::join(steps, ", "));
}

std::string slots_text(const Node& node) {
  const auto* body = dynamic_cast<const ForeachTrace*>(node.payload.get());
  std::vector<std::string> slots;
  for (std::size_t i = 0; i < node.slots().size(); ++i)
    slots.push_back(is_real_slot(node.op, node.dtype, body, i)
                        ? number_text(node.slots()[i].real)
                        : number_text(node.slots()[i].integer));
  return list_text("slots", slots);
}

/// A file name as a JSON string.
std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) result += c;
  }
  return result + "\"";
}

std::string node_text(const Node& node, const std::vector<std::size_t>& operands) {
  std::string text = fmt::format("{{\"op\": \"{}\", \"dtype\": \"{}\", \"shape\": {}",
                                 to_string(node.op), to_string(node.dtype), to_string(node.shape));
  text += list_text("operands", operands) + list_text("fixed", node.fixed()) + slots_text(node);
  if (node.op == Op::foreach_map)
    text += ", \"body\": " + body_text(static_cast<const ForeachTrace&>(*node.payload));
  return text + ", \"where\": " + quoted(to_string(node.where)) + "}";
}

}  // namespace

bool is_real_slot(Op op, DType dtype, const ForeachTrace* body, std::size_t slot) {
  switch (op) {
    case Op::constant:
    case Op::arange: return is_floating(dtype);
    case Op::pad: return slot == 0 && is_floating(dtype);
    case Op::layer_norm:
    case Op::layer_norm_grad:
    case Op::rms_norm:
    case Op::rms_norm_grad:
    case Op::dropout: return slot == 0;
    case Op::cross_entropy:
    case Op::cross_entropy_grad: return slot == 1;
    case Op::attention:
    case Op::attention_grad: return slot < 2;
    case Op::foreach_map: return is_floating(body->number_dtypes[slot]);
    default: return false;
  }
}

std::string trace_text(const Trace& trace, std::span<const NodeRef> written,
                       std::span<const NodeRef> previous) {
  const std::size_t first = trace.leaves.size();
  std::vector<std::string> steps;
  std::vector<std::size_t> outputs;
  for (const Node* leaf : trace.leaves) steps.push_back(leaf_text(*leaf));
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    const Node* node = trace.steps[i];
    std::vector<std::size_t> operands;
    for (const Source source : trace.sources_of(i))
      operands.push_back(source.leaf ? source.index : first + source.index);
    if (trace.keeps_value(i)) outputs.push_back(first + i);
    const auto cell = std::find(written.begin(), written.end(), NodeRef(trace.steps[i]));
    const Node* old = cell == written.end()
                          ? nullptr
                          : previous[static_cast<std::size_t>(cell - written.begin())].get();
    const auto leaf = std::find(trace.leaves.begin(), trace.leaves.end(), old);
    if (old && leaf != trace.leaves.end() && operands.size() == 1) {
      const auto number = static_cast<std::size_t>(leaf - trace.leaves.begin());
      steps.push_back(fmt::format("{{\"assign\": [{}, {}], \"dtype\": \"{}\", \"shape\": {}}}",
                                  number, operands[0], to_string(node->dtype),
                                  to_string(node->shape)));
    } else {
      steps.push_back(node_text(*node, operands));
    }
  }
  return fmt::format("{{\"steps\": [{}], \"outputs\": [{}]}}", fmt::join(steps, ", "),
                     fmt::join(outputs, ", "));
}

}  // namespace sinter::jit
