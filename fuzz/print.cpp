#include "fuzz/print.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "fuzz/call_text.h"
#include "runtime/element.h"
#include "runtime/results.h"

namespace sinter::fuzz {
namespace {

constexpr std::string_view includes = R"(#include <sinter/sinter.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace sinter {
namespace {
)";

constexpr std::string_view node_functions = R"(
/// A node that no function records by itself.
NodeRef node(Op op, DType dtype, const Shape& shape, const std::vector<NodeRef>& inputs,
             const std::vector<std::int64_t>& fixed, const std::vector<Slot>& slots) {
  return record({.op = op, .dtype = dtype, .shape = shape, .inputs = inputs, .fixed = fixed,
                 .slots = slots, .where = Where::current()});
}

[[maybe_unused]] Tensor pick(const NodeRef& from, std::int64_t result, DType dtype, const Shape& shape) {
  return Tensor(node(Op::pick, dtype, shape, {from}, {result}, {}));
}
)";

constexpr std::string_view drop_function = R"(
Tensor drop(const Tensor& a, double p, std::uint64_t seed, std::uint64_t ordinal) {
  Generator generator;
  generator.set_state(seed, ordinal);
  return dropout(a, p, generator);
}
)";

constexpr std::string_view attention_function = R"(
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, bool causal,
                 double scale, double p, std::uint64_t seed, std::uint64_t ordinal) {
  Generator generator;
  generator.set_state(seed, ordinal);
  return scaled_dot_product_attention(q, k, v, {mask, causal, scale, p, &generator});
}
)";

constexpr std::string_view strided_function = R"(
/// The elements of `memory`, seen with these strides from element `first` on.
Tensor strided(const Tensor& memory, const Shape& shape, const Strides& strides,
               std::int64_t first) {
  const std::size_t item = item_size(memory.dtype());
  auto* bytes = new std::vector<std::byte>(static_cast<std::size_t>(memory.element_count()) * item);
  memory.read_bytes(*bytes);
  return borrow_strided(bytes->data() + static_cast<std::size_t>(first) * item, memory.dtype(),
                        shape, strides, [bytes] { delete bytes; });
}
)";

constexpr std::string_view comparison = R"(
/// What the program computes, as text: elements, or an error.
std::vector<std::string> results(Level level, int threads, std::uint64_t turn) {
  set_level(level);
  set_threads(threads);
  std::vector<std::string> texts;
  const auto read = [&](const Tensor& tensor) {
    std::string text;
    try {
      if (is_floating(tensor.dtype())) {
        char item[40];
        for (const double x : tensor.to_host<double>()) {
          std::snprintf(item, sizeof item, "%.17g ", x);
          text += std::isnan(x) ? "nan " : item;
        }
      } else {
        for (const long long x : tensor.to_host<long long>()) text += std::to_string(x) + " ";
      }
    } catch (const std::exception& error) {
      text = error.what();
    }
    texts.push_back(text);
  };
  try {
    program(turn, read);
  } catch (const std::exception& error) {
    texts.push_back(error.what());
  }
  return texts;
}
)";

struct Sides {
  std::string_view left, right;
};

/// The two runs as arguments of results().
Sides sides_of(Check check) {
  switch (check) {
    case Check::meaning: return {"Level::interpret, 1, 0", "Level::eager, 1, 0"};
    case Check::eager_threads: return {"Level::eager, 1, 0", "Level::eager, 2, 0"};
    case Check::later: return {"Level::eager, 1, 1", "Level::fused, 2, 1"};
    case Check::threads: return {"Level::fused, 1, 0", "Level::fused, 2, 0"};
    default: return {"Level::eager, 1, 0", "Level::fused, 2, 0"};
  }
}

bool needs_value(const Script& script, std::size_t i) {
  if (std::find(script.outputs.begin(), script.outputs.end(), i) != script.outputs.end())
    return true;
  for (const Step& reader : script.steps)
    for (std::size_t k = 0; k < reader.operands.size(); ++k)
      if (reader.operands[k] == i && operand_text(script, reader, k) == fmt::format("v{}", i))
        return true;
  return false;
}

