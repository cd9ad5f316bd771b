// The captioner and its training runs: shapes, resuming to the bit, accumulation, accuracy.

#include <doctest/doctest.h>

#include "models/accuracy.h"
#include "models/digits.h"
#include "models/trainer.h"
#include "tests/each_level.h"
#include "tests/temporary_directory.h"

namespace sinter::models {
namespace {

using tests::at_each_level;
using tests::AtLevel;
using tests::contains;
using tests::Floats;
using tests::usage_message;

CaptionerConfig small_model(double dropout = 0.1) {
  CaptionerConfig config = preset("tiny").model;
  config.encoder.width = config.decoder.width = 16;
  config.encoder.inner_width = config.decoder.inner_width = 32;
  config.encoder.layers = config.decoder.layers = 1;
  config.encoder.heads = config.decoder.heads = 2;
  config.encoder.patch_size = 16;
  config.decoder.vocabulary = 16;
  config.decoder.positions = 8;
  config.decoder.embedding_dropout = config.decoder.attention_dropout =
      config.decoder.residual_dropout = dropout;
  return config;
}

TrainerData digits(int workers = 1) {
  return {std::make_shared<DigitCaptions>(DigitPool::training, 1, 1 << 20),
          {.columns = digit_columns},
          workers};
}

Recipe short_recipe() {
  return {.steps = 6, .batch = 4, .warmup_steps = 2, .peak_rate = 0.01, .clip_norm = 1, .seed = 3};
}

std::vector<Floats> values(const Captioner& captioner) {
  std::vector<Floats> all;
  for (const Variable& parameter : captioner.parameters())
    all.push_back(parameter.value().to_host<float>());
  return all;
}

void run(Trainer& trainer, std::int64_t steps) {
  for (std::int64_t i = 0; i < steps; ++i) trainer.step();
}

}  // namespace

TEST_CASE("dropout does not draw what the first weights were drawn from") {
  const TemporaryDirectory directory;
  const Recipe recipe = short_recipe();
  Trainer(small_model(), recipe, digits()).save(directory.path());
  CHECK(load_training_state(directory.path()).counters.at("dropout.seed") != recipe.seed);
}

TEST_CASE("a resumed run has the bits of one that was never stopped") {
  at_each_level([] {
    const TemporaryDirectory directory;
    Trainer whole(small_model(), short_recipe(), digits());
    run(whole, 6);

    Trainer first(small_model(), short_recipe(), digits());
    run(first, 3);
    first.save(directory.path());
    Trainer second = Trainer::resume(directory.path(), digits(2));
    CHECK(second.steps_done() == 3);
    CHECK(second.recipe() == short_recipe());
    run(second, 3);
    CHECK(values(second.captioner()) == values(whole.captioner()));
  });
}

TEST_CASE("levels, workers and threads do not change what is learned beyond matrix products") {
  std::vector<std::vector<Floats>> runs;
  for (const int workers : {0, 1, 3}) {
    Trainer trainer(small_model(), short_recipe(), digits(workers));
    run(trainer, 4);
    runs.push_back(values(trainer.captioner()));
  }
  CHECK(runs[0] == runs[1]);
  CHECK(runs[0] == runs[2]);

  const AtLevel interpreted(Level::interpret);
  Trainer slow(small_model(), short_recipe(), digits());
  run(slow, 4);
  const auto meaning = values(slow.captioner());
  double difference = 0;
  for (std::size_t i = 0; i < meaning.size(); ++i)
    for (std::size_t j = 0; j < meaning[i].size(); ++j)
      difference =
          std::max(difference, std::abs(static_cast<double>(meaning[i][j] - runs[0][i][j])));
  CHECK(difference < 2e-3);
}

TEST_CASE("the loss falls, and a training loop is a few programs") {
  Recipe recipe = short_recipe();
  recipe.steps = 60;
  recipe.batch = 16;
  Trainer trainer(small_model(0), recipe, digits());
  const double before = trainer.step().item<double>();
  trainer.step();
  reset_programs();
  const std::uint64_t built = evaluation_statistics().programs_built;
  Tensor loss;
  while (trainer.steps_done() < recipe.steps) loss = trainer.step();
  CHECK(evaluation_statistics().programs_built - built == 1);
  CHECK(loss.item<double>() < 0.8 * before);
}

TEST_CASE("a batch in parts steps by the mean of the parts' gradients") {
  at_each_level([] {
    Recipe recipe = short_recipe();
    recipe.accumulation = 2;
    recipe.clip_norm = 0;
    Trainer trainer(small_model(0), recipe, digits());
    const double loss = trainer.step().item<double>();

    // The same step by hand: samples 0 and 1, then 2 and 3.
    const Captioner captioner(small_model(0), recipe.seed);
    const DigitCaptions data(DigitPool::training, 1, 4);
    std::vector<Tensor> sums;
    double loss_sum = 0;
    for (const std::int64_t first : {0, 2}) {
      const std::vector<Sample> samples{data.sample(first), data.sample(first + 1)};
      const Batch batch = collate(samples, canvas_side, {.columns = digit_columns});
      const Tensor part = captioner.loss(batch, {.training = true});
      const std::vector<Tensor> own = grad(part, captioner.parameters());
      for (std::size_t i = 0; i < own.size(); ++i) {
        if (first == 0) sums.push_back(own[i]);
        else sums[i] += own[i];
      }
      loss_sum += part.item<double>();
    }
    for (Tensor& sum : sums) sum /= 2.0;
    Adam optimizer(captioner.parameters(), recipe.adam());
    optimizer.set_learning_rate(recipe.schedule().rate(1));
    optimizer.step(sums);
    CHECK(loss == doctest::Approx(loss_sum / 2).epsilon(1e-6));
    CHECK(values(trainer.captioner()) == values(captioner));
  });
}

TEST_CASE("bf16 autocast trains, parameters stay f32") {
  Recipe recipe = short_recipe();
  recipe.bf16 = true;
  Trainer low(small_model(0), recipe, digits()), full(small_model(0), short_recipe(), digits());
  const double a = low.step().item<double>(), b = full.step().item<double>();
  CHECK(a == doctest::Approx(b).epsilon(0.02));
  CHECK(low.captioner().parameters()[0].dtype() == f32);
}

TEST_CASE("captions are rows of tokens that end in PAD") {
  const Captioner captioner(small_model(), 7);
  const Tensor pixels = zeros({3, 3, 32, 32});
  const auto captions = captioner.caption(pixels, 5);
  REQUIRE(captions.size() == 3);
  for (const auto& row : captions) {
    CHECK(row[0] == start_token);
    CHECK(row.size() <= 6);
    CHECK(row == captions[0]);
  }
  const DigitCaptions held_out(DigitPool::held_out, 2, 10);
  const Accuracy accuracy = measure_accuracy(captioner, held_out, 10, digit_columns, 4);
  CHECK(accuracy.captions == 10);
  CHECK(accuracy.words >= 10);
  CHECK(accuracy.by_word() < 0.7);
}

TEST_CASE("what does not fit the model is refused with the caller's line") {
  const Captioner captioner(small_model());
  const Pass pass;
  CHECK(contains(usage_message([&] {
                   captioner.encode(zeros({1, 3, 30, 32}), pass);
                 }),
                 "trainer_test.cpp"));
  const Tensor states = zeros({1, 5, 16});
  CHECK(contains(usage_message([&] {
                   captioner.decode(zeros({1, 9}, i64), states, pass);
                 }),
                 "9 tokens"));
  Recipe bad = short_recipe();
  bad.accumulation = 3;
  CHECK(contains(usage_message([&] { Trainer(small_model(), bad, digits()); }), "equal parts"));
}

}  // namespace sinter::models
