/// \file
/// How a captioner is trained: everything that, with the data, decides the parameters to the bit.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "models/adam.h"
#include "models/schedule.h"

namespace sinter::models {

/// Samples a step at most: what is more is a slip of the hand, and would fill the memory.
inline constexpr std::int64_t most_batch = 1 << 20;

struct Recipe {
  std::int64_t steps = 1000;
  std::int64_t batch = 8;         ///< samples a step, over all accumulated parts
  std::int64_t accumulation = 1;  ///< parts a step's batch is cut into, one after the other
  std::int64_t warmup_steps = 0;
  double peak_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;  ///< decoupled
  double clip_norm = 0;     ///< largest global norm of the gradients; 0 for no limit
  std::uint64_t seed = 0;   ///< of first values, dropout and the order of the data
  bool bf16 = false;        ///< autocast

  AdamOptions adam() const;
  CosineSchedule schedule() const;

  friend bool operator==(const Recipe&, const Recipe&) = default;
};

/// Refuses values of no meaning. \throws UsageError
void check_recipe(const Recipe& recipe, Where where = Where::current());

/// As whole numbers by name, doubles by their bits, for a checkpoint.
std::map<std::string, std::uint64_t, std::less<>> to_counters(const Recipe& recipe);
/// \throws UsageError for a number that is missing.
Recipe recipe_from(const std::map<std::string, std::uint64_t, std::less<>>& counters,
                   Where where = Where::current());

/// What the digits are trained with in `tools/start`: the preset's model and these values reach the
/// accuracy README states.
Recipe digits_recipe();

}  // namespace sinter::models
