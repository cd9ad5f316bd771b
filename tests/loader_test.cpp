#include "models/loader.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace sinter::models {
namespace {

using Tokens = std::vector<std::int64_t>;

/// Sample i has the one word `first_word + i` and takes another time each call.
class Numbers : public Dataset {
 public:
  explicit Numbers(std::int64_t size, std::int64_t faulty = -1) : size_(size), faulty_(faulty) {}
  std::int64_t size() const override { return size_; }
  std::int64_t image_side() const override { return 1; }
  Sample sample(std::int64_t index) const override {
    if (index == faulty_) throw std::runtime_error("the sample is faulty");
    std::this_thread::sleep_for(std::chrono::microseconds(37 * (calls_++ % 7)));
    return {{0, 1, 2}, {first_word + index}};
  }

 private:
  std::int64_t size_, faulty_;
  mutable std::atomic<int> calls_ = 0;
};

constexpr Collation two_columns = {.columns = 2};

/// The samples of a batch.
Tokens numbers_of(const Batch& batch) {
  Tokens numbers;
  const Tokens labels = batch.labels.to_host<std::int64_t>();
  for (std::size_t i = 0; i < labels.size(); i += 2) numbers.push_back(labels[i] - first_word);
  return numbers;
}

std::vector<Tokens> all_batches(const LoaderOptions& options, std::int64_t size = 50) {
  Loader loader(std::make_shared<Numbers>(size), two_columns, options);
  std::vector<Tokens> batches;
  while (const auto batch = loader.next()) batches.push_back(numbers_of(*batch));
  CHECK_FALSE(loader.next().has_value());
  CHECK(loader.position() == options.position + std::ssize(batches));
  return batches;
}

TEST_CASE("loader: without shuffling the samples come in order, the last batch smaller") {
  const auto batches = all_batches({.batch = 4}, 10);
  CHECK(batches == std::vector<Tokens>{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}});
  CHECK(all_batches({.batch = 4, .drop_last = true}, 10).size() == 2);
  CHECK(all_batches({.batch = 5, .epochs = 3}, 10).size() == 6);
  CHECK(all_batches({.batch = 16}, 10) == std::vector<Tokens>{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}});
}

TEST_CASE("loader: the number of workers and the prefetch change nothing") {
  const LoaderOptions options = {.batch = 4, .epochs = 3, .shuffle = true, .seed = 9};
  LoaderOptions other = options;
  other.workers = 0;
  const auto expected = all_batches(other);
  CHECK(expected.size() == 39);
  for (const int workers : {1, 2, 3, 8})
    for (const int prefetch : {1, 2, 5, 100}) {
      CAPTURE(workers);
      CAPTURE(prefetch);
      other.workers = workers;
      other.prefetch = prefetch;
      CHECK(all_batches(other) == expected);
    }
}

TEST_CASE("loader: a shuffled epoch has every sample once, in an order of its own") {
  const auto batches = all_batches({.batch = 10, .epochs = 2, .shuffle = true, .seed = 1});
  REQUIRE(batches.size() == 10);
  for (std::size_t epoch = 0; epoch < 2; ++epoch) {
    std::set<std::int64_t> seen;
    for (std::size_t i = 0; i < 5; ++i)
      seen.insert(batches[5 * epoch + i].begin(), batches[5 * epoch + i].end());
    CHECK(seen.size() == 50);
  }
  CHECK(batches[0] != batches[5]);
  CHECK(all_batches({.batch = 10, .epochs = 2, .shuffle = true, .seed = 2}) != batches);
}

TEST_CASE("loader: a loader started at a position goes on where the other stopped") {
  LoaderOptions options = {.batch = 8, .epochs = 3, .shuffle = true, .seed = 5, .workers = 2};
  const auto whole = all_batches(options);
  for (const std::int64_t position : {1, 6, 7, 8, 20, 21, 30}) {
    CAPTURE(position);
    options.position = position;
    const auto first = std::min(whole.begin() + position, whole.end());
    if (position <= 21) {
      CHECK(all_batches(options) == std::vector<Tokens>(first, whole.end()));
    } else {
      CHECK(all_batches(options).empty());
    }
  }
}

TEST_CASE("loader: zero epochs never end") {
  Loader loader(std::make_shared<Numbers>(3), two_columns, {.batch = 2, .epochs = 0, .workers = 2});
  CHECK(loader.batches_per_epoch() == 2);
  for (int i = 0; i < 100; ++i) CHECK(numbers_of(loader.next().value()).front() == 2 * (i % 2));
}

TEST_CASE("loader: an exception comes out in the place of its batch") {
  for (const int workers : {0, 1, 3}) {
    CAPTURE(workers);
    Loader loader(std::make_shared<Numbers>(20, 9), two_columns, {.batch = 2, .workers = workers});
    for (int i = 0; i < 4; ++i) CHECK(loader.next().has_value());
    CHECK_THROWS_WITH_AS(loader.next(), "the sample is faulty", std::runtime_error);
    CHECK_THROWS_AS(loader.next(), std::runtime_error);
    CHECK(loader.position() == 4);
  }
}

TEST_CASE("loader: it can be destroyed at any time") {
  for (int taken = 0; taken < 12; ++taken)
    for (const int workers : {0, 1, 4}) {
      Loader loader(std::make_shared<Numbers>(30, 27), two_columns,
                    {.batch = 3, .workers = workers, .prefetch = 2});
      for (int i = 0; i < std::min(taken, 9); ++i) CHECK(loader.next().has_value());
      if (taken == 11) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

TEST_CASE("loader: batches outlive the loader and the data set") {
  std::vector<Batch> batches;
  {
    Loader loader(std::make_shared<Numbers>(6), two_columns, {.batch = 3, .workers = 2});
    while (auto batch = loader.next()) batches.push_back(*std::move(batch));
  }
  REQUIRE(batches.size() == 2);
  CHECK(numbers_of(batches[1]) == Tokens{3, 4, 5});
}

TEST_CASE("loader: time spent waiting is counted") {
  Loader loader(std::make_shared<Numbers>(40), two_columns, {.batch = 20, .workers = 0});
  CHECK(loader.seconds_waited() == 0);
  CHECK(loader.next().has_value());
  const double first = loader.seconds_waited();
  CHECK(first > 0.001);
  CHECK(loader.next().has_value());
  CHECK(loader.seconds_waited() > first);
}

TEST_CASE("loader: options without meaning are errors") {
  const auto make = [](const LoaderOptions& options, std::int64_t size = 10) {
    Loader(std::make_shared<Numbers>(size), two_columns, options);
  };
  CHECK_THROWS_AS(make({.batch = 0}), UsageError);
  CHECK_THROWS_AS(make({.prefetch = 0}), UsageError);
  CHECK_THROWS_AS(make({.workers = -1}), UsageError);
  CHECK_THROWS_AS(make({.epochs = -1}), UsageError);
  CHECK_THROWS_AS(make({.position = -1}), UsageError);
  CHECK_THROWS_AS(make({.batch = 11, .drop_last = true}), UsageError);
  CHECK_THROWS_AS(make({}, 0), UsageError);
}

}  // namespace
}  // namespace sinter::models
