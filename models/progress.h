/// \file
/// Progress of long work: a bar on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace sinter::models {

class Progress {
 public:
  /// `done`: steps that an earlier run has done. Writes to stderr.
  Progress(std::string title, std::int64_t total, std::int64_t done = 0);
  /// Ends the bar's line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Whether showing `done` now would write anything: ask before reading a loss for it.
  bool due(std::int64_t done) const;
  /// Shows steps, the loss, steps a second and the time left.
  void show(std::int64_t done, double loss);

 private:
  using Clock = std::chrono::steady_clock;

  std::string title_;
  std::int64_t total_, first_;
  bool terminal_;
  bool line_open_ = false;
  Clock::time_point start_, last_;
};

}  // namespace sinter::models
