/// \file
/// Random images with random captions, for measuring throughput. Caption lengths have the skew of
/// real captions.
#pragma once

#include <cstdint>

#include "models/data.h"

namespace sinter::models {

/// What the samples are made for.
struct SyntheticOptions {
  std::int64_t image_side = 32;
  /// Captions are scaled from 256 words to this many, and shorter than it.
  std::int64_t longest_caption = 32;
  std::int64_t vocabulary = 1024;
  std::int64_t size = 1 << 20;
  std::uint64_t seed = 42;
};

/// Pixels of mean 0 and variance 1; words drawn evenly from the vocabulary; lengths drawn 90 % from
/// 5-31, 9 % from 33-63, 1 % from 65-255, then scaled by longest_caption / 256, at least 1.
class SyntheticCaptions : public Dataset {
 public:
  /// \throws UsageError for sizes below 1 and a vocabulary without words.
  explicit SyntheticCaptions(const SyntheticOptions& options, Where where = Where::current());

  std::int64_t size() const override { return options_.size; }
  std::int64_t image_side() const override { return options_.image_side; }
  Sample sample(std::int64_t index) const override;

 private:
  SyntheticOptions options_;
};

}  // namespace sinter::models
