// Programs as JSON: drawn ones and recorded traces, whole or not at all.
#include <doctest/doctest.h>

#include <fstream>

#include "fuzz/draw_script.h"
#include "fuzz/json.h"
#include "fuzz/replay.h"
#include "jit/statistics.h"
#include "jit/trace.h"
#include "jit/trace_file.h"
#include "runtime/error.h"
#include "runtime/evaluate.h"
#include "runtime/grad.h"
#include "runtime/ops.h"
#include "runtime/variable.h"
#include "tests/inspecting.h"
#include "tests/temporary_directory.h"

namespace sinter::fuzz {
namespace {

/// The text without the members of this name, whose values are strings or lists that end so.
std::string without(std::string text, const std::string& name, char end) {
  const std::string begin = ", \"" + name + "\": ";
  for (std::size_t at = 0; (at = text.find(begin, at)) != std::string::npos;) {
    const std::size_t value = at + begin.size() + 1;
    text.erase(at, text.find(end, value) + 1 - at);
  }
  return text;
}

/// What recording these tensors gives as a trace file, without the lines that called.
std::string traced(const std::vector<Tensor>& tensors) {
  std::vector<NodeRef> roots;
  for (const Tensor& tensor : tensors) roots.push_back(tensor.ref());
  const LaunchLock lock;
  return without(jit::trace_text(jit::linearise(roots, Level::eager)), "where", '"');
}

Tensor floats_of(std::int64_t count) {
  return from_host(std::vector<float>(static_cast<std::size_t>(count), 0.75f), {count});
}

/// Without what is drawn anew.
std::string without_elements(std::string text) {
  for (const char* name : {"elements", "range", "strides"}) text = without(text, name, ']');
  return text;
}

std::string refusal(const std::string& text) {
  try {
    from_json(text);
  } catch (const FileError& error) {
    return error.what();
  }
  return "";
}

/// A training step of a small model: two layers, a loss, gradients, Adam over a list.
std::vector<Tensor> training_step() {
  Generator generator(3);
  const auto parameter = [&](const Shape& shape) {
    return uniform(shape, generator, -1, 1).evaluate();
  };
  const Tensor x = parameter({6, 8}), w = parameter({12, 8}), b = parameter({12});
  const Tensor u = parameter({5, 12}), table = parameter({9, 8});
  const Tensor targets = from_host(std::vector<std::int64_t>{0, 4, 2, 1, 3, -100}, {6});
  const Tensor places = from_host(std::vector<std::int64_t>{8, 0, 3, 3, 1, 2}, {6});
  const Tensor hidden = layer_norm(gelu(linear(x + embedding(table, places), w, b)));
  const Tensor scores = linear(dropout(hidden, 0.25, generator), u);
  const Tensor loss = cross_entropy(scores, targets, {.label_smoothing = 0.1});
  std::vector<Tensor> gradients = vjp({loss}, {ones_like(loss)}, {w, b, u, table});
  const auto updated = foreach_map(
      [&](const std::vector<Tensor>& p) { return std::vector<Tensor>{p[0] - p[1] * 0.5}; },
      {{w, b, u, table}, gradients});
  std::vector<Tensor> results = updated[0];
  results.push_back(loss);
  results.push_back(scaled_dot_product_attention(
      reshape(hidden, {1, 2, 6, 6}), reshape(hidden, {1, 2, 6, 6}), reshape(hidden, {1, 2, 6, 6}),
      {.causal = true, .dropout = 0.1, .generator = &generator}));
  results.push_back(flip(scores, {0, 1}));
  results.push_back(sort(scores, 1, true).second);
  results.push_back(where(scores > 0.25, scores, false) + arange(5, f32));
  return results;
}

}  // namespace

TEST_CASE("a drawn program is the same after writing and reading") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const std::string text = to_json(inferred(draw_script(seed, options_for(seed))));
    CHECK(to_json(from_json(text)) == text);
  }
}

TEST_CASE("a recorded trace is recorded again from its file") {
  const std::vector<Tensor> recorded = training_step();
  const std::string text = traced(recorded);
  const Script script = from_json(text);
  CHECK(traced(record(script)) == text);
  // And computes the same.
  const std::vector<Reading> readings = run(script, {});
  REQUIRE(readings.size() >= recorded.size());
  std::size_t equal = 0;
  for (const Tensor& tensor : recorded) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.element_count()) *
                                 item_size(tensor.dtype()));
    tensor.read_bytes(bytes);
    for (const Reading& reading : readings)
      if (reading.dtype == tensor.dtype() && reading.bytes == bytes) {
        ++equal;
        break;
      }
  }
  CHECK(equal == recorded.size());
}

TEST_CASE("traces of drawn programs stay what they are when they are recorded again") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const Script script = draw_script(seed, options_for(seed));
    // Once through the public interface numbers are no longer shared by the ops that read them, and
    // results of one node stand together.
    const std::string text = traced(record(from_json(traced(record(script)))));
    CHECK(without_elements(traced(record(from_json(text)))) == without_elements(text));
  }
}

