#include "models/layers.h"

namespace sinter::models {

Tensor drop(const Tensor& x, double p, const Pass& pass, Where where) {
  if (!pass.training || p == 0) return x;
  return dropout(x, p, pass.generator ? *pass.generator : default_generator(), where);
}

Linear::Linear(Parameters& parameters, const std::string& name, std::int64_t in, std::int64_t out,
               WeightLayout stored, double deviation)
    : weight(parameters.normal(name + ".weight",
                               stored == WeightLayout::out_in ? Shape{out, in} : Shape{in, out},
                               deviation)),
      bias(parameters.zeros(name + ".bias", {out})),
      layout(stored) {}

Tensor Linear::operator()(const Tensor& x, const Tensor& residual, Where where) const {
  const CallScope scope(where);
  const Tensor matrix = layout == WeightLayout::out_in ? weight.value() : transpose(weight);
  return linear(x, matrix, bias, Activation::none, residual);
}

LayerNorm::LayerNorm(Parameters& parameters, const std::string& name, std::int64_t width,
                     double smallest)
    : weight(parameters.ones(name + ".weight", {width})),
      bias(parameters.zeros(name + ".bias", {width})),
      epsilon(smallest) {}

Tensor LayerNorm::operator()(const Tensor& x, Where where) const {
  const CallScope scope(where);
  return layer_norm(x, weight, bias, epsilon);
}

Tensor split_heads(const Tensor& x, std::int64_t heads, Where where) {
  const CallScope scope(where);
  const std::int64_t batch = x.size(0), tokens = x.size(1), width = x.size(2);
  return permute(reshape(x, {batch, tokens, heads, width / heads}), {0, 2, 1, 3});
}

Tensor join_heads(const Tensor& x, Where where) {
  const CallScope scope(where);
  const std::int64_t batch = x.size(0), heads = x.size(1), tokens = x.size(2), size = x.size(3);
  return reshape(permute(x, {0, 2, 1, 3}), {batch, tokens, heads * size});
}

}  // namespace sinter::models
