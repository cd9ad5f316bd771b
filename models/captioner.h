/// \file
/// The captioner: ViT reads an image, GPT-2 writes its caption.
#pragma once

#include <vector>

#include "models/data.h"
#include "models/gpt2.h"
#include "models/vit.h"

namespace sinter::models {

class Captioner {
 public:
  /// With first values drawn from `seed`. \throws UsageError for a configuration that makes no
  /// model.
  explicit Captioner(const CaptionerConfig& config, std::uint64_t seed = 0,
                     Where where = Where::current());

  const CaptionerConfig& config() const { return config_; }
  /// All of them, in a fixed order, named as in a Hugging Face checkpoint.
  const std::vector<Variable>& parameters() const { return parameters_.all(); }

  /// pixels [B, 3, image, image] -> [B, patches + 1, width].
  Tensor encode(const Tensor& pixels, const Pass& pass, Where where = Where::current()) const;
  /// tokens i64 [B, T] -> the logits of each next token, [B, T, vocabulary].
  Tensor decode(const Tensor& tokens, const Tensor& states, const Pass& pass,
                Where where = Where::current()) const;
  /// Mean cross-entropy in f32 over the labels that are not -100.
  Tensor loss(const Batch& batch, const Pass& pass, Where where = Where::current()) const;

  /// The most likely next token again and again, from START on: i64 [B][length + 1], PAD after END.
  /// Stops early when every row has ended. Reads after every token; takes no gradient.
  std::vector<std::vector<std::int64_t>> caption(const Tensor& pixels, std::int64_t length,
                                                 Where where = Where::current()) const;

 private:
  CaptionerConfig config_;
  Parameters parameters_;
  Vit encoder_;
  Gpt2 decoder_;
};

}  // namespace sinter::models
