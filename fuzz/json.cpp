#include "fuzz/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "fuzz/replay.h"
#include "jit/trace_file.h"
#include "runtime/element.h"
#include "runtime/error.h"

namespace sinter::fuzz {
namespace {

using Json = nlohmann::json;

[[noreturn]] void refuse(const std::string& problem) { throw FileError("script: " + problem); }

DType dtype_from(const Json& json) {
  const auto& name = json.get_ref<const std::string&>();
  for (int i = 0; i < dtype_count; ++i)
    if (to_string(static_cast<DType>(i)) == name) return static_cast<DType>(i);
  refuse("no dtype: " + name);
}

Op op_from(const Json& json) {
  const auto& name = json.get_ref<const std::string&>();
  for (int i = 0; i < op_count; ++i)
    if (to_string(static_cast<Op>(i)) == name) return static_cast<Op>(i);
  refuse("no op: " + name);
}

double real_from(const Json& json) {
  if (!json.is_string()) return json.get<double>();
  const auto& text = json.get_ref<const std::string&>();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  if (text != "inf" && text != "-inf") refuse("no number: " + text);
  return text == "inf" ? infinity : -infinity;
}

Json real_to(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return value;
}

Dims dims_from(const Json& json) {
  Dims dims;
  if (json.size() > static_cast<std::size_t>(max_rank)) refuse("too many axes");
  for (const Json& size : json) dims.push_back(size.get<std::int64_t>());
  return dims;
}

Json dims_to(const Dims& dims) { return std::vector<std::int64_t>(dims.begin(), dims.end()); }

std::vector<DType> dtypes_from(const Json& json) {
  std::vector<DType> dtypes;
  for (const Json& name : json) dtypes.push_back(dtype_from(name));
  return dtypes;
}

Json dtypes_to(const std::vector<DType>& dtypes) {
  Json names = Json::array();
  for (const DType dtype : dtypes) names.push_back(to_string(dtype));
  return names;
}

std::shared_ptr<const ForeachTrace> body_from(const Json& json) {
  auto body = std::make_shared<ForeachTrace>();
  body->list_dtypes = dtypes_from(json.at("lists"));
  body->lists = static_cast<int>(body->list_dtypes.size());
  body->shared_dtypes = dtypes_from(json.at("shared"));
  body->number_dtypes = dtypes_from(json.at("numbers"));
  for (const Json& one : json.at("steps")) {
    ForeachStep step{op_from(one.at("op")),
                     dtype_from(one.at("dtype")),
                     {-1, -1, -1},
                     dtype_from(one.at("compute"))};
    const int known = body->first_step() + static_cast<int>(body->steps.size());
    const auto operands = one.at("operands").get<std::vector<int>>();
    const int arity = step.op == Op::cast ? 1 : info(step.op).arity;
    if (arity == 0 || operands.size() != static_cast<std::size_t>(arity))
      refuse("a step of a body has other operands than its op");
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (operands[i] < 0 || operands[i] >= known) refuse("a body reads what is not there");
      step.operands[i] = operands[i];
    }
    body->steps.push_back(step);
  }
  body->results = json.at("results").get<std::vector<int>>();
  for (const int result : body->results)
    if (result < 0 || result >= body->first_step() + static_cast<int>(body->steps.size()))
      refuse("a body gives what is not there");
  return body;
}

Json body_to(const ForeachTrace& body) {
  Json steps = Json::array();
  for (const ForeachStep& step : body.steps) {
    std::vector<int> operands;
    for (const int operand : step.operands)
      if (operand >= 0) operands.push_back(operand);
    steps.push_back({{"op", to_string(step.op)},
                     {"dtype", to_string(step.dtype)},
                     {"compute", to_string(step.compute)},
                     {"operands", operands}});
  }
  return {{"lists", dtypes_to(body.list_dtypes)},
          {"shared", dtypes_to(body.shared_dtypes)},
          {"numbers", dtypes_to(body.number_dtypes)},
          {"steps", steps},
          {"results", body.results}};
}

/// The place in memory of the element at a row-major position, from the lowest place on.
std::size_t place_of(const Step& leaf, std::int64_t position) {
  std::int64_t rest = position, place = 0;
  for (int axis = leaf.shape.rank() - 1; axis >= 0; --axis) {
    const std::int64_t stride = leaf.strides[axis];
    place += rest % leaf.shape[axis] * stride -
             std::min<std::int64_t>(stride, 0) * (leaf.shape[axis] - 1);
    rest /= leaf.shape[axis];
  }
  return static_cast<std::size_t>(place);
}

void place_elements(Step& leaf, const Json& json) {
  const std::int64_t count = element_count(leaf.shape);
  if (static_cast<std::int64_t>(json.size()) != count) refuse("a leaf has too few elements");
  if (count == 0) return;
  if (leaf.strides.empty()) leaf.strides = contiguous_strides(leaf.shape);
  const std::size_t held = [&] {
    std::size_t last = 0;
    for (std::int64_t i = 0; i < count; ++i) last = std::max(last, place_of(leaf, i));
    return last + 1;
  }();
  double low = std::numeric_limits<double>::infinity(), high = -low;
  with_storage_type(leaf.dtype, [&]<typename T>(T) {
    leaf.contents.given.resize(held * sizeof(T));
    for (std::int64_t i = 0; i < count; ++i) {
      const Json& element = json[static_cast<std::size_t>(i)];
      const T item = is_floating(leaf.dtype) ? converted<T>(real_from(element))
                                             : converted<T>(element.get<std::int64_t>());
      std::memcpy(leaf.contents.given.data() + place_of(leaf, i) * sizeof(T), &item, sizeof(T));
      const auto number = converted<double>(item);
      if (!std::isfinite(number)) continue;
      low = std::min(low, number);
      high = std::max(high, number);
    }
  });
  if (low <= high) leaf.contents.low = low, leaf.contents.high = high;
  if (is_contiguous(leaf.shape, leaf.strides)) leaf.strides = {};
}

Step leaf_from(const Json& json, std::size_t number) {
  Contents contents;
  contents.seed = json.value("seed", static_cast<std::uint64_t>(number));
  contents.specials = json.value("specials", std::uint32_t{0});
  if (json.contains("range")) {
    contents.low = json["range"].at(0).get<double>();
    contents.high = json["range"].at(1).get<double>();
  }
  Step leaf = make_leaf(dtype_from(json.at("leaf")), dims_from(json.at("shape")), contents);
  check_shape("leaf", leaf.shape, Where::current());
  leaf.variable = json.value("variable", false);
  if (json.contains("strides")) leaf.strides = dims_from(json["strides"]);
  if (!leaf.strides.empty() && leaf.strides.rank() != leaf.shape.rank())
    refuse("a leaf has other strides than axes");
  if (json.contains("elements")) place_elements(leaf, json["elements"]);
  return leaf;
}

Json leaf_to(const Step& leaf) {
  Json json{{"leaf", to_string(leaf.dtype)}, {"shape", dims_to(leaf.shape)}};
  if (!leaf.strides.empty()) json["strides"] = dims_to(leaf.strides);
  if (leaf.variable) json["variable"] = true;
  if (leaf.contents.given.empty()) {
    json["range"] = {leaf.contents.low, leaf.contents.high};
    json["seed"] = leaf.contents.seed;
    if (leaf.contents.specials != 0) json["specials"] = leaf.contents.specials;
    return json;
  }
  Step placed = leaf;
  if (placed.strides.empty()) placed.strides = contiguous_strides(placed.shape);
  Json& elements = json["elements"] = Json::array();
  with_storage_type(leaf.dtype, [&]<typename T>(T) {
    for (std::int64_t i = 0; i < element_count(leaf.shape); ++i) {
      T item;
      std::memcpy(&item, leaf.contents.given.data() + place_of(placed, i) * sizeof(T), sizeof(T));
      if (is_floating(leaf.dtype)) elements.push_back(real_to(converted<double>(item)));
      else elements.push_back(converted<std::int64_t>(item));
    }
  });
  return json;
}

Step op_from_json(const Json& json) {
  Step step = make_op(op_from(json.at("op")), json.value("operands", std::vector<std::size_t>()),
                      json.value("fixed", std::vector<std::int64_t>()));
  step.dtype = dtype_from(json.at("dtype"));
  step.shape = dims_from(json.at("shape"));
  if (json.contains("body")) step.body = body_from(json["body"]);
  if ((step.op == Op::foreach_map) != (step.body != nullptr)) refuse("foreach_map and no body");
  const Json slots = json.value("slots", Json::array());
  if (step.body && slots.size() != step.body->number_dtypes.size())
    refuse("a body has other numbers than its node");
  for (std::size_t i = 0; i < slots.size(); ++i)
    step.slots.push_back(is_real_slot(step, i) ? real_slot(real_from(slots[i]))
                                               : integer_slot(slots[i].get<std::int64_t>()));
  return step;
}

Step effect_from(const Json& json, const char* name, StepKind kind) {
  Step step;
  step.kind = kind;
  step.operands = json.at(name).get<std::vector<std::size_t>>();
  return step;
}

Step step_from(const Json& json, std::size_t number) {
  if (json.contains("leaf")) return leaf_from(json, number);
  if (json.contains("gradient")) return effect_from(json, "gradient", StepKind::gradient);
  if (json.contains("assign")) return effect_from(json, "assign", StepKind::assign);
  if (json.contains("evaluate")) return effect_from(json, "evaluate", StepKind::evaluate);
  return op_from_json(json);
}

Json op_to(const Step& step) {
  Json json{
      {"op", to_string(step.op)}, {"dtype", to_string(step.dtype)}, {"shape", dims_to(step.shape)}};
  if (!step.operands.empty()) json["operands"] = step.operands;
  if (!step.fixed.empty()) json["fixed"] = step.fixed;
  if (step.body) json["body"] = body_to(*step.body);
  for (std::size_t i = 0; i < step.slots.size(); ++i)
    json["slots"].push_back(is_real_slot(step, i) ? real_to(step.slots[i].real)
                                                  : Json(step.slots[i].integer));
  return json;
}

Json step_to(const Step& step) {
  switch (step.kind) {
    case StepKind::leaf: return leaf_to(step);
    case StepKind::gradient: return {{"gradient", step.operands}};
    case StepKind::assign: return {{"assign", step.operands}};
    case StepKind::evaluate: return {{"evaluate", step.operands}};
    default: return op_to(step);
  }
}

/// The Variables that are written are leaves like others in a file.
void mark_variables(Script& script) {
  for (const Step& step : script.steps)
    if (step.kind == StepKind::assign && !step.operands.empty() &&
        step.operands[0] < script.steps.size())
      script.steps[step.operands[0]].variable = true;
}

Script script_from(const Json& json) {
  Script script;
  for (const Json& step : json.at("steps"))
    script.steps.push_back(step_from(step, script.steps.size()));
  script.outputs = json.at("outputs").get<std::vector<std::size_t>>();
  mark_variables(script);
  if (const auto flaw = find_flaw(script)) refuse(*flaw);
  Script known = inferred(script);
  for (std::size_t i = 0; i < script.steps.size(); ++i) {
    const Step& step = script.steps[i];
    if (step.kind == StepKind::op &&
        (step.dtype != known.steps[i].dtype || step.shape != known.steps[i].shape))
      refuse(fmt::format("step {}, {}: {} {}, but its operands give {} {}", i, to_string(step.op),
                         to_string(step.dtype), to_string(step.shape),
                         to_string(known.steps[i].dtype), to_string(known.steps[i].shape)));
  }
  return known;
}

Script checked(const Json& json) {
  try {
    return script_from(json);
  } catch (const Json::exception& error) {
    refuse(error.what());
  } catch (const UsageError& error) {
    refuse(error.what());
  }
}

}  // namespace

std::string to_json(const Script& script) {
  Json json{{"steps", Json::array()}, {"outputs", script.outputs}};
  for (const Step& step : script.steps) json["steps"].push_back(step_to(step));
  return json.dump();
}

Script from_json(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) refuse("no JSON");
  return checked(json);
}

std::vector<Script> read_scripts(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw FileError(path + ": cannot be opened");
  std::vector<Script> scripts;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty()) continue;
    try {
      const Json json = Json::parse(line, nullptr, false);
      if (!json.is_object()) refuse("no JSON object");
      if (json.contains("steps") && json.contains("outputs")) scripts.push_back(checked(json));
      else if (json.contains("graph")) scripts.push_back(checked(json["graph"]));
    } catch (const FileError& error) {
      throw FileError(fmt::format("{}:{}: {}", path, number, error.what()));
    }
  }
  if (file.bad()) throw FileError(path + ": cannot be read");
  return scripts;
}

}  // namespace sinter::fuzz
