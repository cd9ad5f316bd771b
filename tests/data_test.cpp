#include "models/data.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "models/safetensors.h"
#include "models/synthetic.h"
#include "tests/temporary_directory.h"

namespace sinter::models {
namespace {

using Tokens = std::vector<std::int64_t>;

constexpr std::int64_t side = 2;

/// Samples with captions of these lengths; word j of sample i is 10 i + j + 3.
std::vector<Sample> samples_of(const std::vector<int>& lengths) {
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    Sample sample;
    for (int j = 0; j < 3 * side * side; ++j)
      sample.pixels.push_back(static_cast<float>(100 * static_cast<int>(i) + j));
    for (int j = 0; j < lengths[i]; ++j)
      sample.words.push_back(10 * static_cast<std::int64_t>(i) + j + first_word);
    samples.push_back(sample);
  }
  return samples;
}

TEST_CASE("data: tokens start with START, labels are the next tokens") {
  const Batch batch = collate(samples_of({2, 3}), side, {.columns = 5});
  CHECK(batch.pixels.shape() == Shape{2, 3, side, side});
  CHECK(batch.pixels.dtype() == f32);
  CHECK(batch.pixels.to_host<float>()[13] == 101);
  CHECK(batch.tokens.shape() == Shape{2, 5});
  CHECK(batch.tokens.to_host<std::int64_t>() == Tokens{1, 3, 4, 0, 0, 1, 13, 14, 15, 0});
  CHECK(batch.labels.to_host<std::int64_t>() == Tokens{3, 4, 2, -100, -100, 13, 14, 15, 2, -100});
}

TEST_CASE("data: columns as the longest caption, a multiple, or the most there are") {
  const auto columns = [](const std::vector<int>& lengths, const Collation& collation) {
    return collate(samples_of(lengths), side, collation).tokens.shape()[1];
  };
  CHECK(columns({2, 3}, {.columns = 32}) == 32);
  CHECK(columns({2, 3}, {.columns = 32, .padding = Padding::longest}) == 4);
  CHECK(columns({2, 3}, {.columns = 32, .padding = Padding::longest, .multiple = 8}) == 8);
  CHECK(columns({2, 8}, {.columns = 32, .padding = Padding::longest, .multiple = 8}) == 16);
  CHECK(columns({2, 8}, {.columns = 12, .padding = Padding::longest, .multiple = 8}) == 12);
  CHECK(columns({2}, {.columns = 12, .padding = Padding::longest, .multiple = INT64_MAX}) == 12);
  CHECK(columns({0}, {.columns = 32, .padding = Padding::longest}) == 1);
}

TEST_CASE("data: a caption that does not fit is cut, its END first") {
  const Batch exact = collate(samples_of({3}), side, {.columns = 3});
  CHECK(exact.tokens.to_host<std::int64_t>() == Tokens{1, 3, 4});
  CHECK(exact.labels.to_host<std::int64_t>() == Tokens{3, 4, 5});
  const Batch cut = collate(samples_of({5}), side, {.columns = 3});
  CHECK(cut.tokens.to_host<std::int64_t>() == Tokens{1, 3, 4});
  CHECK(cut.labels.to_host<std::int64_t>() == Tokens{3, 4, 5});
}

TEST_CASE("data: batches without samples, columns or right images are errors") {
  CHECK_THROWS_AS(collate({}, side, {.columns = 3}), UsageError);
  CHECK_THROWS_AS(collate(samples_of({1}), side, {}), UsageError);
  CHECK_THROWS_AS(collate(samples_of({1}), side, {.columns = 3, .multiple = 0}), UsageError);
  CHECK_THROWS_WITH_AS(collate(samples_of({1}), side + 1, {.columns = 3}),
                       doctest::Contains("sample 0 has 12 values"), UsageError);
}

TEST_CASE("synthetic: lengths have the stated skew and words stay in the vocabulary") {
  const SyntheticCaptions captions(
      {.image_side = 1, .longest_caption = 256, .vocabulary = 20, .size = 20000, .seed = 1});
  int brief = 0, middle = 0, lengthy = 0;
  std::vector<int> words(20);
  for (std::int64_t i = 0; i < captions.size(); ++i) {
    const Sample sample = captions.sample(i);
    const auto length = std::ssize(sample.words);
    brief += length >= 5 && length <= 31;
    middle += length >= 33 && length <= 63;
    lengthy += length >= 65 && length <= 255;
    for (const std::int64_t word : sample.words) ++words.at(static_cast<std::size_t>(word));
  }
  CHECK(brief + middle + lengthy == 20000);
  CHECK(std::abs(brief - 18000) < 150);
  CHECK(std::abs(lengthy - 200) < 50);
  CHECK(words[0] + words[1] + words[2] == 0);
  CHECK(*std::min_element(words.begin() + 3, words.end()) > 0);
}

TEST_CASE("synthetic: short presets scale the lengths and keep a word") {
  const SyntheticCaptions captions({.image_side = 1, .longest_caption = 32, .size = 3000});
  std::int64_t shortest = 100, longest = 0;
  for (std::int64_t i = 0; i < captions.size(); ++i) {
    const auto length = std::ssize(captions.sample(i).words);
    shortest = std::min(shortest, length);
    longest = std::max(longest, length);
  }
  CHECK(shortest == 1);
  CHECK(longest > 20);
  CHECK(longest <= 31);
}

TEST_CASE("synthetic: pixels have mean 0 and variance 1, samples differ and repeat") {
  const SyntheticCaptions captions({.image_side = 64});
  const Sample sample = captions.sample(5);
  REQUIRE(sample.pixels.size() == 3 * 64 * 64);
  double sum = 0, squares = 0;
  for (const float value : sample.pixels) {
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  const auto count = static_cast<double>(sample.pixels.size());
  CHECK(std::abs(sum / count) < 0.04);
  CHECK(std::abs(squares / count - 1) < 0.04);
  CHECK(captions.sample(5).pixels == sample.pixels);
  CHECK(captions.sample(6).pixels != sample.pixels);
  CHECK(SyntheticCaptions({.image_side = 64, .seed = 43}).sample(5).pixels != sample.pixels);
  CHECK_THROWS_AS(SyntheticCaptions({.image_side = 0}), UsageError);
  CHECK_THROWS_AS(SyntheticCaptions({.longest_caption = 0}), UsageError);
  CHECK_THROWS_AS(SyntheticCaptions({.vocabulary = 3}), UsageError);
  CHECK_THROWS_AS(SyntheticCaptions({.size = 0}), UsageError);
}

/// Writes `count` batches under the keys that read_batches takes, with one change to the tensors.
template <typename Change>
void write_batches(const std::filesystem::path& path, int count, Change&& change) {
  static const std::vector<std::byte> zeros(4096);
  std::vector<TensorBytes> tensors;
  for (int i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    const std::int64_t columns = 4 + i;
    tensors.push_back({number + ".pixels", f32, {2, 3, 5, 5}, {}});
    tensors.push_back({number + ".tokens", i64, {2, columns}, {}});
    tensors.push_back({number + ".labels", i64, {2, columns}, {}});
  }
  change(tensors);
  for (TensorBytes& tensor : tensors)
    tensor.bytes = std::span(zeros).first(static_cast<std::size_t>(element_count(tensor.shape)) *
                                          item_size(tensor.dtype));
  write_safetensors(path, tensors);
}

TEST_CASE("data: batches of a file come in the order of their numbers") {
  const TemporaryDirectory directory;
  write_batches(directory / "b", 12, [](auto&) {});
  const std::vector<Batch> batches = read_batches(directory / "b");
  REQUIRE(batches.size() == 12);
  CHECK(batches[11].tokens.shape() == Shape{2, 15});
  CHECK(batches[2].labels.shape() == Shape{2, 6});
  CHECK(batches[2].pixels.to_host<float>() == std::vector<float>(150));
}

TEST_CASE("data: files of other tensors are errors") {
  const TemporaryDirectory directory;
  using Tensors = std::vector<TensorBytes>;
  const auto expect_error = [&](const std::string& part, auto&& change) {
    write_batches(directory / "b", 2, change);
    CHECK_THROWS_WITH_AS(read_batches(directory / "b"), doctest::Contains(part.c_str()), FileError);
  };
  expect_error("no tensor 1.labels", [](Tensors& t) { t.pop_back(); });
  expect_error("no tensor 0.pixels", [](Tensors& t) { t[0].name = "x.pixels"; });
  expect_error("no tensor 2.pixels", [](Tensors& t) { t.push_back({"more", u8, {1}, {}}); });
  expect_error("batch 0", [](Tensors& t) { t[0].dtype = i32; });
  expect_error("f32 [2, 1, 5, 5]", [](Tensors& t) { t[0].shape = {2, 1, 5, 5}; });
  expect_error("batch 0", [](Tensors& t) { t[0].shape = {3, 3, 5, 5}; });
  expect_error("batch 1", [](Tensors& t) { t[4].dtype = i32; });
  expect_error("batch 1", [](Tensors& t) { t[4].shape = {2, 7}; });
  expect_error("no batches", [](Tensors& t) { t.clear(); });
}

}  // namespace
}  // namespace sinter::models
