#include "models/captioner.h"

#include <algorithm>

namespace sinter::models {

Captioner::Captioner(const CaptionerConfig& config, std::uint64_t seed, Where where)
    : config_((check_config(config, where), config)),
      parameters_(seed),
      encoder_(parameters_, "encoder", config.encoder),
      decoder_(parameters_, "decoder.transformer", config.decoder) {}

Tensor Captioner::encode(const Tensor& pixels, const Pass& pass, Where where) const {
  const CallScope scope(where);
  return encoder_(pixels, pass);
}

Tensor Captioner::decode(const Tensor& tokens, const Tensor& states, const Pass& pass,
                         Where where) const {
  const CallScope scope(where);
  const Tensor visible = tokens != static_cast<long>(config_.pad_token);
  return decoder_(tokens, visible, states, pass);
}

Tensor Captioner::loss(const Batch& batch, const Pass& pass, Where where) const {
  const CallScope scope(where);
  const Tensor logits = decode(batch.tokens, encode(batch.pixels, pass), pass);
  return cross_entropy(logits, batch.labels, {.ignore_index = ignored_label});
}

std::vector<std::vector<std::int64_t>> Captioner::caption(const Tensor& pixels, std::int64_t length,
                                                          Where where) const {
  const CallScope scope(where);
  const NoGrad no_grad;
  const Pass pass;
  const std::int64_t rows = pixels.size(0);
  const Tensor states = encode(pixels, pass);
  std::vector<std::vector<std::int64_t>> captions(static_cast<std::size_t>(rows),
                                                  {config_.start_token});
  std::vector<std::int64_t> tokens(static_cast<std::size_t>(rows), config_.start_token);
  std::vector<bool> ended(static_cast<std::size_t>(rows), false);
  for (std::int64_t step = 1; step <= length; ++step) {
    // The rows so far, one after the other. A PAD after END is not seen, as while training.
    tokens.clear();
    for (const auto& caption : captions)
      tokens.insert(tokens.end(), caption.begin(), caption.end());
    const Tensor logits = decode(from_host(tokens, {rows, step}), states, pass);
    const std::vector<std::int64_t> next =
        argmax(select(logits, 1, step - 1), -1).to_host<std::int64_t>();
    for (std::size_t row = 0; row < captions.size(); ++row) {
      captions[row].push_back(ended[row] ? config_.pad_token : next[row]);
      ended[row] = ended[row] || next[row] == config_.end_token;
    }
    if (std::all_of(ended.begin(), ended.end(), [](bool end) { return end; })) break;
  }
  return captions;
}

}  // namespace sinter::models
