// Streams, and the device thread: which operation runs next, and what happens when it has run.
#include <algorithm>
#include <random>
#include <thread>

#include "tools/simgpu/driver/driver.h"
#include "tools/simgpu/driver/stream.h"
#include "tools/simgpu/machine/report.h"
#include "tools/simgpu/machine/settings.h"

namespace simgpu::driver {
namespace {

using Waits = std::vector<std::shared_ptr<Operation>>;

bool are_done(const Waits& operations) {
  return std::all_of(operations.begin(), operations.end(),
                     [](const auto& one) { return one->is_done(); });
}

/// Chooses among streams that could go on: SIMGPU_ORDER, by the age of what they would do.
class Chooser {
 public:
  std::shared_ptr<Operation> choose(const Waits& ready) {
    if (ready.empty()) return nullptr;
    if (settings().order == Order::random)
      return ready[static_cast<std::size_t>(random_() % ready.size())];
    const auto by_age = [](const auto& a, const auto& b) { return a->number < b->number; };
    return settings().order == Order::forward
               ? *std::min_element(ready.begin(), ready.end(), by_age)
               : *std::max_element(ready.begin(), ready.end(), by_age);
  }

 private:
  std::mt19937_64 random_{settings().order_seed};
};

class Engine {
 public:
  void add(const std::shared_ptr<Operation>& operation) {
    operation->number = ++numbers_;
    if (operation->stream->queue.empty()) busy_.push_back(operation->stream);
    operation->stream->queue.push_back(operation);
    operation->stream->last = operation;
    if (!thread_.joinable()) thread_ = std::thread([this] { serve(); });
    driver().changed.notify_all();
  }
  /// Returns when the device is between two operations; none starts while the lock is held.
  void pause() {
    ++pauses_;
    driver().changed.wait(Call::current().lock(),
                          [this] { return driver().ended || !is_running_; });
    --pauses_;
    driver().changed.notify_all();
  }
  void stop() {
    {
      const std::lock_guard lock(driver().mutex);
      driver().ended = true;
      driver().changed.notify_all();
    }
    if (thread_.joinable()) thread_.join();
  }

 private:
  void serve() {
    std::unique_lock lock(driver().mutex);
    while (true) {
      std::shared_ptr<Operation> next;
      driver().changed.wait(
          lock, [&] { return driver().ended || (pauses_ == 0 && (next = choose()) != nullptr); });
      if (driver().ended) return;
      next->state = Operation::State::running;
      // The program's functions may wait for each other, so each has a thread.
      if (is_of_host(next->work)) {
        std::thread([this, next] { run_of_host(next); }).detach();
      } else {
        is_running_ = true;
        run(next, lock);
        is_running_ = false;
      }
    }
  }
  void run_of_host(const std::shared_ptr<Operation>& operation) {
    const InHostFunction marked;
    std::unique_lock lock(driver().mutex);
    run(operation, lock);
  }
  void run(const std::shared_ptr<Operation>& operation, std::unique_lock<std::mutex>& lock) {
    const CUresult error = operation->stream->context->sticky;
    lock.unlock();
    const Failure failure = simgpu::driver::run(operation->work, error);
    // What it keeps is the program's, and goes before the end.
    if (is_of_host(operation->work)) operation->work = EmptyWork{};
    lock.lock();
    finish(operation, failure);
  }

  std::shared_ptr<Operation> choose() {
    Waits ready;
    for (const auto& stream : busy_) {
      const auto& head = stream->queue.front();
      if (head->state == Operation::State::waiting && are_done(head->waits)) ready.push_back(head);
    }
    return chooser_.choose(ready);
  }

