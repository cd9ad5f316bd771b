#include "models/trainer.h"

#include <fmt/format.h>

#include <limits>
#include <optional>

#include "models/draws.h"

namespace sinter::models {
namespace {

std::uint64_t counter(const TrainingState& state, std::string_view name, Where where) {
  const auto found = state.counters.find(name);
  if (found == state.counters.end())
    usage_error("Trainer", "the checkpoint does not say " + std::string(name), where);
  return found->second;
}

/// Of what has been done so often; more cannot have been.
std::int64_t count(const TrainingState& state, std::string_view name, Where where) {
  const std::uint64_t value = counter(state, name, where);
  if (value > std::numeric_limits<std::int64_t>::max())
    usage_error("Trainer", fmt::format("the checkpoint says {} {}", name, value), where);
  return static_cast<std::int64_t>(value);
}

}  // namespace

Trainer::Trainer(const CaptionerConfig& config, const Recipe& recipe, const TrainerData& data,
                 Where where)
    : Trainer(config, recipe, data, 0, where) {}

Trainer::Trainer(const CaptionerConfig& config, const Recipe& recipe, const TrainerData& data,
                 std::int64_t position, Where where)
    : recipe_((check_recipe(recipe, where), recipe)),
      captioner_(std::make_unique<Captioner>(config, recipe.seed, where)),
      optimizer_(std::make_unique<Adam>(captioner_->parameters(), recipe.adam(), where)),
      loader_(std::make_unique<Loader>(data.dataset, data.collation,
                                       LoaderOptions{.batch = recipe.batch / recipe.accumulation,
                                                     .epochs = 0,
                                                     .seed = recipe.seed,
                                                     .drop_last = true,
                                                     .workers = data.workers,
                                                     .position = position},
                                       where)),
      dropout_(std::make_unique<Generator>(dropout_seed(recipe.seed))),
      names_(data.names) {}

Trainer Trainer::resume(const std::filesystem::path& directory, const TrainerData& data,
                        Where where) {
  const TrainingState state = load_training_state(directory);
  const Recipe recipe = recipe_from(state.counters, where);
  const auto position = count(state, "loader.position", where);
  Trainer trainer(load_config(directory), recipe, data, position, where);
  load_parameters(directory, trainer.captioner_->parameters(), where);
  trainer.optimizer_->load_state(state.optimizer, where);
  trainer.dropout_->set_state(counter(state, "dropout.seed", where),
                              counter(state, "dropout.ordinal", where));
  trainer.steps_done_ = count(state, "steps", where);
  return trainer;
}

Tensor Trainer::accumulate(std::vector<Tensor>& gradients) {
  const Batch batch = loader_->next().value();  // the data goes on for ever
  Tensor loss;
  {
    std::optional<Autocast> autocast;
    if (recipe_.bf16) autocast.emplace(bf16);
    loss = captioner_->loss(batch, {.training = true, .generator = dropout_.get()});
  }
  const std::vector<Tensor> own = grad(loss, captioner_->parameters());
  if (gradients.empty()) gradients.resize(own.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (!own[i].defined()) continue;
    gradients[i] = gradients[i].defined() ? gradients[i] + own[i] : own[i];
  }
  return loss;
}

Tensor Trainer::step() {
  std::vector<Tensor> gradients;
  Tensor loss = accumulate(gradients);
  for (std::int64_t part = 1; part < recipe_.accumulation; ++part) loss += accumulate(gradients);
  if (recipe_.accumulation > 1) {
    const auto parts = static_cast<double>(recipe_.accumulation);
    loss /= parts;
    for (Tensor& gradient : gradients)
      if (gradient.defined()) gradient /= parts;
  }
  if (recipe_.clip_norm > 0) clip_by_global_norm(gradients, recipe_.clip_norm);
  Tensor reported = detach(loss);  // now, to be computed with the step
  optimizer_->set_learning_rate(recipe_.schedule().rate(steps_done_ + 1));
  optimizer_->step(gradients);
  ++steps_done_;
  return reported;
}

void Trainer::save(const std::filesystem::path& directory) const {
  TrainingState state{optimizer_->state(), to_counters(recipe_), names_};
  state.counters["steps"] = static_cast<std::uint64_t>(steps_done_);
  state.counters["loader.position"] = static_cast<std::uint64_t>(loader_->position());
  state.counters["dropout.seed"] = dropout_->seed();
  state.counters["dropout.ordinal"] = dropout_->ordinal();
  save_checkpoint(directory, captioner_->config(), captioner_->parameters(), state);
}

}  // namespace sinter::models
