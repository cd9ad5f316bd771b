#include "models/checkpoint.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "tests/temporary_directory.h"

namespace sinter::models {
namespace {

using Floats = std::vector<float>;

Variable parameter(const std::string& name, const Shape& shape, DType dtype = f32) {
  const auto count = static_cast<std::size_t>(element_count(shape));
  return Variable(from_bytes(std::vector<std::byte>(count * item_size(dtype)), dtype, shape), name);
}

Floats values_of(const Variable& variable) { return variable.value().to_host<float>(); }

void write_model(const TemporaryDirectory& directory, const NamedTensors& tensors) {
  write_safetensors(directory / "model.safetensors", tensors);
}

Tensor floats(const Floats& values, const Shape& shape) { return from_host(values, shape); }

/// The square weight of one linear layer that maps [1, 0] to [0, 1].
const Floats square = {0, 1, 0, 0};

TEST_CASE("checkpoint: parameters, optimizer and counters come back") {
  const TemporaryDirectory directory;
  const CaptionerConfig config = preset("tiny").model;
  const std::vector<Variable> saved = {Variable(floats({1, 2, 3, 4}, {2, 2}), "encoder.a"),
                                       Variable(cast(floats({5}, {}), bf16), "decoder.b")};
  TrainingState state;
  state.optimizer["m.encoder.a"] = floats({0.5F, 0.25F}, {2});
  state.optimizer["steps"] = from_host(std::vector<std::int64_t>{7}, {});
  state.counters = {{"step", 12}, {"seed", ~std::uint64_t{0}}};
  state.names = {{"data", "digits"}};
  save_checkpoint(directory / "run", config, saved, state);

  CHECK(load_config(directory / "run") == config);
  const std::vector<Variable> loaded = {parameter("decoder.b", {}, bf16),
                                        parameter("encoder.a", {2, 2})};
  load_parameters(directory / "run", loaded);
  CHECK(values_of(loaded[0]) == Floats{5});
  CHECK(values_of(loaded[1]) == Floats{1, 2, 3, 4});
  const TrainingState again = load_training_state(directory / "run");
  CHECK(again.counters == state.counters);
  CHECK(again.names == state.names);
  CHECK(again.optimizer.size() == 2);
  CHECK(again.optimizer.at("m.encoder.a").to_host<float>() == Floats{0.5F, 0.25F});
  CHECK(again.optimizer.at("steps").item<std::int64_t>() == 7);
}

TEST_CASE("checkpoint: a failed save leaves the one before") {
  const TemporaryDirectory directory;
  const CaptionerConfig config = preset("tiny").model;
  save_checkpoint(directory.path(), config, std::vector{Variable(floats({1}, {}), "a")}, {});
  // The second of the four files cannot be written.
  TrainingState state;
  state.optimizer["undefined"] = Tensor();
  const Variable later(floats({2}, {}), "a");
  CHECK_THROWS_AS(save_checkpoint(directory.path(), config, std::vector{later}, state), UsageError);
  const Variable loaded = parameter("a", {});
  load_parameters(directory.path(), std::vector{loaded});
  CHECK(values_of(loaded) == Floats{1});
  CHECK_THROWS_AS(save_checkpoint(directory.path(), {}, std::vector{later, later}, {}), UsageError);
  CHECK_THROWS_AS(
      save_checkpoint(directory.path(), config, std::vector{Variable(floats({1}, {}))}, {}),
      UsageError);
}

TEST_CASE("checkpoint: missing, unknown and mis-shaped tensors are named, and nothing is set") {
  const TemporaryDirectory directory;
  write_model(directory, {{"a", floats({1, 2}, {2})}, {"b", floats({1}, {1})}});
  const auto expect_error = [&](const std::vector<Variable>& parameters, const char* part) {
    CHECK_THROWS_WITH_AS(load_parameters(directory.path(), parameters), doctest::Contains(part),
                         FileError);
    for (const Variable& p : parameters)
      for (const float value : values_of(p)) CHECK(value == 0);
  };
  const Variable a = parameter("a", {2}), b = parameter("b", {1});
  expect_error({a, b, parameter("c", {1})}, "missing: c");
  expect_error({a}, "not known: b");
  expect_error({a, parameter("b", {1, 1})}, "b [1] instead of [1, 1]");
  expect_error({a, parameter("b", {1}, i32)}, "b f32 instead of i32");
  CHECK_THROWS_AS(load_parameters(directory / "none", std::vector{a, b}), FileError);
  load_parameters(directory.path(), std::vector{a, b});
  CHECK(values_of(a) == Floats{1, 2});
}

TEST_CASE("checkpoint: floating tensors are converted to the parameter's dtype") {
  const TemporaryDirectory directory;
  write_model(directory, {{"a", cast(floats({1.5F, -2}, {2}), f16)}});
  const Variable a = parameter("a", {2});
  load_parameters(directory.path(), std::vector{a});
  CHECK(values_of(a) == Floats{1.5F, -2});
}

TEST_CASE("checkpoint: plain GPT-2 files load, buffers are left out, nothing is transposed") {
  for (const std::string prefix : {"", "transformer.", "decoder.transformer."}) {
    CAPTURE(prefix);
    const TemporaryDirectory directory;
    NamedTensors tensors = {
        {prefix + "wte.weight", floats({1, 2, 3, 4, 5, 6}, {3, 2})},
        {prefix + "h.0.attn.c_attn.weight", floats(Floats(12, 7), {2, 6})},
        {prefix + "h.0.attn.c_attn.bias", floats(Floats(6, 8), {6})},
        {prefix + "h.0.attn.c_proj.weight", floats(square, {2, 2})},
        {prefix + "h.0.attn.bias", floats({1}, {1, 1, 1, 1})},
        {prefix + "h.0.attn.masked_bias", floats({-1e4F}, {})},
    };
    write_model(directory, tensors);
    const std::string base = "decoder.transformer.";
    const std::vector<Variable> parameters = {parameter(base + "wte.weight", {3, 2}),
                                              parameter(base + "h.0.attn.c_attn.weight", {2, 6}),
                                              parameter(base + "h.0.attn.c_attn.bias", {6}),
                                              parameter(base + "h.0.attn.c_proj.weight", {2, 2})};
    load_parameters(directory.path(), parameters);
    CHECK(values_of(parameters[2]) == Floats(6, 8));
    CHECK(values_of(parameters[3]) == square);

    tensors.erase(prefix + "h.0.attn.c_attn.bias");
    write_model(directory, tensors);
    CHECK_THROWS_WITH_AS(load_parameters(directory.path(), parameters),
                         doctest::Contains("missing: decoder.transformer.h.0.attn.c_attn.bias"),
                         FileError);
  }
}

TEST_CASE("checkpoint: a stored head must be the token embedding") {
  const TemporaryDirectory directory;
  const std::vector<Variable> parameters = {parameter("decoder.transformer.wte.weight", {1, 2})};
  write_model(directory, {{"transformer.wte.weight", floats({1, 2}, {1, 2})},
                          {"lm_head.weight", floats({1, 2}, {1, 2})}});
  load_parameters(directory.path(), parameters);
  CHECK(values_of(parameters[0]) == Floats{1, 2});
  write_model(directory, {{"transformer.wte.weight", floats({1, 2}, {1, 2})},
                          {"lm_head.weight", floats({1, 3}, {1, 2})}});
  CHECK_THROWS_WITH_AS(load_parameters(directory.path(), parameters),
                       doctest::Contains("lm_head.weight is not the token embedding"), FileError);
  write_model(directory, {{"transformer.wte.weight", floats({1, 2}, {1, 2})},
                          {"wte.weight", floats({1, 2}, {1, 2})}});
  CHECK_THROWS_WITH_AS(load_parameters(directory.path(), parameters),
                       doctest::Contains("are the same parameter"), FileError);
}

TEST_CASE("checkpoint: files cut at any byte are errors") {
  const TemporaryDirectory directory;
  const std::vector<Variable> parameters = {parameter("a", {3}), parameter("b", {})};
  TrainingState state;
  state.optimizer["m"] = floats({1}, {1});
  state.counters["step"] = 77;
  save_checkpoint(directory.path(), preset("tiny").model, parameters, state);
  for (const char* name : {"model.safetensors", "optimizer.safetensors", "trainer.json"}) {
    const std::string whole = read_file(directory / name);
    // The last byte of the text file is a line end, which is not missed.
    const std::size_t needed = whole.size() - (whole.back() == '\n' ? 1 : 0);
    for (std::size_t size = 0; size < needed; ++size) {
      CAPTURE(name);
      CAPTURE(size);
      write_file(directory / name, whole.substr(0, size));
      if (std::string(name) == "model.safetensors") {
        CHECK_THROWS_AS(load_parameters(directory.path(), parameters), FileError);
      } else {
        CHECK_THROWS_AS(load_training_state(directory.path()), FileError);
      }
    }
    write_file(directory / name, whole);
  }
  load_parameters(directory.path(), parameters);
  CHECK(load_training_state(directory.path()).counters == state.counters);
}

TEST_CASE("checkpoint: counters of other kinds are errors") {
  const TemporaryDirectory directory;
  CHECK_THROWS_AS(load_training_state(directory.path()), FileError);
  save_checkpoint(directory.path(), preset("tiny").model, {}, {});
  CHECK(load_training_state(directory.path()).counters.empty());
  for (const char* text : {"", "[1]", "{\"a\":-1}", "{\"a\":1.5}", "{\"a\":{}}", "3"}) {
    CAPTURE(text);
    write_file(directory / "trainer.json", text);
    CHECK_THROWS_AS(load_training_state(directory.path()), FileError);
  }
  std::filesystem::remove(directory / "trainer.json");
  std::filesystem::create_directory(directory / "trainer.json");
  CHECK_THROWS_WITH_AS(load_training_state(directory.path()), doctest::Contains("trainer.json"),
                       FileError);
}

}  // namespace
}  // namespace sinter::models
