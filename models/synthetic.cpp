#include "models/synthetic.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/draws.h"

namespace sinter::models {
namespace {

constexpr std::int64_t unscaled_caption = 256;

std::int64_t caption_length(Draws& draws, std::int64_t longest) {
  const std::int64_t percent = draws.below(100);
  std::int64_t length = 0;
  if (percent < 90) length = 5 + draws.below(32 - 5);
  else if (percent < 99) length = 33 + draws.below(64 - 33);
  else length = 65 + draws.below(256 - 65);
  return std::max<std::int64_t>(1, length * longest / unscaled_caption);
}

/// Close to normal, and the same bits everywhere: four even 16-bit draws added, which have the mean
/// 2 * 65535 and the variance (65536^2 - 1) / 3.
float pixel(Draws& draws) {
  constexpr float mean = 131070.0F, per_deviation = 1.0F / 37837.227F;
  const std::uint64_t bits = draws.next();
  const std::uint64_t sum =
      (bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) + (bits >> 48);
  return (static_cast<float>(sum) - mean) * per_deviation;
}

}  // namespace

SyntheticCaptions::SyntheticCaptions(const SyntheticOptions& options, Where where)
    : options_(options) {
  if (options.image_side < 1 || options.longest_caption < 1 || options.size < 1 ||
      options.vocabulary <= first_word)
    usage_error("SyntheticCaptions",
                fmt::format("image side {}, longest caption {} and size {} must be at least 1, "
                            "vocabulary {} at least {}",
                            options.image_side, options.longest_caption, options.size,
                            options.vocabulary, first_word + 1),
                where);
}

Sample SyntheticCaptions::sample(std::int64_t index) const {
  Draws draws(options_.seed, static_cast<std::uint64_t>(index));
  Sample result;
  result.words.resize(static_cast<std::size_t>(caption_length(draws, options_.longest_caption)));
  for (std::int64_t& word : result.words)
    word = first_word + draws.below(options_.vocabulary - first_word);
  const std::int64_t side = options_.image_side;
  result.pixels.resize(static_cast<std::size_t>(image_channels * side * side));
  for (float& value : result.pixels) value = pixel(draws);
  return result;
}

}  // namespace sinter::models
