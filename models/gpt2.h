/// \file
/// GPT-2 as a decoder with cross-attention (Radford et al., "Language Models are Unsupervised
/// Multitask Learners", 2019), with the parameter names of Hugging Face's GPT2LMHeadModel. The head
/// is the token embedding.
#pragma once

#include <vector>

#include "models/config.h"
#include "models/layers.h"

namespace sinter::models {

/// One decoder layer: self-attention, attention to the encoder's states, MLP.
struct Gpt2Layer {
  LayerNorm norm_1;
  Linear attention_qkv, attention_out;
  LayerNorm norm_cross;
  Linear cross_q, cross_kv, cross_out;
  LayerNorm norm_2;
  Linear inner, outer;
  std::int64_t heads;
  double attention_dropout, residual_dropout;

  Gpt2Layer(Parameters& parameters, const std::string& name, const Gpt2Config& config);
  /// x [batch, tokens, width], states [batch, keys, width], `mask` bool broadcasting to
  /// [batch, heads, tokens, tokens] -> x's shape.
  Tensor operator()(const Tensor& x, const Tensor& states, const Tensor& mask, const Pass& pass,
                    Where where = Where::current()) const;
};

struct Gpt2 {
  Gpt2Config config;
  Variable token_embedding, position_embedding;
  std::vector<Gpt2Layer> layers;
  LayerNorm norm;

  Gpt2(Parameters& parameters, const std::string& name, const Gpt2Config& config);
  /// tokens i64 [batch, T], `visible` bool [batch, T] (false: padding), states
  /// [batch, keys, width] -> logits [batch, T, vocabulary]. \throws UsageError for more tokens than
  /// there are positions.
  Tensor operator()(const Tensor& tokens, const Tensor& visible, const Tensor& states,
                    const Pass& pass, Where where = Where::current()) const;
};

}  // namespace sinter::models
