#include "models/config.h"

#include <doctest/doctest.h>

#include <chrono>
#include <random>
#include <string>

#include "tests/temporary_directory.h"

namespace sinter::models {
namespace {

/// Whether text is read as a configuration; it may be refused by FileError alone.
bool is_read(const TemporaryDirectory& directory, const std::string& text) {
  write_file(directory / "config.json", text);
  try {
    read_config(directory / "config.json");
    return true;
  } catch (const FileError&) {
    return false;
  }
}

void fuzz(std::chrono::milliseconds time, unsigned seed) {
  const TemporaryDirectory directory;
  const std::string valid = to_json(preset("tiny").model);
  const std::string characters = "{}[]:,\"-0123456789.eEtrufalsn \n";
  std::mt19937 random(seed);
  int read = 0, refused = 0;
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end || read == 0 || refused == 0) {
    std::string text = valid;
    for (auto changes = random() % 3; changes > 0; --changes) {
      const auto at = random() % text.size();
      if (random() % 3 == 0) text.erase(at, random() % 20 + 1);
      else
        text[at] = random() % 8 == 0 ? static_cast<char>(random())
                                     : characters[random() % characters.size()];
      if (text.empty()) break;
    }
    ++(is_read(directory, text) ? read : refused);
  }
}

TEST_CASE("config: presets and a published file") {
  const Preset tiny = preset("tiny");
  CHECK(tiny.batch == 8);
  CHECK(tiny.longest_caption == 32);
  CHECK(tiny.model.encoder.width == 64);
  CHECK(preset("base").model.decoder.positions == 1024);
  CHECK(preset("small").model.decoder.inner_width == 1024);
  for (const char* name : {"tiny", "small", "base"}) check_config(preset(name).model);
  CHECK_THROWS_AS(preset("large"), UsageError);

  const CaptionerConfig config = read_config("tests/golden/captioner/config.json");
  CHECK(config.encoder.image_size == 32);
  CHECK(config.encoder.layer_norm_epsilon == 1e-12);
  CHECK(config.decoder.vocabulary == 96);
  CHECK(config.decoder.positions == 20);
  CHECK(config.decoder.inner_width == 128);
  CHECK(config.decoder.residual_dropout == 0);
  CHECK(config.start_token == 1);
}

TEST_CASE("config: what is written reads back, missing keys have defaults") {
  const TemporaryDirectory directory;
  for (const char* name : {"tiny", "base"}) {
    CaptionerConfig config = preset(name).model;
    config.decoder.residual_dropout = 0.25;
    write_file(directory / "config.json", to_json(config));
    CHECK(read_config(directory / "config.json") == config);
  }
  write_file(directory / "config.json", R"({"encoder":{},"decoder":{"n_inner":null}})");
  CHECK(read_config(directory / "config.json") == CaptionerConfig{});
}

TEST_CASE("config: other models and bad values are errors that name the key") {
  const TemporaryDirectory directory;
  const auto expect_error = [&](const std::string& text, const char* part) {
    write_file(directory / "config.json", text);
    CHECK_THROWS_WITH_AS(read_config(directory / "config.json"), doctest::Contains(part),
                         FileError);
  };
  expect_error("", "JSON");
  expect_error("{", "JSON");
  expect_error("[]", "object");
  expect_error(std::string(200'000, '['), "JSON");
  expect_error(R"({"decoder":{}})", "encoder is missing");
  expect_error(R"({"encoder":3,"decoder":{}})", "encoder is not an object");
  expect_error(R"({"encoder":{"hidden_act":"relu"},"decoder":{}})", "hidden_act is \"relu\"");
  expect_error(R"({"encoder":{},"decoder":{"activation_function":"gelu"}})", "activation_function");
  expect_error(R"({"encoder":{"model_type":"deit"},"decoder":{}})", "deit");
  expect_error(R"({"encoder":{"image_size":"x"},"decoder":{}})", "image_size is not an integer");
  expect_error(R"({"encoder":{"image_size":1.5},"decoder":{}})", "image_size is not an integer");
  expect_error(R"({"encoder":{"image_size":0},"decoder":{}})", "image_size is 0");
  expect_error(R"({"encoder":{"image_size":-4},"decoder":{}})", "image_size is -4");
  expect_error(R"({"encoder":{"image_size":18446744073709551615},"decoder":{}})", "image_size is");
  expect_error(R"({"encoder":{"num_attention_heads":7},"decoder":{}})", "heads");
  expect_error(R"({"encoder":{"hidden_size":384},"decoder":{}})", "widths");
  expect_error(R"({"encoder":{"patch_size":300},"decoder":{}})", "patch_size");
  expect_error(R"({"encoder":{},"decoder":{"attn_pdrop":1}})", "attn_pdrop is 1");
  expect_error(R"({"encoder":{},"decoder":{"vocab_size":2}})", "token 2");
  CHECK_THROWS_AS(read_config(directory / "none"), FileError);
  CaptionerConfig config;
  config.decoder.layers = 0;
  CHECK_THROWS_WITH_AS(check_config(config), doctest::Contains("n_layer is 0"), UsageError);
}

TEST_CASE("config: a file cut at any byte is an error") {
  const TemporaryDirectory directory;
  const std::string text = to_json(preset("tiny").model);
  const std::size_t last_brace = text.rfind('}');
  for (std::size_t size = 0; size <= last_brace; ++size) {
    CAPTURE(size);
    CHECK_FALSE(is_read(directory, text.substr(0, size)));
  }
  CHECK(is_read(directory, text));
}

TEST_CASE("config: changed bytes never do more than throw FileError") {
  fuzz(std::chrono::milliseconds(300), 1);
}

TEST_SUITE("fuzz_long") {
  TEST_CASE("config: changed bytes for half a minute") { fuzz(std::chrono::seconds(30), 2); }
}

}  // namespace
}  // namespace sinter::models
