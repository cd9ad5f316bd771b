#include "jit/report_graph.h"

#include <cmath>

#include "jit/report_line.h"
#include "jit/trace_file.h"
#include "runtime/attributes.h"
#include "runtime/foreach_body.h"

namespace sinter::jit {
namespace {

/// JSON has no infinity and no NaN.
Json json_of(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

Json slots_of(const Node& node) {
  const auto* body = dynamic_cast<const ForeachTrace*>(node.payload.get());
  Json slots = Json::array();
  for (std::size_t i = 0; i < node.slots().size(); ++i)
    slots.push_back(is_real_slot(node.op, node.dtype, body, i) ? json_of(node.slots()[i].real)
                                                               : Json(node.slots()[i].integer));
  return slots;
}

/// The straight line of a foreach_map, whose values are numbered as foreach_body.h says.
Json body_of(const ForeachTrace& body) {
  Json steps = Json::array();
  for (const ForeachStep& step : body.steps) {
    Json operands = Json::array();
    for (const int operand : step.operands)
      if (operand >= 0) operands.push_back(operand);
    steps.push_back({{"op", to_string(step.op)},
                     {"dtype", to_string(step.dtype)},
                     {"compute", to_string(step.compute)},
                     {"operands", std::move(operands)}});
  }
  return {{"steps", std::move(steps)}, {"results", body.results}};
}

void append_attributes(Json& record, const Node& node) {
  if (!node.fixed().empty())
    record["fixed"] = std::vector(node.fixed().begin(), node.fixed().end());
  if (!node.slots().empty()) record["slots"] = slots_of(node);
  if (node.op == Op::foreach_map)
    record["body"] = body_of(static_cast<const ForeachTrace&>(*node.payload));
}

void append_lines_of(Json& record, const Node& node) {
  record["line"] = place_text(node.user);
  if (place_text(node.where) != place_text(node.user)) record["where"] = place_text(node.where);
}

Json operands_of(std::span<const Source> sources, const char* kind) {
  Json operands = Json::array();
  for (const Source source : sources) operands.push_back(json_of(source, kind));
  return operands;
}

}  // namespace

std::string graph_lines(const Trace& trace) {
  std::string lines;
  for (std::size_t i = 0; i < trace.leaves.size(); ++i) {
    Json record{{"record", "leaf"}, {"index", i}};
    append_node(record, *trace.leaves[i]);
    append_lines_of(record, *trace.leaves[i]);
    append_line(lines, record);
  }
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    const Node& node = *trace.steps[i];
    Json record{{"record", "step"}, {"index", i}};
    append_node(record, node);
    record["inputs"] = operands_of(trace.sources_of(i), "step");
    append_attributes(record, node);
    record["kept"] = static_cast<bool>(trace.kept[i]);
    if (node.region.region != 0) record["region"] = node.region.region;
    if (node.region.backward) record["backward"] = true;
    append_lines_of(record, node);
    append_line(lines, record);
  }
  return lines;
}

std::string primitive_lines(const Trace& trace, const Primitives& primitives) {
  std::string lines;
  for (PrimitiveId i = 0; i < primitives.steps.size(); ++i) {
    const Primitive& primitive = primitives.steps[i];
    const Node& node = primitive.whole ? *trace.steps[primitive.origin] : *primitive.node;
    Json record{{"record", "primitive"}, {"index", i}};
    append_node(record, node);
    record["inputs"] = operands_of(primitives.operands_of(i), "primitive");
    if (!primitive.whole) append_attributes(record, node);
    record["step"] = primitive.origin;
    record["whole"] = primitive.whole;
    append_line(lines, record);
  }
  return lines;
}

}  // namespace sinter::jit