/// The elements one by one.
std::string given_text(const Step& leaf, std::int64_t count) {
  std::string text;
  with_storage_type(leaf.dtype, [&]<typename T>(T) {
    const std::size_t items = leaf.contents.given.size() / sizeof(T);
    for (std::size_t i = 0; i < items; ++i) {
      T item;
      std::memcpy(&item, leaf.contents.given.data() + i * sizeof(T), sizeof(T));
      text += i == 0 ? "" : ", ";
      text += is_floating(leaf.dtype) ? real_text(converted<double>(item))
                                      : fmt::format("{}", converted<std::int64_t>(item));
    }
  });
  const bool real = is_floating(leaf.dtype);
  return fmt::format("cast(from_host(std::vector<{}>{{{}}}, {{{}}}), {})",
                     real ? "double" : "long long", text, count,
                     leaf.dtype == boolean ? "boolean" : to_string(leaf.dtype));
}

std::string leaf_text(const Step& leaf) {
  const Contents& contents = leaf.contents;
  std::int64_t lowest = 0, count = 1;
  for (int axis = 0; axis < leaf.strides.rank(); ++axis) {
    const std::int64_t extent = (leaf.shape[axis] - 1) * leaf.strides[axis];
    if (extent < 0) lowest += extent;
    count += std::abs(extent);
  }
  const bool whole = leaf.strides.empty() || element_count(leaf.shape) == 0;
  if (whole) count = element_count(leaf.shape);
  const std::string_view dtype = leaf.dtype == boolean ? "boolean" : to_string(leaf.dtype);
  std::string memory;
  if (!contents.given.empty()) {
    memory = given_text(leaf, count);
    if (whole) memory = fmt::format("reshape({}, {})", memory, dims_text(leaf.shape));
  } else {
    memory = fmt::format("drawn({}, {}, {}, {}, {} + turn * 1000003, {})", dtype,
                         whole ? dims_text(leaf.shape) : fmt::format("{{{}}}", count),
                         real_text(contents.low), real_text(contents.high), contents.seed,
                         contents.specials);
  }
  if (whole) return memory + ".evaluate()";
  return fmt::format("strided({}, {}, {}, {})", memory, dims_text(leaf.shape),
                     dims_text(leaf.strides), -lowest);
}

/// The lines of one step.
std::string step_text(const Script& script, std::size_t i) {
  const Step& step = script.steps[i];
  switch (step.kind) {
    case StepKind::leaf:
      if (!step.variable) return fmt::format("  Tensor v{} = {};\n", i, leaf_text(step));
      return fmt::format("  Tensor v{0} = cell{0}.value();\n", i);
    case StepKind::gradient:
      return fmt::format("  Tensor v{0} = gradient(v{1}, v{2});\n", i, step.operands[0],
                         step.operands[1]);
    case StepKind::assign:
      return fmt::format("  cell{1}.set(v{2});\n  Tensor v{0} = cell{1}.value();\n", i,
                         step.operands[0], step.operands[1]);
    case StepKind::evaluate:
      return fmt::format("  Tensor v{0} = v{1}.evaluate();\n", i, step.operands[0]);
    default: break;
  }
  if (is_number(step) && !needs_value(script, i)) return "";
  const bool several = has_several_results(step.op);
  return fmt::format("  {} v{} = {};\n", several ? "auto" : "Tensor", i, call_text(script, step));
}

constexpr std::string_view gradient_function = R"(
/// d sum(y) / dx
Tensor gradient(const Tensor& y, const Tensor& x) {
  const Tensor found = vjp({y}, {ones_like(y)}, {x}, {.create_graph = true})[0];
  return found.defined() ? found : zeros_like(x);
}
)";

/// Lets go of the values of steps before `end` that nobody asks for from there on, as what is held
/// is computed.
std::string release_text(const Script& script, std::size_t end, std::vector<bool>& released) {
  std::vector<bool> wanted(script.steps.size(), false);
  for (const std::size_t output : script.outputs) wanted[output] = true;
  for (std::size_t i = end; i < script.steps.size(); ++i)
    for (const std::size_t operand : script.steps[i].operands) wanted[operand] = true;
  std::string text, tensors;
  for (std::size_t i = 0; i < end; ++i) {
    const Step& step = script.steps[i];
    if (wanted[i] || released[i] || (is_number(step) && !needs_value(script, i))) continue;
    released[i] = true;
    const bool several = step.kind == StepKind::op && has_several_results(step.op);
    if (several) text += fmt::format("  v{} = {{}};\n", i);
    else tensors += fmt::format("v{} = ", i);
  }
  return tensors.empty() ? text : text + "  " + tensors + "Tensor();\n";
}

