#include "models/data.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "models/safetensors.h"

namespace sinter::models {
namespace {

std::int64_t columns_of(std::span<const Sample> samples, const Collation& collation) {
  if (collation.padding == Padding::maximum) return collation.columns;
  std::int64_t longest = 0;
  for (const Sample& sample : samples) longest = std::max(longest, std::ssize(sample.words) + 1);
  const std::int64_t blocks = (longest - 1) / collation.multiple + 1;
  return std::min(blocks * collation.multiple, collation.columns);
}

/// Fills one row of tokens and labels; what does not fit is cut.
void write_caption(const std::vector<std::int64_t>& words, std::span<std::int64_t> tokens,
                   std::span<std::int64_t> labels) {
  tokens[0] = start_token;
  const std::size_t count = std::min(words.size(), labels.size());
  for (std::size_t i = 0; i < count; ++i) {
    labels[i] = words[i];
    if (i + 1 < tokens.size()) tokens[i + 1] = words[i];
  }
  if (count < labels.size()) labels[count] = end_token;
}

void check_batch(const std::filesystem::path& path, std::size_t number, const Batch& batch) {
  const auto [pixels, tokens, labels] = batch;
  const bool good = pixels.dtype() == f32 && pixels.rank() == 4 &&
                    pixels.shape()[1] == image_channels && tokens.dtype() == i64 &&
                    labels.dtype() == i64 && tokens.rank() == 2 &&
                    tokens.shape() == labels.shape() && tokens.shape()[0] == pixels.shape()[0] &&
                    pixels.element_count() > 0 && tokens.element_count() > 0;
  if (good) return;
  const auto shown = [](const Tensor& t) {
    return fmt::format("{} {}", to_string(t.dtype()), to_string(t.shape()));
  };
  throw FileError(
      fmt::format("{}: batch {}: pixels, tokens and labels are {}, {} and {}; needed "
                  "are f32 [B, 3, H, W] and twice i64 [B, T]",
                  path.string(), number, shown(pixels), shown(tokens), shown(labels)));
}

}  // namespace

Batch collate(std::span<const Sample> samples, std::int64_t image_side, const Collation& collation,
              Where where) {
  if (samples.empty()) usage_error("collate", "no samples", where);
  if (collation.columns < 1 || collation.multiple < 1)
    usage_error("collate",
                fmt::format("columns and multiple must be at least 1: {} and {}", collation.columns,
                            collation.multiple),
                where);
  const auto batch = std::ssize(samples);
  const std::int64_t columns = columns_of(samples, collation);
  const auto image = static_cast<std::size_t>(image_channels * image_side * image_side);
  const auto row = static_cast<std::size_t>(columns);
  std::vector<float> pixels;
  pixels.reserve(samples.size() * image);
  std::vector<std::int64_t> tokens(samples.size() * row, pad_token);
  std::vector<std::int64_t> labels(samples.size() * row, ignored_label);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples[i].pixels.size() != image)
      usage_error("collate",
                  fmt::format("sample {} has {} values for an image of [{}, {}, {}]", i,
                              samples[i].pixels.size(), image_channels, image_side, image_side),
                  where);
    pixels.insert(pixels.end(), samples[i].pixels.begin(), samples[i].pixels.end());
    write_caption(samples[i].words, std::span(tokens).subspan(i * row, row),
                  std::span(labels).subspan(i * row, row));
  }
  return {from_host(pixels, {batch, image_channels, image_side, image_side}, where),
          from_host(tokens, {batch, columns}, where), from_host(labels, {batch, columns}, where)};
}

std::vector<Batch> read_batches(const std::filesystem::path& path) {
  const Safetensors file(path);
  std::vector<Batch> batches;
  for (std::size_t number = 0; 3 * number < file.tensors().size(); ++number) {
    // A key that does not belong here leaves one of these out.
    const Batch batch{file.tensor(fmt::format("{}.pixels", number)),
                      file.tensor(fmt::format("{}.tokens", number)),
                      file.tensor(fmt::format("{}.labels", number))};
    check_batch(path, number, batch);
    batches.push_back(batch);
  }
  if (batches.empty()) throw FileError(fmt::format("{}: holds no batches", path.string()));
  return batches;
}

}  // namespace sinter::models
