#include "models/config.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace sinter::models {
namespace {

using Json = nlohmann::ordered_json;

Preset make_preset(std::int64_t image, std::int64_t patch, std::int64_t width, std::int64_t layers,
                   std::int64_t heads, std::int64_t caption, std::int64_t batch) {
  Preset result;
  VitConfig& encoder = result.model.encoder;
  encoder.image_size = image;
  encoder.patch_size = patch;
  encoder.width = width;
  encoder.layers = layers;
  encoder.heads = heads;
  encoder.inner_width = 4 * width;
  Gpt2Config& decoder = result.model.decoder;
  decoder.vocabulary = 1024;
  decoder.positions = caption;
  decoder.width = width;
  decoder.layers = layers;
  decoder.heads = heads;
  decoder.inner_width = 4 * width;
  result.longest_caption = caption;
  result.batch = batch;
  return result;
}

/// Why the configuration makes no model; empty when it does.
std::string problem_of(const CaptionerConfig& config) {
  const VitConfig& encoder = config.encoder;
  const Gpt2Config& decoder = config.decoder;
  // Far above any model, and low enough that products of two sizes fit.
  constexpr std::int64_t most = 1 << 24;
  const std::pair<const char*, std::int64_t> sizes[] = {{"image_size", encoder.image_size},
                                                        {"patch_size", encoder.patch_size},
                                                        {"num_channels", encoder.channels},
                                                        {"hidden_size", encoder.width},
                                                        {"num_hidden_layers", encoder.layers},
                                                        {"num_attention_heads", encoder.heads},
                                                        {"intermediate_size", encoder.inner_width},
                                                        {"vocab_size", decoder.vocabulary},
                                                        {"n_positions", decoder.positions},
                                                        {"n_embd", decoder.width},
                                                        {"n_layer", decoder.layers},
                                                        {"n_head", decoder.heads},
                                                        {"n_inner", decoder.inner_width}};
  for (const auto& [name, size] : sizes)
    if (size < 1 || size > most) return fmt::format("{} is {}", name, size);
  const std::pair<const char*, double> fractions[] = {
      {"hidden_dropout_prob", encoder.hidden_dropout},
      {"attention_probs_dropout_prob", encoder.attention_dropout},
      {"embd_pdrop", decoder.embedding_dropout},
      {"attn_pdrop", decoder.attention_dropout},
      {"resid_pdrop", decoder.residual_dropout}};
  for (const auto& [name, value] : fractions)
    if (!(value >= 0 && value < 1)) return fmt::format("{} is {}", name, value);
  if (!(encoder.layer_norm_epsilon > 0 && decoder.layer_norm_epsilon > 0))
    return "a layer norm's epsilon is not positive";
  if (!(encoder.initializer_range >= 0 && decoder.initializer_range >= 0))
    return "an initializer_range is negative";
  if (encoder.patch_size > encoder.image_size)
    return fmt::format("patch_size {} is more than image_size {}", encoder.patch_size,
                       encoder.image_size);
  if (encoder.width % encoder.heads != 0 || decoder.width % decoder.heads != 0)
    return "a width is not a multiple of its heads";
  if (encoder.width != decoder.width)
    return fmt::format("the widths of encoder and decoder differ: {} and {}", encoder.width,
                       decoder.width);
  for (const std::int64_t token : {config.pad_token, config.start_token, config.end_token})
    if (token < 0 || token >= decoder.vocabulary)
      return fmt::format("token {} is outside of the vocabulary", token);
  return "";
}

/// Reads members of one JSON object and names them in errors.
class Members {
 public:
  Members(const std::string& file, const Json& object) : file_(file), object_(object) {
    if (!object.is_object()) fail("is not an object where one is needed");
  }

  Members object(const char* key) const {
    if (!object_.contains(key)) fail(fmt::format("{} is missing", key));
    if (!object_[key].is_object()) fail(fmt::format("{} is not an object", key));
    return {file_, object_[key]};
  }

  void read(const char* key, std::int64_t& value) const {
    if (!given(key)) return;
    if (!object_[key].is_number_integer()) fail(fmt::format("{} is not an integer", key));
    value = object_[key].get<std::int64_t>();
  }

  void read(const char* key, double& value) const {
    if (!given(key)) return;
    if (!object_[key].is_number()) fail(fmt::format("{} is not a number", key));
    value = object_[key].get<double>();
  }

  /// Refuses any value of `key` but the one that is implemented, which is also the default.
  void expect(const char* key, const Json& implemented) const {
    if (given(key) && object_[key] != implemented)
      fail(fmt::format("{} is {}, implemented is {}", key, object_[key].dump(-1, ' ', true),
                       implemented.dump()));
  }

 private:
  bool given(const char* key) const { return object_.contains(key) && !object_[key].is_null(); }
  [[noreturn]] void fail(const std::string& problem) const {
    throw FileError(fmt::format("{}: {}", file_, problem));
  }

