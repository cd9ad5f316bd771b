#include "runtime/level.h"

#include <fmt/format.h>

#include <atomic>

namespace sinter {
namespace {

std::atomic<Level>& current_level() {
  static std::atomic<Level> level{options().level};
  return level;
}

}  // namespace

Level level() { return current_level().load(std::memory_order_relaxed); }

void set_level(Level level, Where where) {
  if (level > Level::fused)
    usage_error("set_level", fmt::format("there is no level {}", static_cast<int>(level)), where);
  current_level().store(level, std::memory_order_relaxed);
}

}  // namespace sinter
