/// \file
/// Loader: the batches of a data set, made ahead of time by worker threads.
///
/// Batch number n is a function of the data set, the options and n: the number of workers changes
/// nothing but the time. So `position`, the number of batches given so far, is all there is to
/// save, and a loader started at a saved position goes on with the batches that would have come.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "models/data.h"

namespace sinter::models {

struct LoaderOptions {
  /// Samples in a batch.
  std::int64_t batch = 8;
  /// Times to go through the data set; 0 goes on for ever.
  std::int64_t epochs = 1;
  /// Another random order of the samples in every epoch; else 0, 1, 2, ...
  bool shuffle = false;
  std::uint64_t seed = 0;
  /// Leave out the last batch of an epoch when it is smaller.
  bool drop_last = false;
  /// Threads that make batches; with 0 the calling thread makes them when they are asked for.
  int workers = 1;
  /// Batches that may lie ready or be in the making.
  int prefetch = 4;
  /// Batches that an earlier run has seen.
  std::int64_t position = 0;
};

class Loader {
 public:
  /// \throws UsageError for counts below 1 (workers, epochs, position: below 0), for more than 1024
  /// workers and for an epoch without a batch.
  Loader(std::shared_ptr<const Dataset> dataset, const Collation& collation,
         const LoaderOptions& options, Where where = Where::current());
  /// Stops the workers; waits for at most one sample each.
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// The next batch; nothing after the last epoch. An exception of the data set comes out here,
  /// in the place of its batch, on this and every further call. Called by one thread at a time.
  std::optional<Batch> next();

  std::int64_t batches_per_epoch() const { return batches_per_epoch_; }
  /// Batches given so far, those before `options.position` included.
  std::int64_t position() const { return position_; }
  /// Seconds that calls of `next` have taken, waiting for a batch or making it.
  double seconds_waited() const { return seconds_waited_; }

 private:
  /// A batch in the making: empty, then one of the two.
  struct Slot {
    std::optional<Batch> batch;
    std::exception_ptr failure;
    bool ready() const { return batch.has_value() || failure != nullptr; }
  };

  /// Batch number `position`; nothing when the loader is being destroyed.
  std::optional<Batch> make(std::int64_t position) const;
  std::optional<Batch> take();
  void work();
  void stop();
  Slot& slot(std::int64_t position);

  const std::shared_ptr<const Dataset> dataset_;
  const Collation collation_;
  const LoaderOptions options_;
  std::int64_t batches_per_epoch_ = 0;
  std::int64_t end_ = 0;
  std::int64_t position_ = 0;
  double seconds_waited_ = 0;

  std::mutex mutex_;
  std::condition_variable slot_ready_, slot_free_;
  std::vector<Slot> slots_;         // of `prefetch` batches from taken_ on, by number modulo size
  std::int64_t taken_ = 0;          // position_, as the workers see it
  std::int64_t started_ = 0;        // the next batch that no worker has begun
  std::atomic<bool> stop_ = false;  // read between samples without the mutex
  std::vector<std::thread> workers_;
};

}  // namespace sinter::models
