#include "models/digits.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

#include "models/digits_table.h"
#include "models/draws.h"

namespace sinter::models {
namespace {

/// CRC-32 as in zlib, continued from `crc`.
std::uint32_t crc32(std::uint32_t crc, std::uint8_t byte) {
  crc = ~crc ^ byte;
  for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc % 2 == 1 ? 0xEDB88320U : 0U);
  return ~crc;
}

std::uint32_t checksum(DigitPool pool, std::uint64_t seed, int count) {
  std::uint32_t crc = 0;
  for (int index = 0; index < count; ++index) {
    const DigitCanvas canvas = draw_canvas(pool, seed, index);
    for (const std::uint8_t grey : canvas.grey) crc = crc32(crc, grey);
    for (const int digit : canvas.digits) crc = crc32(crc, static_cast<std::uint8_t>(digit));
  }
  return crc;
}

TEST_CASE("draws: splitmix64's published values") {
  CHECK(mix64(0) == 0xe220a8397b1dcdaf);
  CHECK(mix64(1) == 0x910a2dec89025cc1);
}

TEST_CASE("draws: below covers its range evenly") {
  std::vector<int> counts(7);
  for (std::uint64_t i = 0; i < 7000; ++i) ++counts[static_cast<std::size_t>(Draws(5, i).below(7))];
  CHECK(*std::ranges::min_element(counts) > 850);
  CHECK(*std::ranges::max_element(counts) < 1150);
  CHECK(Draws(1, 2).below(1) == 0);
}

TEST_CASE("draws: a shuffled epoch has every index once, in another order each time") {
  for (const std::int64_t size : {1, 2, 3, 5, 16, 17, 100, 1437}) {
    CAPTURE(size);
    std::set<std::int64_t> seen;
    for (std::int64_t i = 0; i < size; ++i) seen.insert(shuffled_index(3, 0, i, size));
    CHECK(std::ssize(seen) == size);
    CHECK(*seen.begin() == 0);
    CHECK(*seen.rbegin() == size - 1);
  }
  const auto order = [](std::uint64_t seed, std::int64_t epoch) {
    std::vector<std::int64_t> indices(1000);
    for (std::int64_t i = 0; i < 1000; ++i)
      indices[static_cast<std::size_t>(i)] = shuffled_index(seed, epoch, i, 1000);
    return indices;
  };
  CHECK(order(3, 0) == order(3, 0));
  CHECK(order(3, 0) != order(3, 1));
  CHECK(order(3, 0) != order(4, 0));
  // Of a random order, one index in a thousand stays in place on average.
  int fixed = 0;
  for (std::int64_t epoch = 0; epoch < 20; ++epoch)
    for (std::int64_t i = 0; i < 1000; ++i) fixed += shuffled_index(1, epoch, i, 1000) == i;
  CHECK(fixed > 5);
  CHECK(fixed < 45);
}

TEST_CASE("digits: the samples that any program must draw") {
  struct Expected {
    DigitPool pool;
    std::uint64_t seed;
    std::int64_t index;
    std::vector<int> digits;
    int sum;
  };
  const Expected samples[] = {
      {DigitPool::training, 1, 0, {9, 5, 8}, 950}, {DigitPool::training, 1, 1, {2, 7, 8}, 935},
      {DigitPool::training, 1, 2, {3, 7, 7}, 990}, {DigitPool::training, 1, 3, {2}, 284},
      {DigitPool::held_out, 2, 0, {6}, 271},       {DigitPool::held_out, 2, 1, {1, 8}, 604},
      {DigitPool::held_out, 2, 2, {2, 4}, 565},    {DigitPool::held_out, 2, 3, {2, 5}, 619},
  };
  for (const Expected& expected : samples) {
    const DigitCanvas canvas = draw_canvas(expected.pool, expected.seed, expected.index);
    CHECK(canvas.digits == expected.digits);
    CHECK(std::accumulate(canvas.grey.begin(), canvas.grey.end(), 0) == expected.sum);
  }
  CHECK(checksum(DigitPool::training, 1, 1000) == 0xf118d57f);
  CHECK(checksum(DigitPool::held_out, 2, 1000) == 0x450bcbac);
}

TEST_CASE("digits: a sample holds the canvas three times and spells its digits") {
  const DigitCaptions captions(DigitPool::training, 1, 10);
  CHECK(captions.size() == 10);
  const Sample sample = captions.sample(0);
  const DigitCanvas canvas = draw_canvas(DigitPool::training, 1, 0);
  REQUIRE(sample.pixels.size() == 3 * canvas.grey.size());
  for (std::size_t i = 0; i < sample.pixels.size(); ++i)
    REQUIRE(sample.pixels[i] * 8 == canvas.grey[i % canvas.grey.size()]);
  CHECK(digit_words().text(sample.words) == "nine five eight");
  CHECK(sample.words == std::vector<std::int64_t>{12, 8, 11});
}

TEST_CASE("digits: the table begins and ends as the file does") {
  CHECK(digit_table[0][64] == 0);
  CHECK(digit_table[0][2] == 5);
  CHECK(digit_table[digit_count - 1][64] == 8);
}

TEST_CASE("vocabulary: words become tokens and come back") {
  const Vocabulary words({"a", "bc", "d"});
  CHECK(words.size() == 6);
  CHECK(words.tokens("bc a  d ") == std::vector<std::int64_t>{4, 3, 5});
  CHECK(words.tokens("").empty());
  CHECK(words.tokens("   ").empty());
  CHECK(words.text(std::vector<std::int64_t>{1, 4, 0, 3, 2, 5}) == "bc a");
  CHECK(words.text(std::vector<std::int64_t>{6, -1, 5}) == "? ? d");
  CHECK_THROWS_WITH_AS(words.tokens("a x"), doctest::Contains("the word x is not known"),
                       UsageError);
  CHECK_THROWS_AS(words.tokens("a\tbc"), UsageError);
  CHECK_THROWS_AS(Vocabulary({"a", "a"}), UsageError);
  CHECK_THROWS_AS(Vocabulary({""}), UsageError);
  CHECK_THROWS_AS(Vocabulary({"a b"}), UsageError);
}

}  // namespace
}  // namespace sinter::models
