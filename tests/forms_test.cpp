// Programs whose composites have other parts with other numbers: lowered in several forms.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <sinter/sinter.h>

#include "tests/each_level.h"
#include "tests/log_recorder.h"

namespace sinter::tests {
namespace {

/// Three losses, each with a label smoothing or without one.
class Losses {
 public:
  std::vector<float> at(Level level, int smoothed, double smoothing) const {
    const AtLevel here(level);
    std::vector<Tensor> losses;
    for (int i = 0; i < 3; ++i) {
      const double own = (smoothed >> i) & 1 ? smoothing : 0.0;
      losses.push_back(
          reshape(cross_entropy(x_ * (i + 1), targets_, {.label_smoothing = own}), {1}));
    }
    return concatenate(losses).to_host<float>();
  }

 private:
  Generator generator_{1};
  const Tensor x_ = normal({6, 9}, generator_).evaluate();
  const Tensor targets_ = from_host(std::vector<std::int64_t>{0, 1, 8, 3, -100, 5}, {6});
};

/// What is told on perf_hints while `body` runs.
template <typename Body>
std::vector<std::string> hints_of(Body&& body) {
  const LogRecorder log;
  set_logs("perf_hints");
  body();
  return log.texts(LogChannel::perf_hints);
}

template <typename Body>
std::uint64_t kernels_of(Body&& body) {
  const std::uint64_t before = evaluation_statistics().kernels_run;
  body();
  return evaluation_statistics().kernels_run - before;
}

}  // namespace

TEST_CASE("forms: other parts are lowered once, told, and run fused from then on") {
  const Losses losses;
  const auto at = [&](Level level, int smoothed) { losses.at(level, smoothed, 0.1); };
  reset_programs();
  at(Level::fused, 0);
  const std::uint64_t programs = evaluation_statistics().programs_built;
  const std::uint64_t kernels = kernels_of([&] { at(Level::fused, 0); });
  if (kernels == kernels_of([&] { at(Level::eager, 0); })) return;  // without a compiler
  const auto told = hints_of([&] { CHECK(kernels_of([&] { at(Level::fused, 7); }) == kernels); });
  REQUIRE(told.size() == 1);
  CHECK(contains(told[0], "lowered in one more form"));
  CHECK(contains(told[0], "forms=2"));
  const auto later = hints_of([&] {
    for (const int smoothed : {0, 7, 0, 7})
      CHECK(kernels_of([&] { at(Level::fused, smoothed); }) == kernels);
    losses.at(Level::fused, 7, 0.25);
  });
  CHECK(later.empty());
  CHECK(evaluation_statistics().programs_built == programs + 1);  // that of the level eager
}

TEST_CASE("forms: more than are kept are made again and right, whichever comes when") {
  const Losses losses;
  reset_programs();
  for (const int smoothed : {0, 1, 2, 3, 4, 5, 6, 7, 0, 7, 3, 3, 5, 1, 0}) {
    CAPTURE(smoothed);
    CHECK(losses.at(Level::fused, smoothed, 0.1) == losses.at(Level::eager, smoothed, 0.1));
  }
}

}  // namespace sinter::tests
