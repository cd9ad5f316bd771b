#include "models/vit.h"

namespace sinter::models {
namespace {

std::int64_t patch_count(const VitConfig& config) {
  const std::int64_t side = config.image_size / config.patch_size;
  return side * side;
}

Linear dense(Parameters& parameters, const std::string& name, std::int64_t in, std::int64_t out,
             const VitConfig& config) {
  return {parameters, name, in, out, WeightLayout::out_in, config.initializer_range};
}

}  // namespace

VitLayer::VitLayer(Parameters& parameters, const std::string& name, const VitConfig& config)
    : norm_before(parameters, name + ".layernorm_before", config.width, config.layer_norm_epsilon),
      query(dense(parameters, name + ".attention.attention.query", config.width, config.width,
                  config)),
      key(dense(parameters, name + ".attention.attention.key", config.width, config.width, config)),
      value(dense(parameters, name + ".attention.attention.value", config.width, config.width,
                  config)),
      output(
          dense(parameters, name + ".attention.output.dense", config.width, config.width, config)),
      norm_after(parameters, name + ".layernorm_after", config.width, config.layer_norm_epsilon),
      inner(dense(parameters, name + ".intermediate.dense", config.width, config.inner_width,
                  config)),
      outer(dense(parameters, name + ".output.dense", config.inner_width, config.width, config)),
      heads(config.heads),
      attention_dropout(config.attention_dropout),
      hidden_dropout(config.hidden_dropout) {}

Tensor VitLayer::attend(const Tensor& x, const Pass& pass) const {
  const Tensor q = split_heads(query(x), heads), k = split_heads(key(x), heads),
               v = split_heads(value(x), heads);
  return join_heads(scaled_dot_product_attention(
      q, k, v, {.dropout = pass.training ? attention_dropout : 0, .generator = pass.generator}));
}

Tensor VitLayer::operator()(const Tensor& x, const Pass& pass, Where where) const {
  const CallScope scope(where);
  // Without dropout between them, the residual is added before the linear layer rounds.
  const bool joined = !pass.training || hidden_dropout == 0;
  const auto add_to = [&](const Tensor& residual, const Linear& layer, const Tensor& input) {
    if (joined) return layer(input, residual);
    return drop(layer(input), hidden_dropout, pass, where) + residual;
  };
  const Tensor attended = add_to(x, output, attend(norm_before(x), pass));
  return add_to(attended, outer, gelu(inner(norm_after(attended))));
}

Vit::Vit(Parameters& parameters, const std::string& name, const VitConfig& sizes)
    : config(sizes),
      class_token(parameters.normal(name + ".embeddings.cls_token", {1, 1, config.width},
                                    config.initializer_range)),
      positions(parameters.normal(name + ".embeddings.position_embeddings",
                                  {1, patch_count(config) + 1, config.width},
                                  config.initializer_range)),
      patch_weight(
          parameters.normal(name + ".embeddings.patch_embeddings.projection.weight",
                            {config.width, config.channels, config.patch_size, config.patch_size},
                            config.initializer_range)),
      patch_bias(
          parameters.zeros(name + ".embeddings.patch_embeddings.projection.bias", {config.width})),
      layers([&] {
        std::vector<VitLayer> made;
        for (std::int64_t i = 0; i < config.layers; ++i)
          made.emplace_back(parameters, name + ".encoder.layer." + std::to_string(i), config);
        return made;
      }()),
      norm(parameters, name + ".layernorm", config.width, config.layer_norm_epsilon) {}

Tensor Vit::operator()(const Tensor& pixels, const Pass& pass, Where where) const {
  const CallScope scope(where);
  const std::int64_t batch = pixels.size(0);
  const Tensor patches = conv2d_patches(pixels, patch_weight, patch_bias);
  const Tensor row = transpose(flatten(patches, 2, 3));
  const Tensor first = expand(class_token, {batch, 1, config.width});
  Tensor x = concatenate({first, row}, 1) + positions;
  x = drop(x, config.hidden_dropout, pass, where);
  for (const VitLayer& layer : layers) x = layer(x, pass);
  return norm(x);
}

}  // namespace sinter::models
