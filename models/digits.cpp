#include "models/digits.h"

#include <algorithm>

#include "models/digits_table.h"
#include "models/draws.h"

namespace sinter::models {
namespace {

constexpr int held_out_every = 5;

using DigitRow = const std::uint8_t*;

std::vector<DigitRow> pool_of(DigitPool pool) {
  std::vector<DigitRow> rows;
  for (int i = 0; i < digit_count; ++i)
    if ((i % held_out_every == 0) == (pool == DigitPool::held_out)) rows.push_back(digit_table[i]);
  return rows;
}

const std::vector<DigitRow>& images_of(DigitPool pool) {
  static const std::vector<DigitRow> training = pool_of(DigitPool::training);
  static const std::vector<DigitRow> held_out = pool_of(DigitPool::held_out);
  return pool == DigitPool::training ? training : held_out;
}

void paint(DigitCanvas& canvas, DigitRow image, std::int64_t top, std::int64_t left) {
  for (std::int64_t row = 0; row < digit_side; ++row)
    std::copy_n(image + row * digit_side, digit_side,
                canvas.grey.begin() + (top + row) * canvas_side + left);
  canvas.digits.push_back(image[digit_values - 1]);
}

}  // namespace

const Vocabulary& digit_words() {
  static const Vocabulary words(
      {"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"});
  return words;
}

DigitCanvas draw_canvas(DigitPool pool, std::uint64_t seed, std::int64_t index) {
  const std::vector<DigitRow>& images = images_of(pool);
  // The order of the draws is part of the data set: other programs draw the same samples.
  Draws draws(seed, static_cast<std::uint64_t>(index));
  const std::int64_t count = 1 + draws.below(most_digits);
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(count));
  for (std::int64_t& offset : offsets) offset = draws.below(canvas_side - digit_side * count + 1);
  std::sort(offsets.begin(), offsets.end());
  DigitCanvas canvas;
  std::int64_t earlier_columns = 0;
  for (const std::int64_t offset : offsets) {
    const auto image = static_cast<std::size_t>(draws.below(std::ssize(images)));
    const std::int64_t top = draws.below(canvas_side - digit_side + 1);
    paint(canvas, images[image], top, offset + earlier_columns);
    earlier_columns += digit_side;
  }
  return canvas;
}

DigitCaptions::DigitCaptions(DigitPool pool, std::uint64_t seed, std::int64_t size)
    : pool_(pool), seed_(seed), size_(size) {}

Sample DigitCaptions::sample(std::int64_t index) const {
  constexpr float grey_unit = 0.125F;
  const DigitCanvas canvas = draw_canvas(pool_, seed_, index);
  Sample result;
  result.pixels.reserve(image_channels * canvas.grey.size());
  for (int channel = 0; channel < image_channels; ++channel)
    for (const std::uint8_t grey : canvas.grey)
      result.pixels.push_back(grey_unit * static_cast<float>(grey));
  for (const int digit : canvas.digits) result.words.push_back(first_word + digit);
  return result;
}

}  // namespace sinter::models
