#include "runtime/inspection.h"

#include <atomic>
#include <mutex>

#include "runtime/options.h"

namespace sinter {
namespace {

/// Lives until the process ends: threads may evaluate while it does.
class Wanted {
 public:
  Wanted() {
    set({.nan = options().check_nan,
         .shadow = options().shadow,
         .trace_directory = options().trace_directory});
  }

  Inspection get() {
    if (!any_.load(std::memory_order_acquire)) return {};
    const std::lock_guard lock(mutex_);
    return wanted_;
  }
  void set(const Inspection& wanted) {
    const std::lock_guard lock(mutex_);
    wanted_ = wanted;
    any_.store(wanted != Inspection{}, std::memory_order_release);
  }

 private:
  std::atomic<bool> any_{false};
  std::mutex mutex_;
  Inspection wanted_;
};

Wanted& wanted() {
  static auto* const forever = new Wanted;
  return *forever;
}

}  // namespace

Inspection inspection() { return wanted().get(); }

void set_inspection(const Inspection& inspection) { wanted().set(inspection); }

}  // namespace sinter