  const std::string& file_;
  const Json& object_;
};

void read_encoder(const Members& members, VitConfig& encoder) {
  members.expect("model_type", "vit");
  members.expect("hidden_act", "gelu");
  members.expect("qkv_bias", true);
  members.read("image_size", encoder.image_size);
  members.read("patch_size", encoder.patch_size);
  members.read("num_channels", encoder.channels);
  members.read("hidden_size", encoder.width);
  members.read("num_hidden_layers", encoder.layers);
  members.read("num_attention_heads", encoder.heads);
  members.read("intermediate_size", encoder.inner_width);
  members.read("layer_norm_eps", encoder.layer_norm_epsilon);
  members.read("hidden_dropout_prob", encoder.hidden_dropout);
  members.read("attention_probs_dropout_prob", encoder.attention_dropout);
  members.read("initializer_range", encoder.initializer_range);
}

void read_decoder(const Members& members, Gpt2Config& decoder) {
  members.expect("model_type", "gpt2");
  members.expect("activation_function", "gelu_new");
  members.expect("add_cross_attention", true);
  members.expect("scale_attn_weights", true);
  members.expect("scale_attn_by_inverse_layer_idx", false);
  members.expect("tie_word_embeddings", true);
  members.read("vocab_size", decoder.vocabulary);
  members.read("n_positions", decoder.positions);
  members.read("n_embd", decoder.width);
  members.read("n_layer", decoder.layers);
  members.read("n_head", decoder.heads);
  decoder.inner_width = 4 * decoder.width;
  members.read("n_inner", decoder.inner_width);
  members.read("layer_norm_epsilon", decoder.layer_norm_epsilon);
  members.read("embd_pdrop", decoder.embedding_dropout);
  members.read("attn_pdrop", decoder.attention_dropout);
  members.read("resid_pdrop", decoder.residual_dropout);
  members.read("initializer_range", decoder.initializer_range);
}

Json encoder_json(const VitConfig& encoder) {
  return {{"model_type", "vit"},
          {"image_size", encoder.image_size},
          {"patch_size", encoder.patch_size},
          {"num_channels", encoder.channels},
          {"hidden_size", encoder.width},
          {"num_hidden_layers", encoder.layers},
          {"num_attention_heads", encoder.heads},
          {"intermediate_size", encoder.inner_width},
          {"hidden_act", "gelu"},
          {"qkv_bias", true},
          {"layer_norm_eps", encoder.layer_norm_epsilon},
          {"hidden_dropout_prob", encoder.hidden_dropout},
          {"attention_probs_dropout_prob", encoder.attention_dropout},
          {"initializer_range", encoder.initializer_range}};
}

Json decoder_json(const Gpt2Config& decoder) {
  return {{"model_type", "gpt2"},
          {"is_decoder", true},
          {"add_cross_attention", true},
          {"vocab_size", decoder.vocabulary},
          {"n_positions", decoder.positions},
          {"n_embd", decoder.width},
          {"n_layer", decoder.layers},
          {"n_head", decoder.heads},
          {"n_inner", decoder.inner_width},
          {"activation_function", "gelu_new"},
          {"layer_norm_epsilon", decoder.layer_norm_epsilon},
          {"embd_pdrop", decoder.embedding_dropout},
          {"attn_pdrop", decoder.attention_dropout},
          {"resid_pdrop", decoder.residual_dropout},
          {"initializer_range", decoder.initializer_range},
          {"use_cache", false}};
}

}  // namespace

Preset preset(std::string_view name, Where where) {
  if (name == "tiny") return make_preset(32, 8, 64, 2, 4, 32, 8);
  if (name == "small") return make_preset(64, 8, 256, 4, 4, 64, 16);
  if (name != "base")
    usage_error("preset", fmt::format("{} is none of tiny, small, base", name), where);
  Preset base = make_preset(224, 16, 768, 12, 12, 256, 64);
  base.model.decoder.positions = 1024;
  return base;
}

void check_config(const CaptionerConfig& config, Where where) {
  const std::string problem = problem_of(config);
  if (!problem.empty()) usage_error("captioner", problem, where);
}

std::string to_json(const CaptionerConfig& config) {
  const Json json = {{"architectures", {"VisionEncoderDecoderModel"}},
                     {"model_type", "vision-encoder-decoder"},
                     {"is_encoder_decoder", true},
                     {"decoder_start_token_id", config.start_token},
                     {"pad_token_id", config.pad_token},
                     {"eos_token_id", config.end_token},
                     {"tie_word_embeddings", false},
                     {"encoder", encoder_json(config.encoder)},
                     {"decoder", decoder_json(config.decoder)}};
  return json.dump(2) + "\n";
}

CaptionerConfig read_config(const std::filesystem::path& path) {
  const std::string file = path.string();
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw FileError(fmt::format("{}: cannot be opened", file));
  constexpr std::size_t most_bytes = 1 << 20;
  std::string text(most_bytes, ' ');
  stream.read(text.data(), std::ssize(text));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  CaptionerConfig config;
  try {
    const Json json = Json::parse(text);
    const Members members(file, json);
    members.expect("model_type", "vision-encoder-decoder");
    members.read("pad_token_id", config.pad_token);
    members.read("decoder_start_token_id", config.start_token);
    members.read("eos_token_id", config.end_token);
    read_encoder(members.object("encoder"), config.encoder);
    read_decoder(members.object("decoder"), config.decoder);
  } catch (const nlohmann::json::exception& error) {
    throw FileError(fmt::format("{}: is not JSON: {}", file, error.what()));
  }
  const std::string problem = problem_of(config);
  if (!problem.empty()) throw FileError(fmt::format("{}: {}", file, problem));
  return config;
}

}  // namespace sinter::models