  void finish(const std::shared_ptr<Operation>& operation, const Failure& failure) {
    const std::shared_ptr<Stream> stream = operation->stream;
    if (failure.code != CUDA_SUCCESS && stream->context->sticky == CUDA_SUCCESS) {
      stream->context->sticky = failure.code;
      publish(failure.text + "  enqueued by " + operation->origin.text() + '\n');
    }
    operation->finished = std::chrono::steady_clock::now();
    operation->state = Operation::State::done;
    operation->waits.clear();
    operation->stream.reset();
    operation->work = EmptyWork{};
    operation->keep.clear();
    stream->queue.pop_front();
    if (stream->queue.empty()) {
      std::erase(busy_, stream);
      if (stream->is_destroyed) std::erase(stream->context->streams, stream);
    }
    driver().changed.notify_all();
  }

  std::thread thread_;
  bool is_running_ = false;  ///< the device thread, an operation
  int pauses_ = 0;           ///< threads that wait for it to run none
  Chooser chooser_;
  std::uint64_t numbers_ = 0;
  std::vector<std::shared_ptr<Stream>> busy_;
};

Engine& engine() {
  static auto& never_destroyed = *new Engine;
  return never_destroyed;
}

}  // namespace

std::shared_ptr<Stream> make_stream(const std::shared_ptr<Context>& context, unsigned flags,
                                    int priority) {
  static unsigned long long ids = 0;
  auto stream = std::make_shared<Stream>();
  stream->context = context;
  stream->flags = flags;
  stream->priority = priority;
  stream->id = ++ids;
  context->streams.push_back(stream);
  return stream;
}

std::shared_ptr<Stream> stream_of(CUstream handle) {
  if (handle != nullptr && handle != CU_STREAM_LEGACY && handle != CU_STREAM_PER_THREAD) {
    auto stream = get<Stream>(handle);
    require_no_error(*stream->context);
    return stream;
  }
  const auto context = current_context();
  const bool is_per_thread = handle == CU_STREAM_PER_THREAD ||
                             (handle == nullptr && Call::current().terms().per_thread_stream);
  if (!is_per_thread) return context->legacy;
  auto& stream = context->per_thread[std::this_thread::get_id()];
  if (!stream) stream = make_stream(context, CU_STREAM_DEFAULT, 0);
  return stream;
}

std::shared_ptr<Operation> enqueue(const std::shared_ptr<Stream>& stream, Work work,
                                   const std::shared_ptr<Operation>& after) {
  // The call may have waited, and the context gone meanwhile.
  require(stream->context->legacy != nullptr, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  auto operation = std::make_shared<Operation>();
  operation->stream = stream;
  operation->origin = Call::current().origin();
  const auto wait_after = [&](const std::shared_ptr<Operation>& earlier) {
    if (earlier && !earlier->is_done()) operation->waits.push_back(earlier);
  };
  operation->waits = pending(*stream);
  if (stream->is_blocking()) wait_after(stream->context->legacy->last);
  wait_after(after);
  if (const auto* wait = std::get_if<WaitWork>(&work)) wait_after(wait->event->operation);
  if (const auto* record = std::get_if<RecordWork>(&work)) record->event->operation = operation;
  operation->work = std::move(work);
  engine().add(operation);
  return operation;
}

std::vector<std::shared_ptr<Operation>> pending(const Stream& stream) {
  Waits waits;
  const auto add = [&](const Stream& one) {
    if (one.last && !one.last->is_done()) waits.push_back(one.last);
  };
  add(stream);
  if (!stream.is_legacy) return waits;
  for (const auto& other : stream.context->streams)
    if (other->is_blocking()) add(*other);
  return waits;
}

void wait_for(const std::vector<std::shared_ptr<Operation>>& operations) {
  driver().changed.wait(Call::current().lock(),
                        [&] { return driver().ended || are_done(operations); });
  require(!driver().ended, CUDA_ERROR_DEINITIALIZED);
}

void synchronise(const std::shared_ptr<Context>& context) {
  Waits waits;
  for (const auto& stream : context->streams)
    if (stream->last) waits.push_back(stream->last);
  wait_for(waits);
}

void quiesce(const std::shared_ptr<Context>& context) {
  synchronise(context);
  engine().pause();
  require(!driver().ended, CUDA_ERROR_DEINITIALIZED);
}

void stop_device() { engine().stop(); }

}  // namespace simgpu::driver
