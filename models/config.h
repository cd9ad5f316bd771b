/// \file
/// The sizes of a captioner, as Hugging Face's `config.json` of a VisionEncoderDecoderModel (ViT
/// and GPT-2) holds them. Default values are those of ViT-B/16 and GPT-2 124M.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include <sinter/sinter.h>

namespace sinter::models {

struct VitConfig {
  std::int64_t image_size = 224;  ///< height and width, in pixels
  std::int64_t patch_size = 16;
  std::int64_t channels = 3;
  std::int64_t width = 768;
  std::int64_t layers = 12;
  std::int64_t heads = 12;
  std::int64_t inner_width = 3072;
  double layer_norm_epsilon = 1e-12;
  double hidden_dropout = 0;
  double attention_dropout = 0;
  double initializer_range = 0.02;  ///< standard deviation of the first weights

  friend bool operator==(const VitConfig&, const VitConfig&) = default;
};

struct Gpt2Config {
  std::int64_t vocabulary = 50257;
  std::int64_t positions = 1024;  ///< the most tokens of a text
  std::int64_t width = 768;
  std::int64_t layers = 12;
  std::int64_t heads = 12;
  std::int64_t inner_width = 3072;
  double layer_norm_epsilon = 1e-5;
  double embedding_dropout = 0.1;
  double attention_dropout = 0.1;
  double residual_dropout = 0.1;
  double initializer_range = 0.02;

  friend bool operator==(const Gpt2Config&, const Gpt2Config&) = default;
};

struct CaptionerConfig {
  VitConfig encoder;
  Gpt2Config decoder;
  std::int64_t pad_token = 0;
  std::int64_t start_token = 1;
  std::int64_t end_token = 2;

  friend bool operator==(const CaptionerConfig&, const CaptionerConfig&) = default;
};

/// A model of a stated size with the batches it is trained on.
struct Preset {
  CaptionerConfig model;
  std::int64_t longest_caption = 0;  ///< columns of a batch
  std::int64_t batch = 0;
};

/// `tiny`, `small` or `base`; each with a vocabulary of 1024 and GPT-2's dropout of 0.1.
/// \throws UsageError for another name.
Preset preset(std::string_view name, Where where = Where::current());

/// Refuses sizes that make no model. \throws UsageError naming the value.
void check_config(const CaptionerConfig& config, Where where = Where::current());

/// The text of `config.json`; the same configuration gives the same text.
std::string to_json(const CaptionerConfig& config);

/// Reads `config.json`. Keys that are missing have Hugging Face's default. \throws FileError for
/// text that is not such a configuration, and for a model that is not implemented here, such as
/// another activation.
CaptionerConfig read_config(const std::filesystem::path& path);

}  // namespace sinter::models
