/// \file
/// Captioned images: data sets of samples, and batches of tensors made of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include <sinter/sinter.h>

#include "models/vocabulary.h"

namespace sinter::models {

inline constexpr std::int64_t image_channels = 3;
/// The label of a position that has no next token; the loss leaves it out.
inline constexpr std::int64_t ignored_label = -100;

/// One image and its caption.
struct Sample {
  std::vector<float> pixels;        ///< [3, side, side], row-major
  std::vector<std::int64_t> words;  ///< tokens without START and END
};

/// Samples by number.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual std::int64_t size() const = 0;
  /// Height and width of the images, in pixels.
  virtual std::int64_t image_side() const = 0;
  /// Sample `index` of [0, size). A function of the index alone; called from several threads at
  /// once.
  virtual Sample sample(std::int64_t index) const = 0;
};

/// What a training step takes. The model masks the positions where `tokens` is PAD.
struct Batch {
  Tensor pixels;  ///< f32 [B, 3, H, W]
  Tensor tokens;  ///< i64 [B, T]: START, the words, PAD
  Tensor labels;  ///< i64 [B, T]: the token after each, END after the last word, -100
};

enum class Padding {
  maximum,  ///< every batch has `columns` columns
  longest,  ///< as many as the longest caption of the batch needs
};

/// How captions of different lengths become the columns of one batch.
struct Collation {
  /// The most columns: longer captions are cut. A caption of n words needs n + 1.
  std::int64_t columns = 0;
  Padding padding = Padding::maximum;
  /// With `longest`: columns are rounded up to a multiple of this, up to `columns`.
  std::int64_t multiple = 1;
};

/// \throws UsageError for no samples, images that are not [3, image_side, image_side], and columns
/// or multiples below 1.
Batch collate(std::span<const Sample> samples, std::int64_t image_side, const Collation& collation,
              Where where = Where::current());

/// The batches of a safetensors file, with keys `0.pixels`, `0.tokens`, `0.labels`, `1.pixels` and
/// so on. \throws FileError for a file without batches, keys that are missing or of no
/// meaning here, and dtypes or shapes that are not those of a Batch.
std::vector<Batch> read_batches(const std::filesystem::path& path);

}  // namespace sinter::models
