// What the plan of a captioner's training step costs: kernels, bytes moved, memory.

#include <doctest/doctest.h>

#include <charconv>
#include <set>

#include "models/adam.h"
#include "models/captioner.h"
#include "models/synthetic.h"
#include "tests/each_level.h"
#include "tests/log_recorder.h"

namespace sinter::models {
namespace {

using tests::AtLevel;
using tests::LogRecorder;

/// A plan, as the logs tell it.
struct PlanCost {
  std::int64_t moved = 0, arena = 0, live = 0;  ///< bytes
  std::int64_t library = 0;                     ///< kernels of the library that differ
  std::set<std::string> generated;              ///< texts of kernels that differ
};

std::int64_t number(const LogRecord& record, std::string_view key) {
  for (const LogField& field : record.fields) {
    if (field.key != key) continue;
    std::int64_t value = 0;
    std::from_chars(field.value.data(), field.value.data() + field.value.size(), value);
    return value;
  }
  FAIL("no field " << key);
  return 0;
}

Batch synthetic_batch(const Preset& sizes) {
  const SyntheticCaptions data({.image_side = sizes.model.encoder.image_size,
                                .longest_caption = sizes.longest_caption,
                                .vocabulary = sizes.model.decoder.vocabulary});
  std::vector<Sample> samples;
  for (std::int64_t row = 0; row < sizes.batch; ++row) samples.push_back(data.sample(row));
  return collate(samples, sizes.model.encoder.image_size,
                 {.columns = sizes.longest_caption, .padding = Padding::maximum});
}

/// The plan of a step of training in f32; its kernels are empty where there is no compiler.
PlanCost plan_of_step(const Preset& sizes) {
  const AtLevel fused(Level::fused);
  reset_programs();
  const Captioner captioner(sizes.model, 1);
  Adam adam(captioner.parameters(), AdamOptions{});
  Generator dropout(2);
  for (const Variable& parameter : captioner.parameters()) parameter.value().evaluate();
  const Batch batch = synthetic_batch(sizes);
  LogRecorder log;
  set_logs("plan,output_code");
  const Tensor loss = captioner.loss(batch, {.training = true, .generator = &dropout});
  adam.step(grad(loss, captioner.parameters()));
  PlanCost cost;
  for (const LogRecord& record : log.records) {
    if (record.channel == LogChannel::output_code) cost.generated.insert(record.message);
    if (record.channel != LogChannel::plan) continue;
    REQUIRE(cost.moved == 0);  // one program
    cost = {number(record, "bytes_moved"), number(record, "arena_bytes"),
            number(record, "live_bytes"), number(record, "library_kernels"),
            std::move(cost.generated)};
  }
  return cost;
}

constexpr std::int64_t float_bytes = 4;

/// Elements that the three products of a linear layer read and write: the output, the gradients of
/// input and weight.
std::int64_t linear_elements(std::int64_t rows, std::int64_t in, std::int64_t out) {
  return 3 * (rows * in + in * out + rows * out);
}

/// Elements of query, key, value and output, forward, and of those, the output's gradient and the
/// three gradients, backward.
std::int64_t attention_elements(std::int64_t queries, std::int64_t keys, std::int64_t width) {
  return (2 * queries + 2 * keys) * width + (3 * queries + 4 * keys) * width;
}

template <class Config>
std::int64_t block_elements(const Config& config, std::int64_t rows) {
  return 4 * linear_elements(rows, config.width, config.width) +
         2 * linear_elements(rows, config.width, config.inner_width) +
         attention_elements(rows, rows, config.width);
}

/// The least that a step has to move: what each library call reads and writes, and each Variable
/// (parameters and both moments) once.
std::int64_t least_bytes(const Preset& sizes) {
  const VitConfig& vit = sizes.model.encoder;
  const Gpt2Config& gpt2 = sizes.model.decoder;
  const std::int64_t side = vit.image_size / vit.patch_size;
  const std::int64_t pixels = vit.channels * vit.patch_size * vit.patch_size;
  const std::int64_t seen = sizes.batch * (side * side + 1);
  const std::int64_t written = sizes.batch * sizes.longest_caption;
  std::int64_t elements = linear_elements(seen, pixels, vit.width) - seen * pixels;
  elements += vit.layers * block_elements(vit, seen);
  elements += gpt2.layers * (block_elements(gpt2, written) +
                             2 * linear_elements(written, gpt2.width, gpt2.width) +
                             2 * linear_elements(seen, vit.width, gpt2.width) +
                             attention_elements(written, seen, gpt2.width));
  elements += linear_elements(written, gpt2.width, gpt2.vocabulary);
  elements += 2 * written * gpt2.width + written * gpt2.width + gpt2.vocabulary * gpt2.width;
  const Captioner captioner(sizes.model, 1);
  for (const Variable& parameter : captioner.parameters())
    elements += 3 * 2 * element_count(parameter.value().shape());
  return elements * float_bytes;
}

/// As deep as the preset `base`, and narrow.
Preset narrow() {
  Preset sizes = preset("base");
  sizes.model.encoder.image_size = 64;
  sizes.model.encoder.width = sizes.model.decoder.width = 24;
  sizes.model.encoder.inner_width = sizes.model.decoder.inner_width = 96;
  sizes.longest_caption = 20;
  sizes.batch = 2;
  return sizes;
}

void check_memory(const PlanCost& cost) {
  CHECK(cost.live > 0);
  CHECK(cost.arena >= cost.live);
  CHECK(10 * cost.arena <= 11 * cost.live);
}

}  // namespace

TEST_CASE("training plan: few kernels, whose memory is as small as it can be") {
  const PlanCost cost = plan_of_step(narrow());
  if (cost.generated.empty()) return;  // no compiler
  MESSAGE(cost.generated.size() << " generated kernels, " << cost.library << " of the library");
  CHECK(cost.library > 0);
  CHECK(static_cast<std::int64_t>(cost.generated.size()) + cost.library <= 60);
  check_memory(cost);
}

TEST_CASE("training plan: the arena of `tiny` is as small as it can be") {
  const PlanCost cost = plan_of_step(preset("tiny"));
  if (cost.generated.empty()) return;  // no compiler
  check_memory(cost);
}

TEST_SUITE("exhaustive") {
  TEST_CASE("training plan: `base` moves little more than it must") {
    Preset sizes = preset("base");
    sizes.batch = 2;
    const PlanCost cost = plan_of_step(sizes);
    if (cost.generated.empty()) return;  // no compiler
    const double ratio = static_cast<double>(cost.moved) / static_cast<double>(least_bytes(sizes));
    MESSAGE(cost.moved << " bytes moved, " << ratio << " of the least");
    CHECK(ratio >= 1);
    CHECK(ratio <= 1.25);
    check_memory(cost);
  }
}

}  // namespace sinter::models
