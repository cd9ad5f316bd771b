#include "models/config.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

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

// The one table of the members: what writes, reads and checks them visits it.
//   size       at least 1            fraction      a dropout, in [0, 1)
//   positive   an epsilon            not_negative  a deviation
//   fixed      the one value that is implemented, written and expected
//   expected   the same, not written; written: not read

template <typename Encoder, typename Visitor>
void visit_encoder(Encoder& encoder, Visitor&& visit) {
  visit.fixed("model_type", "vit");
  visit.size("image_size", encoder.image_size);
  visit.size("patch_size", encoder.patch_size);
  visit.size("num_channels", encoder.channels);
  visit.size("hidden_size", encoder.width);
  visit.size("num_hidden_layers", encoder.layers);
  visit.size("num_attention_heads", encoder.heads);
  visit.size("intermediate_size", encoder.inner_width);
  visit.fixed("hidden_act", "gelu");
  visit.fixed("qkv_bias", true);
  visit.positive("layer_norm_eps", encoder.layer_norm_epsilon);
  visit.fraction("hidden_dropout_prob", encoder.hidden_dropout);
  visit.fraction("attention_probs_dropout_prob", encoder.attention_dropout);
  visit.not_negative("initializer_range", encoder.initializer_range);
}

template <typename Decoder, typename Visitor>
void visit_decoder(Decoder& decoder, Visitor&& visit) {
  visit.fixed("model_type", "gpt2");
  visit.written("is_decoder", true);
  visit.fixed("add_cross_attention", true);
  visit.expected("scale_attn_weights", true);
  visit.expected("scale_attn_by_inverse_layer_idx", false);
  visit.expected("tie_word_embeddings", true);
  visit.size("vocab_size", decoder.vocabulary);
  visit.size("n_positions", decoder.positions);
  visit.size("n_embd", decoder.width);
  visit.size("n_layer", decoder.layers);
  visit.size("n_head", decoder.heads);
  visit.size("n_inner", decoder.inner_width);
  visit.fixed("activation_function", "gelu_new");
  visit.positive("layer_norm_epsilon", decoder.layer_norm_epsilon);
  visit.fraction("embd_pdrop", decoder.embedding_dropout);
  visit.fraction("attn_pdrop", decoder.attention_dropout);
  visit.fraction("resid_pdrop", decoder.residual_dropout);
  visit.not_negative("initializer_range", decoder.initializer_range);
  visit.written("use_cache", false);
}

/// Keeps the first member whose value makes no model.
struct Checker {
  std::string problem;

  void size(const char* key, std::int64_t value) {
    // Far above any model, and low enough that products of two sizes fit.
    constexpr std::int64_t most = 1 << 24;
    check(value >= 1 && value <= most, key, value);
  }
  void fraction(const char* key, double value) { check(value >= 0 && value < 1, key, value); }
  void positive(const char* key, double value) { check(value > 0, key, value); }
  void not_negative(const char* key, double value) { check(value >= 0, key, value); }
  void fixed(const char*, const Json&) {}
  void expected(const char*, const Json&) {}
  void written(const char*, const Json&) {}

 private:
  template <typename T>
  void check(bool holds, const char* key, T value) {
    if (!holds && problem.empty()) problem = fmt::format("{} is {}", key, value);
  }
};

/// Why the configuration makes no model; empty when it does.
std::string problem_of(const CaptionerConfig& config) {
  const VitConfig& encoder = config.encoder;
  const Gpt2Config& decoder = config.decoder;
  Checker checker;
  visit_encoder(encoder, checker);
  visit_decoder(decoder, checker);
  if (!checker.problem.empty()) return checker.problem;
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

  void size(const char* key, std::int64_t& value) const {
    if (!given(key)) return;
    if (!object_[key].is_number_integer()) fail(fmt::format("{} is not an integer", key));
    value = object_[key].get<std::int64_t>();
  }

  void fraction(const char* key, double& value) const { number(key, value); }
  void positive(const char* key, double& value) const { number(key, value); }
  void not_negative(const char* key, double& value) const { number(key, value); }

  /// Refuses any value of `key` but the one that is implemented, which is also the default.
  void fixed(const char* key, const Json& implemented) const { expected(key, implemented); }
  void written(const char*, const Json&) const {}
  void expected(const char* key, const Json& implemented) const {
    if (given(key) && object_[key] != implemented)
      fail(fmt::format("{} is {}, implemented is {}", key, object_[key].dump(-1, ' ', true),
                       implemented.dump()));
  }

 private:
  void number(const char* key, double& value) const {
    if (!given(key)) return;
    if (!object_[key].is_number()) fail(fmt::format("{} is not a number", key));
    value = object_[key].get<double>();
  }
  bool given(const char* key) const { return object_.contains(key) && !object_[key].is_null(); }
  [[noreturn]] void fail(const std::string& problem) const {
    throw FileError(fmt::format("{}: {}", file_, problem));
  }

  const std::string& file_;
  const Json& object_;
};

void read_decoder(const Members& members, Gpt2Config& decoder) {
  members.size("n_embd", decoder.width);
  decoder.inner_width = 4 * decoder.width;  // where the file does not say
  visit_decoder(decoder, members);
}

/// Writes them, in the order of the table.
struct Writer {  // NOLINT(bugprone-exception-escape): the destructor of a Json frees, no more
  Json json;

  void size(const char* key, std::int64_t value) { json[key] = value; }
  void fraction(const char* key, double value) { json[key] = value; }
  void positive(const char* key, double value) { json[key] = value; }
  void not_negative(const char* key, double value) { json[key] = value; }
  void fixed(const char* key, const Json& value) { json[key] = value; }
  void written(const char* key, const Json& value) { json[key] = value; }
  void expected(const char*, const Json&) {}
};

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
  Writer encoder, decoder;
  visit_encoder(config.encoder, encoder);
  visit_decoder(config.decoder, decoder);
  const Json json = {{"architectures", {"VisionEncoderDecoderModel"}},
                     {"model_type", "vision-encoder-decoder"},
                     {"is_encoder_decoder", true},
                     {"decoder_start_token_id", config.start_token},
                     {"pad_token_id", config.pad_token},
                     {"eos_token_id", config.end_token},
                     {"tie_word_embeddings", false},
                     {"encoder", encoder.json},
                     {"decoder", decoder.json}};
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
    members.expected("model_type", "vision-encoder-decoder");
    members.size("pad_token_id", config.pad_token);
    members.size("decoder_start_token_id", config.start_token);
    members.size("eos_token_id", config.end_token);
    visit_encoder(config.encoder, members.object("encoder"));
    read_decoder(members.object("decoder"), config.decoder);
  } catch (const nlohmann::json::exception& error) {
    throw FileError(fmt::format("{}: is not JSON: {}", file, error.what()));
  }
  const std::string problem = problem_of(config);
  if (!problem.empty()) throw FileError(fmt::format("{}: {}", file, problem));
  return config;
}

}  // namespace sinter::models
