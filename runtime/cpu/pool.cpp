#include "runtime/cpu/pool.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/cpu/probe.h"
#include "runtime/error.h"
#include "runtime/log.h"

namespace sinter::cpu {
namespace {

/// How long a thread looks for the next region before it sleeps. A step's regions follow each other
/// within microseconds; waking a thread takes tens of them.
constexpr auto spin_time = std::chrono::microseconds(50);

thread_local bool in_task = false;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Calls `ready` until it says yes or the time is over; tells which.
template <typename Ready>
bool spin(std::chrono::nanoseconds time, Ready ready) {
  const auto end = std::chrono::steady_clock::now() + time;
  do {
    for (int i = 0; i < 64; ++i) {
      if (ready()) return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

/// The exception of the lowest task that threw.
class Failure {
 public:
  void keep(std::int64_t task) {
    const std::lock_guard lock(mutex_);
    if (exception_ && task_ < task) return;
    exception_ = std::current_exception();
    task_ = task;
  }
  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr exception_;
  std::int64_t task_ = 0;
};

/// One region: its tasks in as many contiguous shares as threads take part. A thread works on its
/// own share first, so that it meets again what it has in its cache, and then on the others'.
struct Tasks {
  struct alignas(64) Share {
    std::atomic<std::int64_t> next{0};
    std::int64_t end = 0;
  };

  explicit Tasks(int threads) : shares(static_cast<std::size_t>(threads)) {}

  void reset(std::int64_t tasks, const TaskBody& task_body, Failure& task_failure) {
    const int count = static_cast<int>(std::min(tasks, static_cast<std::int64_t>(shares.size())));
    const std::int64_t each = tasks / count, left = tasks % count;
    std::int64_t begin = 0;
    for (int i = 0; i < count; ++i) {
      Share& share = shares[static_cast<std::size_t>(i)];
      share.next.store(begin, std::memory_order_relaxed);
      share.end = begin += each + (i < left ? 1 : 0);
    }
    participants.store(count, std::memory_order_relaxed);
    body = &task_body;
    failure = &task_failure;
  }

  void take_tasks(int self) {
    const FloatEnvironment environment;
    const int count = participants.load(std::memory_order_relaxed);
    in_task = true;
    for (int i = 0; i < count; ++i) {
      Share& share = shares[static_cast<std::size_t>((self + i) % count)];
      while (share.next.load(std::memory_order_relaxed) < share.end) {
        const std::int64_t task = share.next.fetch_add(1, std::memory_order_relaxed);
        if (task < share.end) call(task);
      }
    }
    in_task = false;
  }

  void call(std::int64_t task) {
    try {
      (*body)(task);
    } catch (...) {
      failure->keep(task);
    }
  }

  std::vector<Share> shares;
  std::atomic<int> participants{0};
  const TaskBody* body = nullptr;
  Failure* failure = nullptr;
};

/// The word all threads watch: whether a region is open, its number modulo 2^15, and how many
/// workers are inside. A worker enters by adding one while the region is open, so the caller need
/// wait only for those that came in time, never for one that still sleeps.
constexpr std::uint32_t open_bit = 0x8000'0000u, number_mask = 0x7fff'0000u,
                        number_one = 0x0001'0000u, inside_mask = 0x0000'ffffu;

class Pool {
 public:
  explicit Pool(int threads) : region_(threads) {
    sigset_t all, before;
    sigfillset(&all);  // signals are for the program's own threads
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      for (int i = 1; i < threads; ++i) workers_.emplace_back([this, i] { work(i); });
    } catch (const std::system_error&) {
      warn("cpu pool threads", "the system gives no more threads; kernels run on fewer");
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  ~Pool() {
    stopping_.store(true);
    state_.store(next_number());  // a value that no sleeper has gone to sleep on
    state_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  int threads() const { return static_cast<int>(region_.shares.size()); }

  void run(std::int64_t tasks, TaskBody body) {
    Failure failure;
    region_.reset(tasks, body, failure);
    state_.store(open_bit | next_number());
    if (sleeping_.load() > 0) state_.notify_all();
    region_.take_tasks(0);
    state_.fetch_and(~open_bit);
    wait_for_workers();
    failure.rethrow();
  }

 private:
  bool empty() const { return (state_.load(std::memory_order_acquire) & inside_mask) == 0; }

  std::uint32_t next_number() const {
    return (state_.load(std::memory_order_relaxed) + number_one) & number_mask;
  }

  void wait_for_workers() {
    if (spin(spin_time_, [this] { return empty(); })) return;
    caller_sleeps_.store(true);
    for (std::uint32_t state = state_.load(); (state & inside_mask) != 0; state = state_.load())
      state_.wait(state);
    caller_sleeps_.store(false);
  }

  void work(int self) {
    pthread_setname_np(pthread_self(), "sinter");
    std::uint32_t seen = 0;
    while (wait_for_region(seen)) {
      std::uint32_t state = state_.load();
      if ((state & open_bit) == 0 || (state & number_mask) == seen) continue;
      if (self >= region_.participants.load(std::memory_order_relaxed)) {
        seen = state & number_mask;  // fewer tasks than threads: leave them to the others
        continue;
      }
      if (!state_.compare_exchange_strong(state, state + 1)) continue;
      seen = state & number_mask;
      region_.take_tasks(self);
      const std::uint32_t left = state_.fetch_sub(1) - 1;
      if ((left & (open_bit | inside_mask)) == 0 && caller_sleeps_.load()) state_.notify_all();
    }
  }

  /// Returns when there may be a region other than `seen` to enter; false when the pool ends.
  bool wait_for_region(std::uint32_t seen) {
    const auto awaited = [&](std::uint32_t state) {
      return stopping_.load(std::memory_order_relaxed) ||
             ((state & open_bit) != 0 && (state & number_mask) != seen);
    };
    if (!spin(spin_time_, [&] { return awaited(state_.load(std::memory_order_acquire)); })) {
      sleeping_.fetch_add(1);
      for (std::uint32_t state = state_.load(); !awaited(state); state = state_.load())
        state_.wait(state);
      sleeping_.fetch_sub(1);
    }
    return !stopping_.load();
  }

  Tasks region_;
  /// Spinning threads would take the cores from those that work where there are not enough.
  std::chrono::nanoseconds spin_time_ = threads() > processor().usable_cores
                                            ? std::chrono::nanoseconds(0)
                                            : std::chrono::nanoseconds(spin_time);
  alignas(64) std::atomic<std::uint32_t> state_{0};
  alignas(64) std::atomic<int> sleeping_{0};
  std::atomic<bool> caller_sleeps_{false}, stopping_{false};
  std::vector<std::thread> workers_;
};

/// The pool and the lock of who uses it. Never destroyed, as destructors of static objects may
/// still call kernels; a forked child, which has none of the threads, takes a new one.
struct PoolState {
  std::mutex mutex;
  Pool* pool = nullptr;
  int wanted = 0;  ///< 0 for default_threads()
  bool exiting = false;
  PoolState* of_parent = nullptr;  ///< before a fork; its threads, and what they hold, are gone
};

std::atomic<PoolState*> pool_state{nullptr};
thread_local bool locked_for_fork = false;

/// Joins the workers before the program's memory goes away, if nobody uses them.
struct JoinAtExit {
  ~JoinAtExit() {
    PoolState& state = *pool_state.load();
    if (in_task || !state.mutex.try_lock()) return;
    state.exiting = true;
    delete state.pool;
    state.pool = nullptr;
    state.mutex.unlock();
  }
};

void before_fork() {
  locked_for_fork = !in_task;
  if (locked_for_fork) pool_state.load()->mutex.lock();
}

void after_fork_in_parent() {
  if (locked_for_fork) pool_state.load()->mutex.unlock();
}

void after_fork_in_child() {
  auto* fresh = new PoolState;
  fresh->of_parent = pool_state.load();
  if (locked_for_fork) fresh->of_parent->mutex.unlock();
  fresh->wanted = fresh->of_parent->wanted;
  pool_state.store(fresh);
}

PoolState& state() {
  static const bool made = [] {
    pool_state.store(new PoolState);
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    return true;
  }();
  static const JoinAtExit join_at_exit;
  (void)made;
  return *pool_state.load(std::memory_order_acquire);
}

int wanted_threads(const PoolState& pool) {
  return pool.wanted == 0 ? default_threads() : pool.wanted;
}

void run_alone(std::int64_t tasks, TaskBody body) {
  Failure failure;
  {
    const FloatEnvironment environment;
    const bool outer = std::exchange(in_task, true);
    for (std::int64_t task = 0; task < tasks; ++task) {
      try {
        body(task);
      } catch (...) {
        failure.keep(task);
      }
    }
    in_task = outer;
  }
  failure.rethrow();
}

}  // namespace

void parallel_for(std::int64_t tasks, TaskBody body) {
  if (tasks <= 0) return;
  if (tasks == 1 || in_task) return run_alone(tasks, body);
  PoolState& shared = state();
  const std::unique_lock lock(shared.mutex, std::try_to_lock);
  if (!lock.owns_lock() || shared.exiting) return run_alone(tasks, body);
  const int count = wanted_threads(shared);
  if (count == 1) return run_alone(tasks, body);
  if (shared.pool == nullptr) shared.pool = new Pool(count);
  shared.pool->run(tasks, body);
}

int threads() {
  PoolState& shared = state();
  const std::lock_guard lock(shared.mutex);
  return wanted_threads(shared);
}

void set_threads(int count) {
  if (count < 1 || count > most_threads)
    throw UsageError("set_threads: the count must be 1 to " + std::to_string(most_threads));
  if (in_task) throw UsageError("set_threads: not from inside a task");
  PoolState& shared = state();
  const std::lock_guard lock(shared.mutex);
  if (shared.pool != nullptr && shared.pool->threads() != count) {
    delete shared.pool;
    shared.pool = nullptr;
  }
  shared.wanted = count;
}

}  // namespace sinter::cpu
