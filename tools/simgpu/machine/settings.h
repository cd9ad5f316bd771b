/// \file
/// What the environment sets. Read once; a name or value that is not one of these ends the process
/// with a message, since a test that runs under other settings than it names proves nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace simgpu {

enum class Order : std::uint8_t { forward, backward, random };

struct Settings {
  std::string profile = "sm_90";  ///< SIMGPU_PROFILE: sm_80, sm_90 or sm_100
  std::string cpu;           ///< SIMGPU_CPU: portable or avx2; the better that there is without it
  int threads = 0;           ///< SIMGPU_THREADS: that run blocks, from 1; one a core without it
  bool check_memory = true;  ///< SIMGPU_CHECK: all, memory (no races) or none
  bool check_races = true;
  Order order = Order::forward;  ///< SIMGPU_ORDER: forward, backward, or the seed of a random one
  std::uint64_t order_seed = 0;
  /// SIMGPU_PERTURB: approximations are moved within their documented error, by this seed. Without
  /// it they are correctly rounded.
  std::optional<std::uint64_t> perturb;
  /// SIMGPU_BUDGET: instructions of warps that a launch may run, from 1; one that runs more
  /// makes no progress.
  std::int64_t budget = std::int64_t{1} << 36;
  std::string report;  ///< SIMGPU_REPORT: a file that reports are added to, beside stderr
};

const Settings& settings();
/// The seed of SIMGPU_PERTURB, null without it: for code that is compiled for several instruction
/// sets, which may share no inline function.
const std::uint64_t* perturbation();

}  // namespace simgpu
