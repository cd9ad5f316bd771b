/// \file
/// Captioned canvases of handwritten digits: one to three digits of 8×8 pixels on a canvas of
/// 32×32, at random heights and in columns that do not overlap; the caption spells them from left
/// to right, "seven two".
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/data.h"

namespace sinter::models {

inline constexpr std::int64_t canvas_side = 32;
inline constexpr std::int64_t most_digits = 3;
/// Columns that the longest caption needs.
inline constexpr std::int64_t digit_columns = most_digits + 1;

/// Which handwritten images are drawn from. No image is in both: every fifth is held out.
enum class DigitPool { training, held_out };

/// zero, one, ... nine.
const Vocabulary& digit_words();

struct DigitCanvas {
  std::array<std::uint8_t, canvas_side * canvas_side> grey{};  ///< 0 to 16, row by row
  std::vector<int> digits;                                     ///< from left to right
};

/// The canvas of a sample: a function of these three alone.
DigitCanvas draw_canvas(DigitPool pool, std::uint64_t seed, std::int64_t index);

/// Sample i is `draw_canvas(pool, seed, i)`: grey / 8 in each of the three channels.
class DigitCaptions : public Dataset {
 public:
  DigitCaptions(DigitPool pool, std::uint64_t seed, std::int64_t size);

  std::int64_t size() const override { return size_; }
  std::int64_t image_side() const override { return canvas_side; }
  Sample sample(std::int64_t index) const override;

 private:
  DigitPool pool_;
  std::uint64_t seed_;
  std::int64_t size_;
};

}  // namespace sinter::models
