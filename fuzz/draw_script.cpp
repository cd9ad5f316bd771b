#include "fuzz/draw_script.h"

#include <algorithm>

#include "fuzz/draw_builder.h"
#include "runtime/results.h"

namespace sinter::fuzz {
namespace {

struct Family {
  void (*draw)(DrawBuilder&);
  std::size_t weight;
  bool library = false;
};

constexpr Family families[] = {
    {draw_unary, 16},        {draw_binary, 24},         {draw_select, 5},  {draw_cast, 5},
    {draw_generator, 2},     {draw_view, 10},           {draw_join, 4},    {draw_order, 3},
    {draw_index, 4},         {draw_reduction, 14},      {draw_norm, 8},    {draw_loss, 2},
    {draw_idiom, 4},         {draw_gradient, 6},        {draw_foreach, 3}, {draw_write, 4},
    {draw_product, 3, true}, {draw_attention, 1, true},
};

const Family& draw_family(DrawBuilder& builder) {
  std::size_t total = 0;
  for (const Family& family : families) total += family.weight;
  std::size_t left = builder.below(total);
  for (const Family& family : families) {
    if (left < family.weight) return family;
    left -= family.weight;
  }
  return families[0];
}

/// Values that nobody reads are read at the end, and some of the others.
void choose_outputs(DrawBuilder& builder) {
  Script& script = builder.script();
  std::vector<bool> read(script.steps.size(), false);
  for (const Step& step : script.steps)
    for (const std::size_t operand : step.operands) read[operand] = true;
  for (std::size_t i = 0; i < script.steps.size(); ++i) {
    const Step& step = script.steps[i];
    const bool several = step.kind == StepKind::op && has_several_results(step.op);
    if (several || is_number(step) || step.kind == StepKind::leaf) continue;
    if (!read[i] || builder.one_in(6)) script.outputs.push_back(i);
  }
}

}  // namespace

Script draw_script(std::uint64_t seed, const DrawOptions& options) {
  DrawBuilder builder(seed, options);
  for (std::size_t leaves = 2 + builder.below(std::size_t{4}); leaves > 0; --leaves)
    builder.add_leaf(builder.any_dtype(), builder.any_shape());
  builder.add_leaf(f32, builder.any_shape());
  const std::size_t first = builder.size();
  for (int tries = 0; tries < options.steps * 2; ++tries) {
    if (builder.size() >= first + static_cast<std::size_t>(options.steps)) break;
    const Family& family = draw_family(builder);
    if (family.library && !options.library) continue;
    try {
      family.draw(builder);
    } catch (const std::bad_optional_access&) {
      // One of its steps was refused or too large; those before it stay.
    }
  }
  choose_outputs(builder);
  return builder.script();
}

DrawOptions options_for(std::uint64_t seed) {
  DrawOptions options;
  options.steps = seed % 8 == 3 ? 60 : 12 + static_cast<int>(seed % 5) * 6;
  options.faults = seed % 6 == 1;
  options.library = seed % 3 != 0;
  options.large = seed % 16 == 5;
  return options;
}

}  // namespace sinter::fuzz
