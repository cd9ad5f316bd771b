/// \file
/// Training of a small network by a client of the Driver API: step by step, and as replays of one
/// captured step.
#pragma once

#include <string>
#include <vector>

namespace simgpu {

struct TrainingResult {
  std::vector<float> losses;   ///< of each step
  std::vector<float> weights;  ///< after the last
  bool operator==(const TrainingResult&) const = default;
};

/// The kernels of training.cu as PTX for sm_80. \throws std::runtime_error where there is no NVRTC.
std::string training_kernels();

enum class Launches { direct, replayed };
/// \throws std::runtime_error with the name of a call that fails. A context is current.
TrainingResult train(const std::string& ptx, Launches launches, int steps);

/// All bits of a result, for comparison between processes.
std::string text_of(const TrainingResult& result);

}  // namespace simgpu
