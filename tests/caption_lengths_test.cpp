// Training on captions of every length: how many programs and kernels that makes, and what is told.

#include <string>
#include <vector>

#include "jit/kernel_cache.h"
#include "models/adam.h"
#include "models/captioner.h"
#include "tests/each_level.h"
#include "tests/log_recorder.h"

namespace sinter::tests {
namespace {

models::CaptionerConfig small_captioner() {
  models::CaptionerConfig config;
  config.encoder = {
      .image_size = 8, .patch_size = 4, .width = 16, .layers = 1, .heads = 2, .inner_width = 32};
  config.decoder = {
      .vocabulary = 24, .positions = 12, .width = 16, .layers = 1, .heads = 2, .inner_width = 32};
  return config;
}

/// A captioner that is trained, a step at a time.
class Training {
 public:
  Training() : captioner_(small_captioner(), 1), optimizer_(captioner_.parameters(), {}) {
    for (const Variable& parameter : captioner_.parameters()) parameter.value().evaluate();
  }

  /// \return how many programs the step built.
  std::uint64_t step(std::int64_t rows, std::int64_t length) {
    const models::Batch batch{full({rows, 3, 8, 8}, 0.5).evaluate(),
                              full_integer({rows, length}, 3).evaluate(),
                              full_integer({rows, length}, 4).evaluate()};
    const std::uint64_t before = evaluation_statistics().programs_built;
    const Tensor loss = captioner_.loss(batch, {.training = true, .generator = &dropout_});
    const Tensor reported = detach(loss);
    optimizer_.step(grad(loss, captioner_.parameters()));
    CHECK(reported.item<double>() > 0);
    return evaluation_statistics().programs_built - before;
  }

 private:
  models::Captioner captioner_;
  models::Adam optimizer_;
  Generator dropout_{7};
};

/// How many kernels have come into this process.
std::int64_t kernels_loaded() {
  const jit::KernelStatistics kernels = jit::kernel_cache().statistics();
  return kernels.misses + kernels.disk_hits;
}

}  // namespace

TEST_CASE("captions of every length take two programs, and the log names size, op and line") {
  const AtLevel at(Level::fused);
  Training training;
  const LogRecorder log;
  reset_programs();
  CHECK(training.step(4, 1) == 1);
  set_logs("recompiles");
  CHECK(training.step(4, 7) == 1);
  std::vector<std::string> told = log.texts(LogChannel::recompiles);
  std::erase_if(told, [](const std::string& record) { return !contains(record, "of input "); });
  const std::int64_t before = kernels_loaded();
  for (std::int64_t length = 1; length <= 12; ++length) CHECK(training.step(4, length) == 0);
  for (std::int64_t length = 12; length >= 1; --length) CHECK(training.step(3, length) == 0);
  CHECK(kernels_loaded() == before);
  REQUIRE(told.size() == 1);
  CHECK(contains(told[0], "guard=size of axis 1 of input "));
  CHECK(contains(told[0], "was 1, is 7: sizes of 0 and of 1 have programs of their own"));
  CHECK(contains(told[0], "line=caption_lengths_test.cpp:"));
}

}  // namespace sinter::tests
