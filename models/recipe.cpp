#include "models/recipe.h"

#include <fmt/format.h>

#include <bit>

namespace sinter::models {
namespace {

/// Calls `visit(name, field)` for every field: the one list of them.
template <typename AnyRecipe, typename Visit>
void for_each_field(AnyRecipe& recipe, Visit&& visit) {
  visit("steps", recipe.steps);
  visit("batch", recipe.batch);
  visit("accumulation", recipe.accumulation);
  visit("warmup_steps", recipe.warmup_steps);
  visit("peak_rate", recipe.peak_rate);
  visit("beta1", recipe.beta1);
  visit("beta2", recipe.beta2);
  visit("epsilon", recipe.epsilon);
  visit("weight_decay", recipe.weight_decay);
  visit("clip_norm", recipe.clip_norm);
  visit("seed", recipe.seed);
  visit("bf16", recipe.bf16);
}

}  // namespace

AdamOptions Recipe::adam() const {
  return {.learning_rate = peak_rate,
          .beta1 = beta1,
          .beta2 = beta2,
          .epsilon = epsilon,
          .weight_decay = weight_decay,
          .decoupled = true};
}

CosineSchedule Recipe::schedule() const {
  return {.peak = peak_rate, .warmup_steps = warmup_steps, .total_steps = steps};
}

void check_recipe(const Recipe& recipe, Where where) {
  const auto refuse = [&](std::string_view name, auto value) {
    usage_error("recipe", fmt::format("{} is {}", name, value), where);
  };
  if (recipe.steps < 1) refuse("steps", recipe.steps);
  if (recipe.batch < 1 || recipe.batch > most_batch) refuse("batch", recipe.batch);
  if (recipe.accumulation < 1) refuse("accumulation", recipe.accumulation);
  if (recipe.batch % recipe.accumulation != 0)
    usage_error("recipe",
                fmt::format("a batch of {} is not cut into {} equal parts", recipe.batch,
                            recipe.accumulation),
                where);
  if (recipe.warmup_steps < 0) refuse("warmup_steps", recipe.warmup_steps);
  if (!(recipe.clip_norm >= 0)) refuse("clip_norm", recipe.clip_norm);
}

std::map<std::string, std::uint64_t, std::less<>> to_counters(const Recipe& recipe) {
  std::map<std::string, std::uint64_t, std::less<>> counters;
  for_each_field(recipe, [&](const char* name, auto value) {
    std::uint64_t bits;
    if constexpr (std::is_same_v<decltype(value), double>)
      bits = std::bit_cast<std::uint64_t>(value);
    else bits = static_cast<std::uint64_t>(value);
    counters.emplace(std::string("recipe.") + name, bits);
  });
  return counters;
}

Recipe recipe_from(const std::map<std::string, std::uint64_t, std::less<>>& counters, Where where) {
  Recipe recipe;
  for_each_field(recipe, [&]<typename T>(const char* name, T& value) {
    const auto found = counters.find(std::string("recipe.") + name);
    if (found == counters.end())
      usage_error("recipe", fmt::format("the checkpoint does not say {}", name), where);
    if constexpr (std::is_same_v<T, double>) value = std::bit_cast<double>(found->second);
    else value = static_cast<T>(found->second);
  });
  check_recipe(recipe, where);
  return recipe;
}

Recipe digits_recipe() {
  return {.steps = 6000,
          .batch = 64,
          .warmup_steps = 100,
          .peak_rate = 1.5e-3,
          .beta2 = 0.98,
          .weight_decay = 0.05,
          .clip_norm = 1,
          .seed = 1};
}

}  // namespace sinter::models
