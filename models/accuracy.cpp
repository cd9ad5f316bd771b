#include "models/accuracy.h"

#include <algorithm>

namespace sinter::models {
namespace {

double ratio(std::int64_t right, std::int64_t all) {
  return all == 0 ? 0 : static_cast<double>(right) / static_cast<double>(all);
}

/// `predicted` begins with START.
void count(const std::vector<std::int64_t>& predicted, const std::vector<std::int64_t>& words,
           std::int64_t end, Accuracy& accuracy) {
  std::int64_t right = 0;
  for (std::size_t i = 0; i < words.size(); ++i)
    if (i + 1 < predicted.size() && predicted[i + 1] == words[i]) ++right;
  const std::size_t after = words.size() + 1;
  const bool ended = after < predicted.size() && predicted[after] == end;
  accuracy.words += std::ssize(words);
  accuracy.right_words += right;
  ++accuracy.captions;
  if (right == std::ssize(words) && ended) ++accuracy.right_captions;
}

}  // namespace

double Accuracy::by_word() const { return ratio(right_words, words); }
double Accuracy::by_caption() const { return ratio(right_captions, captions); }

Accuracy measure_accuracy(const Captioner& captioner, const Dataset& dataset, std::int64_t samples,
                          std::int64_t longest_caption, std::int64_t batch, Where where) {
  const CallScope scope(where);
  Accuracy accuracy;
  for (std::int64_t first = 0; first < samples; first += batch) {
    std::vector<Sample> part;
    for (std::int64_t i = first; i < std::min(first + batch, samples); ++i)
      part.push_back(dataset.sample(i));
    const Batch collated = collate(part, dataset.image_side(), {.columns = longest_caption});
    const auto captions = captioner.caption(collated.pixels, longest_caption);
    for (std::size_t i = 0; i < part.size(); ++i)
      count(captions[i], part[i].words, captioner.config().end_token, accuracy);
  }
  return accuracy;
}

}  // namespace sinter::models
