#include "models/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "models/draws.h"

namespace sinter::models {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int most_workers = 1024;

void check_options(const LoaderOptions& options, Where where) {
  if (options.batch < 1 || options.prefetch < 1)
    usage_error("Loader",
                fmt::format("batch and prefetch must be at least 1: {} and {}", options.batch,
                            options.prefetch),
                where);
  if (options.workers < 0 || options.epochs < 0 || options.position < 0)
    usage_error("Loader",
                fmt::format("workers, epochs and position must not be negative: {}, {} and {}",
                            options.workers, options.epochs, options.position),
                where);
  if (options.workers > most_workers)
    usage_error("Loader", fmt::format("{} workers are more than {}", options.workers, most_workers),
                where);
}

}  // namespace

Loader::Loader(std::shared_ptr<const Dataset> dataset, const Collation& collation,
               const LoaderOptions& options, Where where)
    : dataset_(std::move(dataset)),
      collation_(collation),
      options_(options),
      position_(options.position),
      taken_(options.position),
      started_(options.position) {
  check_options(options, where);
  const std::int64_t size = dataset_->size();
  const std::int64_t last = !options.drop_last && size % options.batch != 0 ? 1 : 0;
  batches_per_epoch_ = size / options.batch + last;
  if (batches_per_epoch_ < 1)
    usage_error("Loader", fmt::format("{} samples make no batch of {}", size, options.batch),
                where);
  constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  const bool endless = options.epochs == 0 || options.epochs > never / batches_per_epoch_;
  end_ = endless ? never : options.epochs * batches_per_epoch_;
  slots_.resize(static_cast<std::size_t>(options.prefetch));
  try {
    for (int i = 0; i < options.workers; ++i) workers_.emplace_back([this] { work(); });
  } catch (...) {  // no more threads to be had: those that run must end before the members do
    stop();
    throw;
  }
}

Loader::~Loader() { stop(); }

void Loader::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  slot_free_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

std::optional<Batch> Loader::next() {
  if (position_ >= end_) return std::nullopt;
  const auto begin = Clock::now();
  std::optional<Batch> batch = workers_.empty() ? make(position_) : take();
  seconds_waited_ += std::chrono::duration<double>(Clock::now() - begin).count();
  ++position_;
  return batch;
}

std::optional<Batch> Loader::make(std::int64_t position) const {
  const std::int64_t epoch = position / batches_per_epoch_;
  const std::int64_t first = position % batches_per_epoch_ * options_.batch;
  const std::int64_t last = std::min(first + options_.batch, dataset_->size());
  std::vector<Sample> samples;
  for (std::int64_t i = first; i < last; ++i) {
    if (stop_) return std::nullopt;
    const std::int64_t index =
        options_.shuffle ? shuffled_index(options_.seed, epoch, i, dataset_->size()) : i;
    samples.push_back(dataset_->sample(index));
  }
  return collate(samples, dataset_->image_side(), collation_);
}

std::optional<Batch> Loader::take() {
  std::unique_lock lock(mutex_);
  Slot& wanted = slot(position_);
  slot_ready_.wait(lock, [&] { return wanted.ready(); });
  // A failed batch stays where it is: asking again gives the same answer.
  if (wanted.failure) std::rethrow_exception(wanted.failure);
  std::optional<Batch> batch = std::exchange(wanted, {}).batch;
  ++taken_;
  lock.unlock();
  slot_free_.notify_one();
  return batch;
}

void Loader::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    slot_free_.wait(
        lock, [&] { return stop_ || (started_ < end_ && started_ < taken_ + std::ssize(slots_)); });
    if (stop_) return;
    const std::int64_t mine = started_++;
    lock.unlock();
    Slot made;
    try {
      made.batch = make(mine);
    } catch (...) {
      made.failure = std::current_exception();
    }
    lock.lock();
    slot(mine) = std::move(made);
    slot_ready_.notify_one();
  }
}

Loader::Slot& Loader::slot(std::int64_t position) {
  return slots_[static_cast<std::size_t>(position % std::ssize(slots_))];
}

}  // namespace sinter::models