TEST_CASE("a written Variable is an assignment in a trace") {
  const Variable cell(floats_of(3));
  const Tensor old = cell.value();
  old.evaluate();
  cell.set(cell.value() * 0.5);
  const Tensor now = cell.value();
  const std::vector<NodeRef> roots{now.ref()}, previous{old.ref()};
  std::string text;
  {
    const LaunchLock lock;
    text = jit::trace_text(jit::linearise(roots, Level::eager), roots, previous);
  }
  CHECK(text.find("\"assign\": [0, 2]") != std::string::npos);
  const Script script = from_json(text);
  CHECK(script.steps[0].variable);
  CHECK(run(script, {}).size() == 2);
}

TEST_CASE("a trace directory has a graph that can be run again") {
  const TemporaryDirectory directory;
  const Variable cell(floats_of(5));
  std::vector<std::byte> expected(sizeof(float));
  {
    const tests::Inspecting inspecting({.trace_directory = directory.path().string()});
    cell.value().evaluate();
    cell.set(tanh(cell.value()) * 2);
    const Tensor loss = sum(exp(cell.value()));
    reset_programs();
    loss.read_bytes(expected);
  }
  std::size_t same = 0;  // the sum, and the sum without its axis
  for (const auto& folder : std::filesystem::directory_iterator(directory.path()))
    for (const Script& script : read_scripts(folder.path() / "graph.json"))
      for (const Reading& reading : run(script, {})) same += reading.bytes == expected;
  CHECK(same == 2);
}

TEST_CASE("large leaves are described by their range") {
  const Tensor indices = remainder(arange(100000), 77).evaluate();
  const std::string text = traced({indices + 1});
  CHECK(text.find("\"range\": [0, 76]") != std::string::npos);
  CHECK(text.size() < 1000);
  const Script script = from_json(text);
  CHECK(script.steps[0].contents.high == 76);
}

TEST_CASE("part of a file is no program") {
  const std::string text = traced(training_step());
  for (std::size_t length = 0; length < text.size(); length += 37)
    CHECK(refusal(text.substr(0, length)) != "");
  CHECK(refusal(text) == "");
}

TEST_CASE("files that describe no program are refused with the reason") {
  const std::string leaf = R"({"leaf": "f32", "shape": [2, 3]})";
  const auto with = [&](const std::string& step, const std::string& outputs = "[1]") {
    return "{\"steps\": [" + leaf + ", " + step + "], \"outputs\": " + outputs + "}";
  };
  const auto op = [&](const std::string& name, const std::string& rest) {
    return with(R"({"op": ")" + name + R"(", "dtype": "f32", "shape": [2, 3])" + rest + "}");
  };
  CHECK(refusal(op("exp", R"(, "operands": [0])")) == "");
  CHECK(refusal(op("exp", R"(, "operands": [1])")).find("step 1 reads step 1") !=
        std::string::npos);
  CHECK(refusal(op("exp", "")).find("operands or attributes") != std::string::npos);
  CHECK(refusal(op("expo", R"(, "operands": [0])")).find("no op: expo") != std::string::npos);
  CHECK(refusal(op("sum", R"(, "operands": [0], "fixed": [2])")).find("give f32 [2, 1]") !=
        std::string::npos);
  CHECK(refusal(op("permute", R"(, "operands": [0], "fixed": [0])")) != "");
  CHECK(refusal(op("softmax_grad", R"(, "operands": [0, 0], "fixed": [7])")) != "");
  CHECK(refusal(op("slice", R"(, "operands": [0], "fixed": [1, 1], "slots": [1, 1])")) != "");
  CHECK(refusal(op("foreach_map", R"(, "operands": [0], "fixed": [1, 1, 1])")) != "");
  CHECK(refusal(op("exp", R"(, "operands": ["x"])")) != "");
  CHECK(refusal(with(R"({"gradient": [0]})")) != "");
  CHECK(refusal(with(R"({"assign": [0, 0]})")) == "");
  CHECK(refusal(with(leaf, "[7]")).find("no step 7") != std::string::npos);
  CHECK(refusal(with(R"({"leaf": "f32", "shape": [2], "elements": [1]})")) != "");
  CHECK(refusal(with(R"({"leaf": "f32", "shape": [-2]})")) != "");
  CHECK(refusal(with(R"({"leaf": "f32", "shape": [2], "strides": [1, 1]})")) != "");
  CHECK(refusal("[]") != "");
  CHECK(refusal("{}") != "");
}

TEST_CASE("a file of lines names the one that is broken") {
  const TemporaryDirectory directory;
  const std::string path = directory / "trace.jsonl";
  const std::string text = traced({exp(floats_of(2))});
  std::ofstream(path) << R"({"event": "start"})"
                      << "\n"
                      << text << "\n\n"
                      << R"({"graph": )" << text << "}\n";
  CHECK(read_scripts(path).size() == 2);
  std::ofstream(path, std::ios::app) << text.substr(0, 30) << "\n";
  std::string problem;
  try {
    read_scripts(path);
  } catch (const FileError& error) {
    problem = error.what();
  }
  CHECK(problem.find("trace.jsonl:5: ") != std::string::npos);
}

}  // namespace sinter::fuzz
