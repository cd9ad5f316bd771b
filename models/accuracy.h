/// \file
/// How well a captioner reads images it has not seen.
#pragma once

#include "models/captioner.h"

namespace sinter::models {

struct Accuracy {
  std::int64_t words = 0, right_words = 0;
  std::int64_t captions = 0, right_captions = 0;

  /// Words at their right place among those of the true captions; 0 without any.
  double by_word() const;
  /// Captions without an error.
  double by_caption() const;
};

/// Greedy captions of samples 0 to count - 1, `batch` at a time.
Accuracy measure_accuracy(const Captioner& captioner, const Dataset& dataset, std::int64_t count,
                          std::int64_t longest_caption, std::int64_t batch = 100,
                          Where where = Where::current());

}  // namespace sinter::models
