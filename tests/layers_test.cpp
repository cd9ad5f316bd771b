// The layers alone: how weights are laid out, what is tied.

#include <doctest/doctest.h>

#include "models/checkpoint.h"
#include "models/gpt2.h"
#include "models/layers.h"
#include "tests/each_level.h"
#include "tests/temporary_directory.h"

namespace sinter::models {

using tests::at_each_level;
using tests::Floats;

TEST_CASE("a square matrix is not transposed by mistake, in either layout") {
  at_each_level([] {
    Parameters parameters(1);
    const Linear in_out(parameters, "a", 2, 2, WeightLayout::in_out, 1);
    const Linear out_in(parameters, "b", 2, 2, WeightLayout::out_in, 1);
    const Tensor upper = from_host(Floats{0, 1, 0, 0}, {2, 2}), x = from_host(Floats{1, 0}, {1, 2});
    in_out.weight.set(upper);
    out_in.weight.set(upper);
    CHECK(in_out(x).to_host<float>() == Floats{0, 1});
    CHECK(out_in(x).to_host<float>() == Floats{0, 0});
  });
}

TEST_CASE("GPT-2's head is its token embedding: one cell, gradients added") {
  at_each_level([] {
    Gpt2Config config;
    config.vocabulary = 5;
    config.positions = 3;
    config.width = 4;
    config.layers = 1;
    config.heads = 2;
    config.inner_width = 8;
    Parameters parameters(2);
    const Gpt2 decoder(parameters, "decoder.transformer", config);
    for (const Variable& parameter : parameters.all())
      CHECK(parameter.name().find("lm_head") == std::string::npos);

    const Tensor tokens = from_host(std::vector<std::int64_t>{1, 2}, {1, 2});
    const Tensor visible = ones({1, 2}, boolean), states = ones({1, 1, 4});
    const Tensor logits = decoder(tokens, visible, states, Pass{});
    const Tensor g = grad(sum(square(logits)), std::vector{decoder.token_embedding})[0];
    // Rows 1 and 2 are read as embeddings and as classes, the others as classes alone; a numeric
    // derivative of one number of row 1 sees both.
    const auto loss_at = [&](float change) {
      Floats table = decoder.token_embedding.value().to_host<float>();
      table[4] += change;
      const Tensor before = decoder.token_embedding;
      decoder.token_embedding.set(from_host(table, {5, 4}));
      const double loss = sum(square(decoder(tokens, visible, states, Pass{}))).item<double>();
      decoder.token_embedding.set(before);
      return loss;
    };
    const double step = 1.0 / 1024;
    const double slope =
        (loss_at(static_cast<float>(step)) - loss_at(static_cast<float>(-step))) / (2 * step);
    CHECK(g.to_host<float>()[4] == doctest::Approx(slope).epsilon(0.02));
  });
}

TEST_CASE("a plain GPT-2 file gives the model that it was written from") {
  // Width 2, so that every matrix but the MLP's and attention's is square.
  Gpt2Config config;
  config.vocabulary = 5;
  config.positions = 3;
  config.width = config.inner_width = 2;
  config.layers = config.heads = 1;
  const auto logits_of = [](const Gpt2& decoder) {
    const Tensor tokens = from_host(std::vector<std::int64_t>{1, 2, 4}, {1, 3});
    return decoder(tokens, ones({1, 3}, boolean), ones({1, 1, 2}), Pass{}).to_host<float>();
  };
  at_each_level([&] {
    Parameters source(3), loaded(4);
    const Gpt2 from(source, "decoder.transformer", config),
        to(loaded, "decoder.transformer", config);
    from.layers[0].outer.weight.set(from_host(Floats{0, 1, 0, 0}, {2, 2}));
    NamedTensors tensors{{"h.0.attn.bias", ones({1, 1, 3, 3})},
                         {"h.0.attn.masked_bias", full({}, -1e4)}};
    for (const Variable& parameter : source.all())
      tensors[parameter.name().substr(std::string("decoder.transformer.").size())] = parameter;
    CHECK(tensors.count("h.0.mlp.c_proj.weight") == 1);
    const TemporaryDirectory directory;
    write_safetensors(directory / "model.safetensors", tensors);
    CHECK(logits_of(to) != logits_of(from));
    load_parameters(directory.path(), loaded.all());
    CHECK(logits_of(to) == logits_of(from));
    // x @ W + b, W being stored [in, out].
    const Tensor y = to.layers[0].outer(from_host(Floats{1, 0}, {1, 2}));
    CHECK(y.to_host<float>() == Floats{0, 1});
  });
}

}  // namespace sinter::models
