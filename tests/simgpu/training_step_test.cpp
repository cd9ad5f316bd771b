#include "tests/simgpu/training_step.h"

#include "runtime/cuda/nvrtc_library.h"
#include "tests/simgpu/client.h"
#include "tests/simgpu/run_client.h"

namespace simgpu {

TEST_CASE("simgpu driver: replays of a captured training step give the numbers of direct launches" *
          doctest::skip(sinter::cuda::nvrtc_library() == nullptr)) {
  const std::string ptx = training_kernels();
  constexpr int steps = 20;
  const TestContext context;
  const TrainingResult direct = train(ptx, Launches::direct, steps);
  const TrainingResult replayed = train(ptx, Launches::replayed, steps);
  REQUIRE(direct.losses.size() == steps);
  for (std::size_t step = 0; step < steps; ++step) {
    CAPTURE(step);
    CHECK(direct.losses[step] == replayed.losses[step]);
  }
  CHECK(direct.weights == replayed.weights);
  CHECK(direct.losses.back() < 0.3f * direct.losses.front());
  // Whichever of the streams and blocks goes first.
  const std::string wanted = text_of(direct) + "\n" + text_of(replayed) + "\n";
  for (const char* order : {"backward", "4711", "20261130"})
    CHECK(run_client(std::string("SIMGPU_ORDER=") + order, "train") == wanted);
}

}  // namespace simgpu
