/// \file
/// The threads that kernels run on.
///
/// A kernel cuts its work into tasks by shape alone and gives them to parallel_for; which thread
/// runs a task is not determined and must not matter to the result. The pool is one for the whole
/// process. Its threads spin for a moment after each region, so that regions in quick succession
/// start within a fraction of a microsecond, and then sleep.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace sinter::cpu {

/// A reference to a callable `void(std::int64_t task)`; valid while the callable lives.
class TaskBody {
 public:
  template <typename Body>
  requires(!std::is_same_v<std::remove_cvref_t<Body>, TaskBody>) TaskBody(Body&& body)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(body)))),
        call_([](void* object, std::int64_t task) {
          (*static_cast<std::remove_reference_t<Body>*>(object))(task);
        }) {}

  void operator()(std::int64_t task) const { call_(object_, task); }

 private:
  void* object_;
  void (*call_)(void*, std::int64_t);
};

/// Calls body(0) to body(tasks - 1), each once, on the calling thread and the pool's, and returns
/// when all have returned. Each call runs in a FloatEnvironment.
///
/// Runs on the calling thread alone when called from inside a task, or while another thread's
/// region has the pool. Where tasks throw, the rest run all the same and the exception of the
/// lowest task is thrown here. Forking is allowed everywhere but inside a task.
void parallel_for(std::int64_t tasks, TaskBody body);

/// Threads that a region uses, the caller's included: default_threads() unless set.
int threads();

/// No more threads than these may be asked for.
inline constexpr int most_threads = 1024;

/// Changes the number of threads, from 1 to most_threads; waits for a running region to end.
void set_threads(int count);

/// While alive, this thread rounds to nearest, keeps denormals and raises no floating-point traps,
/// whatever mode the program has set; then the program's mode and flags are restored.
class FloatEnvironment {
 public:
  FloatEnvironment();
  ~FloatEnvironment();
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
  unsigned saved_;
};

}  // namespace sinter::cpu
