#include "models/gpt2.h"

#include <fmt/format.h>

#include <cmath>

namespace sinter::models {
namespace {

Linear conv1d(Parameters& parameters, const std::string& name, std::int64_t in, std::int64_t out,
              double deviation) {
  return {parameters, name, in, out, WeightLayout::in_out, deviation};
}

/// The layers that write to the residual stream start smaller, so that its variance does not grow
/// with depth.
double residual_deviation(const Gpt2Config& config) {
  return config.initializer_range / std::sqrt(2.0 * static_cast<double>(config.layers));
}

}  // namespace

Gpt2Layer::Gpt2Layer(Parameters& parameters, const std::string& name, const Gpt2Config& config)
    : norm_1(parameters, name + ".ln_1", config.width, config.layer_norm_epsilon),
      attention_qkv(conv1d(parameters, name + ".attn.c_attn", config.width, 3 * config.width,
                           config.initializer_range)),
      attention_out(conv1d(parameters, name + ".attn.c_proj", config.width, config.width,
                           residual_deviation(config))),
      norm_cross(parameters, name + ".ln_cross_attn", config.width, config.layer_norm_epsilon),
      cross_q(conv1d(parameters, name + ".crossattention.q_attn", config.width, config.width,
                     config.initializer_range)),
      cross_kv(conv1d(parameters, name + ".crossattention.c_attn", config.width, 2 * config.width,
                      config.initializer_range)),
      cross_out(conv1d(parameters, name + ".crossattention.c_proj", config.width, config.width,
                       residual_deviation(config))),
      norm_2(parameters, name + ".ln_2", config.width, config.layer_norm_epsilon),
      inner(conv1d(parameters, name + ".mlp.c_fc", config.width, config.inner_width,
                   config.initializer_range)),
      outer(conv1d(parameters, name + ".mlp.c_proj", config.inner_width, config.width,
                   residual_deviation(config))),
      heads(config.heads),
      attention_dropout(config.attention_dropout),
      residual_dropout(config.residual_dropout) {}

Tensor Gpt2Layer::operator()(const Tensor& x, const Tensor& states, const Tensor& mask,
                             const Pass& pass, Where where) const {
  const CallScope scope(where);
  const std::int64_t width = x.size(-1);
  AttentionOptions options{.dropout = pass.training ? attention_dropout : 0,
                           .generator = pass.generator};
  const auto attend = [&](const Tensor& q, const Tensor& k, const Tensor& v) {
    return join_heads(scaled_dot_product_attention(split_heads(q, heads), split_heads(k, heads),
                                                   split_heads(v, heads), options));
  };
  // Without dropout between them, the residual is added before the linear layer rounds.
  const bool joined = !pass.training || residual_dropout == 0;
  const auto add_to = [&](const Tensor& residual, const Linear& layer, const Tensor& input) {
    if (joined) return layer(input, residual);
    return drop(layer(input), residual_dropout, pass, where) + residual;
  };

  const std::vector<Tensor> qkv = split(attention_qkv(norm_1(x)), width, -1);
  options.mask = mask;
  options.causal = true;
  Tensor y = add_to(x, attention_out, attend(qkv[0], qkv[1], qkv[2]));

  const std::vector<Tensor> kv = split(cross_kv(states), width, -1);
  options.mask = {};
  options.causal = false;
  y = add_to(y, cross_out, attend(cross_q(norm_cross(y)), kv[0], kv[1]));

  return add_to(y, outer, gelu_tanh(inner(norm_2(y))));
}

Gpt2::Gpt2(Parameters& parameters, const std::string& name, const Gpt2Config& sizes)
    : config(sizes),
      token_embedding(parameters.normal(name + ".wte.weight", {config.vocabulary, config.width},
                                        config.initializer_range)),
      position_embedding(parameters.normal(name + ".wpe.weight", {config.positions, config.width},
                                           config.initializer_range)),
      layers([&] {
        std::vector<Gpt2Layer> made;
        for (std::int64_t i = 0; i < config.layers; ++i)
          made.emplace_back(parameters, name + ".h." + std::to_string(i), config);
        return made;
      }()),
      norm(parameters, name + ".ln_f", config.width, config.layer_norm_epsilon) {}

Tensor Gpt2::operator()(const Tensor& tokens, const Tensor& visible, const Tensor& states,
                        const Pass& pass, Where where) const {
  const CallScope scope(where);
  const std::int64_t length = tokens.size(1);
  if (length > config.positions)
    usage_error("Gpt2",
                fmt::format("{} tokens, the model has {} positions", length, config.positions),
                where);
  const Tensor places = narrow(position_embedding, 0, 0, length);
  Tensor x = embedding(token_embedding, tokens) + places;
  x = drop(x, config.embedding_dropout, pass, where);
  const Tensor mask = reshape(visible, {tokens.size(0), 1, 1, length});
  for (const Gpt2Layer& layer : layers) x = layer(x, states, mask, pass);
  return linear(norm(x), token_embedding);
}

}  // namespace sinter::models
