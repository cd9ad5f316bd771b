/// \file
/// ViT: an image as a row of patches through a transformer encoder (Dosovitskiy et al., "An Image
/// is Worth 16x16 Words", 2020), with the parameter names of Hugging Face's ViTModel without
/// pooler.
#pragma once

#include <vector>

#include "models/config.h"
#include "models/layers.h"

namespace sinter::models {

/// One encoder layer: attention and MLP, each behind a norm and around a residual.
struct VitLayer {
  LayerNorm norm_before;
  Linear query, key, value, output;
  LayerNorm norm_after;
  Linear inner, outer;
  std::int64_t heads;
  double attention_dropout, hidden_dropout;

  VitLayer(Parameters& parameters, const std::string& name, const VitConfig& config);
  /// x [batch, tokens, width] -> the same shape.
  Tensor operator()(const Tensor& x, const Pass& pass, Where where = Where::current()) const;

 private:
  Tensor attend(const Tensor& x, const Pass& pass) const;
};

struct Vit {
  VitConfig config;
  Variable class_token, positions, patch_weight, patch_bias;
  std::vector<VitLayer> layers;
  LayerNorm norm;

  Vit(Parameters& parameters, const std::string& name, const VitConfig& config);
  /// pixels [batch, channels, image, image] -> [batch, patches + 1, width].
  Tensor operator()(const Tensor& pixels, const Pass& pass, Where where = Where::current()) const;
};

}  // namespace sinter::models
