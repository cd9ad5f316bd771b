#include "runtime/threads.h"

#include <fmt/format.h>

#include "runtime/cpu/pool.h"

namespace sinter {

int threads() { return cpu::threads(); }

void set_threads(int count, Where where) {
  if (count < 1) usage_error("set_threads", fmt::format("{} threads", count), where);
  cpu::set_threads(count);
}

}  // namespace sinter
