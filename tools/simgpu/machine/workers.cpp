#include "tools/simgpu/machine/workers.h"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "tools/simgpu/machine/settings.h"

namespace simgpu {
namespace {

class Workers {
 public:
  Workers() {
    for (int worker = 1; worker < workers(); ++worker)
      threads_.emplace_back([this, worker] { serve(worker); });
  }
  void run(int count, const std::function<void(int)>& work) {
    const std::lock_guard turn(turn_);
    {
      const std::lock_guard lock(mutex_);
      work_ = &work;
      count_ = count;
      busy_ = count - 1;
      ++job_;
    }
    begun_.notify_all();
    work(0);
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return busy_ == 0; });
  }

 private:
  void serve(int worker) {
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    while (true) {
      begun_.wait(lock, [&] { return job_ != seen; });
      seen = job_;
      if (worker >= count_) continue;
      const std::function<void(int)>& work = *work_;
      lock.unlock();
      work(worker);
      lock.lock();
      if (--busy_ == 0) done_.notify_all();
    }
  }

  std::mutex turn_, mutex_;
  std::condition_variable begun_, done_;
  std::vector<std::thread> threads_;
  const std::function<void(int)>* work_ = nullptr;
  int count_ = 0, busy_ = 0;
  std::uint64_t job_ = 0;
};

}  // namespace

int workers() {
  if (settings().threads != 0) return settings().threads;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void run_on_workers(int count, const std::function<void(int)>& work) {
  if (count <= 1) return work(0);
  // Never destroyed: a launch may outlive main, and a forked process has no threads to wait for.
  static Workers& all = *new Workers;
  all.run(count, work);
}

}  // namespace simgpu
