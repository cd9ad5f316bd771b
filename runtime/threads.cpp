#include "runtime/threads.h"

#include <fmt/format.h>

#include "runtime/cpu/pool.h"

namespace sinter {

int threads() { return cpu::threads(); }

void set_threads(int count, Where where) {
  if (count < 1 || count > cpu::most_threads)
    usage_error("set_threads",
                fmt::format("the count must be 1 to {}, not {}", cpu::most_threads, count), where);
  cpu::set_threads(count);
}

}  // namespace sinter