std::string cell_text(const Script& script, std::size_t leaf) {
  return fmt::format("  const Variable cell{}({});\n", leaf, leaf_text(script.steps[leaf]));
}

/// The steps, and what is read in the end. `with_cells`: Variables are made where they are read.
std::string steps_text(const Script& script, bool with_cells) {
  std::string text;
  std::vector<bool> released(script.steps.size(), false);
  for (std::size_t i = 0; i < script.steps.size(); ++i) {
    if (script.steps[i].kind == StepKind::evaluate) text += release_text(script, i, released);
    if (script.steps[i].variable && with_cells) text += cell_text(script, i);
    text += step_text(script, i);
  }
  text += release_text(script, script.steps.size(), released);
  for (const std::size_t output : script.outputs) text += fmt::format("  read(v{});\n", output);
  for (const std::size_t leaf : written_leaves(script))
    text += fmt::format("  read(cell{}.value());\n", leaf);
  return text;
}

/// The steps several times, on Variables made before.
std::string rounds_text(const Script& script, int rounds) {
  std::string text;
  for (std::size_t i = 0; i < script.steps.size(); ++i)
    if (script.steps[i].variable) text += cell_text(script, i);
  text +=
      fmt::format("  for (const std::uint64_t end = turn + {}; turn < end; ++turn) {{\n", rounds);
  std::string steps = steps_text(script, false);
  for (std::size_t at = 0; at < steps.size(); at = steps.find('\n', at) + 1) {
    steps.insert(at, "  ");
    at += 2;
  }
  return text + steps + "  }\n";
}

/// The function that records the Script and reads its outputs.
std::string program_text(const Script& script, std::string_view name, int rounds) {
  return fmt::format(
      "\n/// Calls read with each value in question.\ntemplate <typename Read>\n"
      "void {}([[maybe_unused]] std::uint64_t turn, const Read& read) {{\n{}}}\n",
      name, rounds > 1 ? rounds_text(script, rounds) : steps_text(script, true));
}

constexpr std::string_view printing_main = R"(
}  // namespace
}  // namespace sinter

int main() {
  for (const std::string& text : sinter::results(sinter::Level::eager, 1, 0))
    std::printf("%s\n", text.c_str());
}
)";

std::string main_text(Check check, std::string_view before) {
  const Sides sides = sides_of(check);
  return fmt::format(R"(
int compare() {{
{}  const std::vector<std::string> left = results({}), right = results({});
  for (std::size_t i = 0; i < left.size() && i < right.size(); ++i)
    if (left[i] != right[i])
      std::printf("value %zu:\n  %s\n  %s\n", i, left[i].c_str(), right[i].c_str());
  std::printf(left == right ? "no difference\n" : "there is a difference\n");
  return left == right ? 0 : 1;
}}

}}  // namespace
}}  // namespace sinter

int main() {{ return sinter::compare(); }}
)",
                     before, sides.left, sides.right);
}

}  // namespace

std::string to_cpp(const Script& script, std::optional<Check> check, std::string_view heading) {
  std::string body, before;
  const std::optional<Script> second = check ? second_call(script, *check) : std::nullopt;
  if (second) {
    body = program_text(script, "first_call", 1) + program_text(*second, "program", 1);
    before =
        "  set_level(Level::fused);\n"
        "  first_call(0, [](const Tensor& tensor) { tensor.evaluate(); });\n";
  } else {
    body = program_text(script, "program", check == Check::rounds ? rounds : 1);
  }
  const auto uses = [&](std::string_view name) { return body.find(name) != std::string::npos; };
  std::string text = fmt::format("{}{}", heading, includes);
  if (uses("drawn(")) text += drawing_text;
  if (uses("strided(")) text += strided_function;
  if (uses("node(Op::")) text += node_functions;
  if (uses(" drop(")) text += drop_function;
  if (uses(" attention(")) text += attention_function;
  if (uses(" gradient(")) text += gradient_function;
  return text + body + std::string(comparison) +
         (check ? main_text(*check, before) : std::string(printing_main));
}

}  // namespace sinter::fuzz
